"""Categories by their weights, as ``torch.multinomial`` draws them."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from ..errors import OpError
from .rounding import FLOATS

if TYPE_CHECKING:
    from .mersenne import MersenneTwister

MOST_CATEGORIES = 2**24


def multinomial(source: MersenneTwister, weights: np.ndarray, n: int, replacement: bool, by_columns: bool = False) -> np.ndarray:
    """``n`` categories of each row with chances proportional to ``weights``.

    With replacement by inversion of the cumulated weights; without, or for a single draw, the greatest of
    w / e, e exponential of rate one (the Gumbel trick). Of equal w / e, which half types often have, the
    first comes first here; in PyTorch they come as its sorting leaves them.

    Args:
        weights: (categories,) or (rows, categories), floating, at least zero.
        by_columns: whether PyTorch's weights lie in memory column after column; exponentials are drawn in that order.

    Returns:
        int64 (n,) or (rows, n).

    Raises:
        RuntimeError: ``weights`` of another rank or dtype, negative, not finite or all zero in a row; n < 1;
            without replacement, fewer positive weights than ``n`` in a row (PyTorch returns ones of weight
            zero then).
    """
    _check_multinomial(weights, n, replacement)
    shape = (*weights.shape[:-1], n)
    if 0 in shape:
        return np.empty(shape, np.int64)
    if replacement and n > 1:
        return _by_inversion(source, weights, shape)
    scores = (
        source.exponential(weights.T.shape, weights.dtype).T if by_columns else source.exponential(weights.shape, weights.dtype)
    )
    with np.errstate(divide="ignore", over="ignore"):
        scores = (weights / scores).astype(weights.dtype, copy=False)
    if n == 1:
        return np.argmax(scores, axis=-1)[..., None].astype(np.int64)
    return np.argsort(-scores, axis=-1, kind="stable")[..., :n].astype(np.int64)


def _check_multinomial(weights: np.ndarray, n: int, replacement: bool) -> None:
    if weights.ndim not in (1, 2):
        raise OpError(f"multinomial: prob_dist must be 1 or 2 dim, got {list(weights.shape)}")
    if weights.dtype not in FLOATS:
        raise OpError(f"multinomial only supports floating-point dtypes for input, got: {weights.dtype}")
    if n < 1:
        raise OpError(f"multinomial: cannot sample n_sample <= 0 samples, got {n}")
    categories = weights.shape[-1]
    if not replacement and n > categories:
        raise OpError(
            f"multinomial: cannot sample n_sample > prob_dist.size(-1) samples without replacement, got {n} > {categories}"
        )
    if categories > MOST_CATEGORIES:
        raise OpError(f"multinomial: number of categories cannot exceed 2^24, got {categories}")
    if not len(weights):
        return
    if not bool(np.all(weights >= 0)) or not bool(np.all(np.isfinite(weights))):
        raise OpError("multinomial: probability tensor contains either `inf`, `nan` or element < 0")
    positive = np.count_nonzero(weights > 0, axis=-1)
    if np.any(positive == 0):
        raise OpError("invalid multinomial distribution (sum of probabilities <= 0)")
    if not replacement and np.any(positive < n):
        raise OpError(
            f"invalid multinomial distribution (without replacement, {n} draws from {int(np.min(positive))} "
            "categories of positive weight)"
        )


def _by_inversion(source: MersenneTwister, weights: np.ndarray, shape: tuple[int, ...]) -> np.ndarray:
    kind = np.float64 if weights.dtype == np.float64 else np.float32
    rows = weights.reshape(-1, weights.shape[-1]).astype(kind, copy=False)
    cumulated = np.cumsum(rows, axis=1, dtype=kind)
    cumulated = np.divide(cumulated, cumulated[:, -1:])
    cumulated[:, -1] = 1
    u = source.doubles(math.prod(shape)).reshape(len(rows), -1)
    if len(rows) == 1:
        return np.searchsorted(cumulated[0].astype(np.float64), u[0]).reshape(shape)
    low, high = np.zeros(u.shape, np.int64), np.full(u.shape, rows.shape[1])
    for _ in range(rows.shape[1].bit_length()):
        middle = (low + high) >> 1
        reached = np.take_along_axis(cumulated, np.minimum(middle, rows.shape[1] - 1), 1) >= u
        open_ = low < high
        high = np.where(open_ & reached, middle, high)
        low = np.where(open_ & ~reached, middle + 1, low)
    return low.reshape(shape)
