"""Direct forms of views and of what puts Tensors together: only places change, so that most take any type and size."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ...core.direct import Avals, Direct, Form, small


def _reshaped(mask: tuple[bool, ...], avals: Avals) -> Form:
    shape = avals[0][0]
    return Form(lambda x, g: (g.reshape(shape),), False, (False,))


def unsqueezed(dim: int) -> Direct:
    """Of a view with a dimension more."""
    return Direct(lambda avals: Form(lambda x: (np.expand_dims(x, dim),)), _reshaped)


def squeezed(dims: tuple[int, ...]) -> Direct:
    """Of a view with fewer dimensions."""
    return Direct(lambda avals: Form(lambda x: (np.squeeze(x, dims),)), _reshaped)


def parts(dim: int, parts: tuple[tuple[int, int], ...], drop: bool) -> Direct:
    """Of several windows ``(start, length)`` along a dimension; ``drop`` leaves it out."""
    before = (slice(None),) * dim
    indices = [(*before, start if drop else slice(start, start + length)) for start, length in parts]
    # The ellipsis keeps what has no dimensions left an array.
    return Direct(lambda avals: Form(lambda x: tuple([x[(*index, ...)] for index in indices]), False))


def joined(dim: int) -> Direct:
    """Of arrays one after another."""

    def forward(avals: Avals) -> Form | None:
        return Form(lambda *xs: (np.concatenate(xs, dim),)) if small(avals) else None

    def backward(mask: tuple[bool, ...], avals: Avals) -> Form | None:
        if not small(avals):
            return None
        ends = itertools.accumulate([shape[dim] for shape, _ in avals])
        before = (slice(None),) * dim
        wanted = [
            (*before, slice(end - shape[dim], end)) for end, (shape, _), marked in zip(ends, avals, mask, strict=True) if marked
        ]

        def run(*args: Any) -> tuple:
            g = args[-1]
            return tuple([g[index] for index in wanted])

        return Form(run, False, (False,) * len(mask))

    return Direct(forward, backward)
