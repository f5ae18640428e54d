"""Sums and products of float16 and bfloat16, rounded at the steps at which XLA rounds them.

What asks for more precision says so in its jaxpr (``jax.numpy.sum`` widens its input); these are the reductions that
don't, as in the gradient of a broadcast.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

WINDOW = 32  # axes longer than this XLA reduces window by window first


def in_order(ufunc: np.ufunc, x: np.ndarray, axis: int) -> np.ndarray:
    """One element after another."""
    return ufunc.accumulate(x, axis, x.dtype)[(slice(None),) * axis + (-1,)]


def tree(ufunc: np.ufunc, axes: tuple[int, ...], shape: tuple[int, ...], neutral: np.ndarray) -> Callable:
    """Reduces ``axes`` of arrays of ``shape``."""
    rest = [a for a in range(len(shape)) if a not in axes]
    if all(shape[a] <= WINDOW for a in axes):
        order, flat = (*axes, *rest), (-1, *(shape[a] for a in rest))
        return lambda x: in_order(ufunc, x.transpose(order).reshape(flat), 0)
    sizes = [min(n, WINDOW) if a in axes else 1 for a, n in enumerate(shape)]
    counts = [-(-n // w) for n, w in zip(shape, sizes, strict=True)]
    lows = [(m * w - n) // 2 for m, w, n in zip(counts, sizes, shape, strict=True)]
    inside = tuple(slice(low, low + n) for low, n in zip(lows, shape, strict=True))
    full = [m * w for m, w in zip(counts, sizes, strict=True)]
    split = [n for pair in zip(counts, sizes, strict=True) for n in pair]
    order = (*range(0, 2 * len(shape), 2), *range(1, 2 * len(shape), 2))
    flat = (*counts, prod(sizes))
    further = tree(ufunc, axes, tuple(counts), neutral)

    def run(x):
        padded = np.full(full, neutral, x.dtype)
        padded[inside] = x
        windows = padded.reshape(split).transpose(order).reshape(flat)
        return further(in_order(ufunc, windows, len(counts)))

    return run
