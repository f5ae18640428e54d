"""Changes of dtype.

NumPy leaves floats out of an integer's range undefined; XLA saturates them, and maps NaN to 0.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .table import Equation, Inline, is_float, is_narrow_float, rule


@rule("convert_element_type", elementwise=True)
def convert(eqn: Equation) -> Callable | Inline:
    source, target = np.dtype(eqn.inputs[0].dtype), np.dtype(eqn.dtype)
    if target.kind == "b":
        return lambda x: np.not_equal(x, np.zeros((), source))
    if is_float(source) and target.kind in "iu":
        return saturating(source, target)
    if source.kind == "c" and target.kind != "c":
        return lambda x: x.real.astype(target)
    return Inline("{0}.astype({k[0]})", target)


def saturating(source: np.dtype, target: np.dtype) -> Callable:
    """Float to integer as XLA converts: rounded towards 0, clamped to the range, NaN to 0."""
    bounds = np.iinfo(target)
    wide = np.dtype(np.float32) if is_narrow_float(source) else source
    low, beyond = wide.type(bounds.min), wide.type(2.0 ** (bounds.bits - (target.kind == "i")))

    def run(x):
        x = x.astype(wide, copy=False)
        if x.size == 0 or (np.minimum.reduce(x, axis=None) >= low and np.maximum.reduce(x, axis=None) < beyond):
            return x.astype(target)
        inside = np.greater_equal(x, low) & np.less(x, beyond)
        result = np.where(inside, x, wide.type(0)).astype(target)
        result = np.where(np.less(x, low), target.type(bounds.min), result)
        return np.where(np.greater_equal(x, beyond), target.type(bounds.max), result)

    return run


@rule("reduce_precision", elementwise=True)
def reduce_precision(eqn: Equation) -> Callable | None:
    dtype = np.dtype(eqn.dtype)
    exponent, mantissa = int(eqn.params["exponent_bits"]), int(eqn.params["mantissa_bits"])
    if dtype == np.float32 and exponent == 8 and mantissa < 23:
        return lambda x: _rounded(x, mantissa)
    own = {"float64": (11, 52), "float32": (8, 23), "float16": (5, 10), "bfloat16": (8, 7)}.get(dtype.name)
    return (lambda x: x) if own == (exponent, mantissa) else None


def _rounded(x, mantissa: int):
    """float32 with ``mantissa`` bits kept, ties to even."""
    bits, drop = np.asarray(x).view(np.uint32), 23 - mantissa
    odd = np.bitwise_and(np.right_shift(bits, np.uint32(drop)), np.uint32(1))
    up = np.add(bits, np.add(np.uint32((1 << (drop - 1)) - 1), odd))
    kept = np.bitwise_and(up, np.uint32(0xFFFFFFFF << drop & 0xFFFFFFFF)).view(np.float32)
    return np.where(np.isnan(x), x, kept)


@rule("bitcast_convert_type")
def bitcast(eqn: Equation) -> Callable:
    shape, target = eqn.shape, np.dtype(eqn.dtype)
    return lambda x: np.ascontiguousarray(x).reshape(-1).view(target).reshape(shape)
