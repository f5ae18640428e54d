"""Uniform numbers on [low, high), with the one rounding of PyTorch's fused multiply-add ``low + u (high - low)``.

u is a whole number k of 24 bits (53 in double precision) over 2^24 (2^53). Where low is 0 or -high the sum is a multiple of k, or of
k less its middle, so that one product in the result's own precision rounds it as the fused step does.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import ml_dtypes
import numpy as np

from ..errors import MissingError, OpError
from .rounding import fused

SINGLE, DOUBLE = np.dtype(np.float32), np.dtype(np.float64)
GREATEST = {
    kind: float(ml_dtypes.finfo(kind).max) for kind in (SINGLE, DOUBLE, np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))
}
DIGITS = {SINGLE: 24, DOUBLE: 53}
WHOLE = {SINGLE: np.int32, DOUBLE: np.int64}
Law = Callable[[np.ndarray, np.ndarray], None]


@functools.lru_cache(maxsize=256)
def law(dtype: np.dtype, low: float, high: float) -> tuple[np.dtype, Law]:
    """The precision (float32 or float64) whose bits are drawn, and ``fill(bits, out)``; the bits may be changed.

    Raises:
        NotImplementedError: ``dtype`` is not floating.
        RuntimeError: low > high, or a bound or their distance is more than ``dtype`` holds.
    """
    _check(dtype, low, high)
    kind = DOUBLE if dtype == DOUBLE else SINGLE
    fill = _scaled(kind, low, high) or _moved(kind, low, high)
    return kind, fill if dtype == kind else _rounded(fill, kind, dtype, low, high)


def _scaled(kind: np.dtype, low: float, high: float) -> Law | None:
    """k s, or (k - middle) s where low = -high; None for other bounds, and where s is no normal number."""
    unit = 2.0 ** DIGITS[kind]
    middle = unit / 2 if low == -high else 0
    if (low and not middle) or not abs(high) > unit * float(np.finfo(kind).tiny):
        return None
    shift, scale = np.array(middle, WHOLE[kind]), np.array(kind.type(high) / kind.type(middle or unit))

    def fill(bits: np.ndarray, out: np.ndarray) -> None:
        if middle:
            np.subtract(bits, shift, bits)
        np.copyto(out, bits, casting="unsafe")
        np.multiply(out, scale, out)

    return fill


def _moved(kind: np.dtype, low: float, high: float) -> Law:
    """k s + low, without ``high`` where rounding reaches that: it's not part of the range."""
    start, end = kind.type(low), kind.type(high)
    unit, width = 2.0 ** -DIGITS[kind], end - start

    def fill(bits: np.ndarray, out: np.ndarray) -> None:
        if kind == DOUBLE:
            out[:] = fused(bits * unit, width, start)
        else:  # twice as many digits hold each product
            np.add(bits * (float(width) * unit), float(start), out, casting="same_kind")
        if reached:
            out[out == end] = start

    reached, last = False, np.empty(1, kind)
    fill(np.array([2 ** DIGITS[kind] - 1], WHOLE[kind]), last)
    reached = bool(last[0] == end)
    return fill


def _rounded(fill: Law, kind: np.dtype, dtype: np.dtype, low: float, high: float) -> Law:
    def narrower(bits: np.ndarray, out: np.ndarray) -> None:
        values = np.empty(out.shape, kind)
        fill(bits, values)
        out[:] = values
        out[out == dtype.type(high)] = dtype.type(low)

    return narrower


def _check(dtype: np.dtype, low: float, high: float) -> None:
    greatest = GREATEST.get(dtype)
    if greatest is None:
        raise MissingError(f'"check_uniform_bounds" not implemented for {dtype}')
    for name, bound in (("from", low), ("to", high)):
        if not -greatest <= bound <= greatest:
            raise OpError(f"uniform_: {name}={bound} is out of bounds for {dtype}")
    if low > high:
        raise OpError(f"uniform_ expects to return a [from, to) range, but found from={low} > to={high}")
    if high - low > greatest:
        raise OpError(
            f"uniform_ expects to-from <= {greatest} for {dtype}, but found to={high} and from={low} "
            "which result in to-from to exceed the limit"
        )
