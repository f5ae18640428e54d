"""Whole numbers as ``random_`` and ``randint`` bound them: remainders of a word, or of two from 2**28 on."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable

import ml_dtypes
import numpy as np

from ..cautions import caution
from ..errors import MissingError, OpError
from .mersenne_state import MersenneState
from .rounding import narrow

Draw = Callable[[MersenneState, int], np.ndarray]
# Every whole number up to 2**digits is a value of the type.
DIGITS = {"float64": 53, "float32": 24, "float16": 11, "bfloat16": 8}
INT64 = np.iinfo(np.int64)
WITHOUT_BOUNDS = {"bool", "uint8", "int8", "int16", "int32", "int64", *DIGITS}
ALL_64_BITS = {"int64", "float64", "float32", "bfloat16"}


def plan(dtype: np.dtype, low: int | None, high: int | None) -> Draw:
    """Check the bounds and choose how to draw. Raises as :meth:`MersenneTwister.random` says."""
    draw, remarks = _planned(dtype, low, high)
    for remark in remarks:
        caution(remark)
    return draw


@functools.lru_cache(maxsize=256)
def _planned(dtype: np.dtype, low: int | None, high: int | None) -> tuple[Draw, list[str]]:
    if low is None and high is None:
        return _without_bounds(dtype), []
    low = 0 if low is None else int(low)
    if high is None and low == INT64.min:
        if dtype.name not in ALL_64_BITS:
            raise OpError(f"random_ of all 64 bits handles only int64, double, float and bfloat16, got {dtype}")
        return lambda source, n: narrow(source.words64(n).view(np.int64), dtype), []
    if dtype.name not in DIGITS and dtype.kind not in "biu":
        raise OpError(f"random_ handles only integral, floating-point and boolean types, got {dtype}")
    if high is None:
        low, last = _moved_up(dtype, low), _last(dtype)
        if low > last or (low == last and dtype.name in DIGITS):
            raise OpError(f"random_ expects 'from' to be below the greatest of {dtype}, but got from={low}")
    else:
        if low >= high:
            raise OpError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={high}")
        low, last = _moved_up(dtype, low), _moved_down(dtype, int(high)) - 1
        if low > last:
            raise OpError(
                f"random_ expects 'from' casted to dtype to be less than 'to' casted to dtype, "
                f"but got from={low} >= to={last + 1}"
            )
    remarks = _check_range(dtype, low, last)
    return _between(dtype, low, last - low + 1), remarks


@functools.lru_cache(maxsize=256)
def check_counts(dtype: np.dtype, n: int) -> None:
    """``randperm``'s check that ``dtype`` holds 0 ... n - 1. Raises RuntimeError, NotImplementedError."""
    if dtype.name not in WITHOUT_BOUNDS - {"bool"}:
        raise MissingError(f'"randperm" not implemented for {dtype}')
    if dtype.name == "bfloat16":
        return  # PyTorch has no limit there
    if dtype.name in DIGITS:
        most = 2 ** DIGITS[dtype.name] + 1
        if n > most:
            raise OpError(f"randperm: n cannot be greater than {most} for {dtype} type, got n={n}")
    elif n - 1 > np.iinfo(dtype).max:
        raise OpError(f"randperm: n={n} cannot be converted to type {dtype} without overflow")


def _without_bounds(dtype: np.dtype) -> Draw:
    """From 0 to the greatest value of an integer type, or to 2**digits of a floating one."""
    if dtype.name not in WITHOUT_BOUNDS:
        raise MissingError(f'"random_kernel_cpu" not implemented for {dtype}')
    size = np.uint64(_last(dtype) + 1)
    if dtype.name in ("int64", "float64"):
        return lambda source, n: narrow((source.words64(n) % size).view(np.int64), dtype)
    return lambda source, n: narrow((source.words(n) % size).view(np.int64), dtype)


def _between(dtype: np.dtype, low: int, size: int) -> Draw:
    def draw(source: MersenneState, n: int) -> np.ndarray:
        if size < 2**28:
            values = (source.words(n) % divisor).astype(np.int64)
        else:
            values = (source.words64(n) % divisor).view(np.int64)
        return narrow(np.add(values, start, values), dtype)

    divisor = np.array(size, np.uint32 if size < 2**28 else np.uint64)
    start = np.array(low, np.int64)
    return draw


def _last(dtype: np.dtype) -> int:
    if dtype.name in DIGITS:
        return 2 ** DIGITS[dtype.name]
    return 1 if dtype.kind == "b" else min(int(np.iinfo(dtype).max), INT64.max)


def _rounded(dtype: np.dtype, value: int) -> int | None:
    """``value`` as ``dtype`` holds it; None where it overflows."""
    with np.errstate(over="ignore"):
        held = float(narrow(np.array(value, np.float64), dtype))
    return int(held) if math.isfinite(held) else None


def _moved_up(dtype: np.dtype, low: int) -> int:
    """The least whole number that a floating ``dtype`` doesn't round to below ``low``."""
    after = _rounded(dtype, low + 1) if dtype.name in DIGITS else None
    if after is None or after >= low:
        return low
    return after + 2 ** max(abs(low + 1).bit_length() - DIGITS[dtype.name], 0)


def _moved_down(dtype: np.dtype, high: int) -> int:
    """The greatest bound such that a floating ``dtype`` rounds nothing under it to ``high`` or more."""
    before = _rounded(dtype, high - 1) if dtype.name in DIGITS else None
    if before is None or before < high:
        return high
    return before - 2 ** max(abs(high - 1).bit_length() - DIGITS[dtype.name], 0)


def _check_range(dtype: np.dtype, low: int, last: int) -> list[str]:
    """What to say of bounds that ``dtype`` holds, but not with all whole numbers up to them. Raises RuntimeError for others."""
    if dtype.name in DIGITS:
        greatest = float(ml_dtypes.finfo(dtype).max)
        least, exact = -greatest, 2 ** DIGITS[dtype.name]
    else:
        info = None if dtype.kind == "b" else np.iinfo(dtype)
        least, greatest = (0, 1) if info is None else (int(info.min), int(info.max))
        exact = None
    remarks = []
    for name, value in (("from", low), ("to - 1", last)):
        if not least <= value <= greatest:
            raise OpError(f"random_: {name}={value} is out of bounds for {dtype}")
        if exact is not None and abs(value) > exact:
            remarks.append(
                f"random_: {name}={value} is outside [-{exact}, {exact}], and {dtype} holds only some of the whole numbers out there"
            )
    return remarks
