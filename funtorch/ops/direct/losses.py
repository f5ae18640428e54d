"""Direct forms of the cross entropy of logits (N, C) with classes (N)."""

from __future__ import annotations

from typing import Any

import numpy as np

from ...core.direct import Avals, Direct, Form, small


def cross_entropy(present: tuple, ignore_index: int, label_smoothing: float, reduction: str) -> Direct | None:
    """Of the unweighted mean, which most programs take."""
    if len([count for count in present if count is None]) != 2 or label_smoothing or reduction != "mean":
        return None

    def fits(avals: Avals) -> bool:
        (x, _), (y, kind) = avals
        return small(avals[:1]) and len(x) == 2 and x[1] > 0 and y == x[:1] and kind == np.int64

    def exponentials(x: Any) -> tuple:
        shifted = x - np.maximum.reduce(x, 1, keepdims=True)
        exps = np.exp(shifted)
        return shifted, exps, np.add.reduce(exps, 1, keepdims=True)

    def forward(avals: Avals) -> Form | None:
        if not fits(avals):
            return None
        rows, dtype = np.arange(avals[0][0][0]), avals[0][1]

        def run(x: Any, y: Any) -> tuple:
            shifted, _, sums = exponentials(x)
            kept = y != ignore_index
            count = np.count_nonzero(kept)
            log_likelihoods = shifted[rows, y if count == y.size else np.where(kept, y, 0)]
            log_likelihoods -= np.log(sums[:, 0])
            if count < y.size:
                log_likelihoods = np.where(kept, log_likelihoods, 0)
            return (np.asarray(-(np.add.reduce(log_likelihoods) / dtype.type(count)), dtype),)

        return Form(run)

    def backward(mask: tuple[bool, ...], avals: Avals) -> Form | None:
        if not fits(avals):
            return None
        rows, dtype = np.arange(avals[0][0][0]), avals[0][1]

        def run(x: Any, y: Any, g: Any) -> tuple:
            _, exps, sums = exponentials(x)
            kept = y != ignore_index
            count = np.count_nonzero(kept)
            exps /= sums
            exps[rows, y if count == y.size else np.where(kept, y, 0)] -= 1
            scale = g / dtype.type(count)
            # What doesn't count has the factor 0, which leaves NaN as it is.
            exps *= scale if count == y.size else np.where(kept, scale, dtype.type(0))[:, None]
            return (exps,)

        return Form(run, False, (True, True))

    return Direct(forward, backward)
