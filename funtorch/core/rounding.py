"""Arithmetic to the last bit of PyTorch's CPU loops: fused multiply-adds, C's functions, casts."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import ml_dtypes
import numpy as np

HALVES: frozenset[np.dtype] = frozenset((np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)))
# Membership is asked of dtypes themselves: NumPy makes up a dtype's name anew at each look.
FLOATS: frozenset[np.dtype] = HALVES | {np.dtype(np.float32), np.dtype(np.float64)}
ONE_BY_ONE = 2**14
SPLIT = 2.0**27 + 1


def fused(x: np.ndarray, a: Any, b: Any) -> np.ndarray:
    """x a + b, rounded once, in the dtype of ``x`` (float32 or float64)."""
    a, b = x.dtype.type(a), x.dtype.type(b)
    if a == 1:
        return x if b == 0 else x + b
    if b == 0:
        return x * a
    if x.dtype == np.float32:
        return (x.astype(np.float64) * np.float64(a) + np.float64(b)).astype(np.float32)
    product, low = _two_product(x, a)
    total = product + b
    part = total - product
    # The error of a sum of two is itself a double (Knuth's TwoSum).
    return total + (((product - (total - part)) + (b - part)) + low)


def _two_product(x: np.ndarray, a: np.float64) -> tuple[np.ndarray, np.ndarray]:
    """x a as an unevaluated sum of two doubles (Dekker 1971)."""
    x_high, a_high = _high(x), _high(a)
    x_low, a_low = x - x_high, a - a_high
    product = x * a
    return product, ((x_high * a_high - product) + x_high * a_low + x_low * a_high) + x_low * a_low


def _high(x: Any) -> Any:
    scaled = x * SPLIT
    return scaled - (scaled - x)


def narrow(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Cast as PyTorch does: half types are reached from float32, so that a double is rounded twice."""
    if values.dtype == dtype:
        return values
    with np.errstate(over="ignore", invalid="ignore"):
        if dtype in HALVES and values.dtype.itemsize > 4:
            values = values.astype(np.float32)
        return values.astype(dtype, copy=False)


def _exactly(name: str) -> Callable[[np.ndarray], np.ndarray]:
    scalar, vector = getattr(math, name), getattr(np, name)

    def function(x: np.ndarray) -> np.ndarray:
        try:
            return np.fromiter(map(scalar, x.ravel().tolist()), np.float64, x.size).reshape(x.shape)
        except (ValueError, OverflowError):
            # Python raises where C returns an infinity.
            with np.errstate(all="ignore"):
                return vector(x)

    return function


C_LIBRARY = SimpleNamespace(**{name: _exactly(name) for name in ("exp", "log", "log1p", "sin", "cos", "tan")})


def functions(n: int) -> Any:
    """Where to take log, sin, ... of ``n`` doubles from: the C library, or for many of them NumPy.

    PyTorch calls the C library. NumPy's vector code is some five times as fast as calls of it from here, and
    differs from it in the last bit now and then.
    """
    return C_LIBRARY if n <= ONE_BY_ONE else np
