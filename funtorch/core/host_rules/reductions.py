"""Reductions and cumulative operations: one ``ufunc.reduce`` or ``ufunc.accumulate`` each.

Sums of float16 and bfloat16 are accumulated in float32 and rounded once, as XLA does; running ones are rounded at each step.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from .table import Equation, Inline, is_narrow_float, rule, sole_primitive

REDUCTIONS: dict[str, np.ufunc] = {
    "reduce_sum": np.add,
    "reduce_prod": np.multiply,
    "reduce_max": np.maximum,
    "reduce_min": np.minimum,
    "reduce_and": np.bitwise_and,
    "reduce_or": np.bitwise_or,
    "reduce_xor": np.bitwise_xor,
}
CUMULATIVE: dict[str, np.ufunc] = {
    "cumsum": np.add,
    "cumprod": np.multiply,
    "cummax": np.maximum,
    "cummin": np.minimum,
    "cumlogsumexp": np.logaddexp,
}
MONOIDS: dict[str, np.ufunc] = {
    "add": np.add,
    "mul": np.multiply,
    "max": np.maximum,
    "min": np.minimum,
    "and": np.bitwise_and,
    "or": np.bitwise_or,
    "xor": np.bitwise_xor,
}


def identity(ufunc: np.ufunc, dtype: np.dtype) -> np.ndarray:
    """The value that leaves others as they are: what the reduction of nothing gives."""
    if ufunc in (np.maximum, np.minimum):
        bottom = ufunc is np.maximum
        if dtype.kind == "b":
            return np.array(not bottom)
        if dtype.kind in "iu":
            bounds = np.iinfo(dtype)
            return np.array(bounds.min if bottom else bounds.max, dtype)
        return np.array(-np.inf if bottom else np.inf, dtype)
    if ufunc is np.bitwise_and:
        return np.array(True) if dtype.kind == "b" else np.invert(np.zeros((), dtype))
    return np.ones((), dtype) if ufunc is np.multiply else np.zeros((), dtype)


@rule(*REDUCTIONS)
def reduction(eqn: Equation) -> Callable | Inline:
    return reducer(REDUCTIONS[eqn.name], tuple(int(a) for a in eqn.params["axes"]), eqn)


def reducer(ufunc: np.ufunc, axes: tuple[int, ...], eqn: Equation) -> Callable | Inline:
    """Runs ``ufunc`` over ``axes`` of the equation's first argument."""
    shape, dtype = eqn.inputs[0].shape, np.dtype(eqn.dtype)
    if not axes:
        return lambda x: x
    if 0 in shape:
        empty = np.full(eqn.shape, identity(ufunc, dtype))
        return lambda x: empty
    reduced = None if len(axes) == len(shape) else axes[0] if len(axes) == 1 else axes
    if is_narrow_float(dtype):
        return Inline("{k[0]}({0}.astype({k[1]}), {k[2]}).astype({k[3]})", ufunc.reduce, np.dtype("f4"), reduced, dtype)
    if ufunc in (np.add, np.multiply) and dtype.kind in "iu" and dtype.itemsize < 8:
        return Inline("{k[0]}({0}, {k[1]}, {k[2]})", ufunc.reduce, reduced, dtype)  # NumPy would widen it
    return Inline("{k[0]}({0}, {k[1]})", ufunc.reduce, reduced)


@rule("reduce")
def general(eqn: Equation) -> Callable | None:
    ufunc = MONOIDS.get(sole_primitive(eqn.params["jaxpr"]) or "")
    if ufunc is None or len(eqn.inputs) != 2:
        return None
    inner = reducer(ufunc, tuple(int(a) for a in eqn.params["dimensions"]), eqn)
    inner = inner.function(1) if isinstance(inner, Inline) else inner
    return lambda x, start: ufunc(inner(x), start)


@rule(*CUMULATIVE)
def cumulative(eqn: Equation) -> Callable:
    ufunc, axis, dtype = CUMULATIVE[eqn.name], int(eqn.params["axis"]), np.dtype(eqn.dtype)
    flip = (slice(None),) * axis + (slice(None, None, -1),) if eqn.params["reverse"] else ()
    if is_narrow_float(dtype):
        scan = partial(_by_halves, ufunc)
        return lambda x: (scan(x[flip].swapaxes(0, axis)) if flip else scan(x.swapaxes(0, axis))).swapaxes(0, axis)[flip]
    accumulate = ufunc.accumulate

    def run(x):
        return accumulate(x[flip], axis, dtype)[flip] if flip else accumulate(x, axis, dtype)

    return run


def _by_halves(ufunc: np.ufunc, x: np.ndarray) -> np.ndarray:
    """The running ``ufunc`` over axis 0 in the order in which XLA combines: results of narrow floats are rounded at each step."""
    if len(x) < 2:
        return x
    result = np.empty_like(x)
    result[0] = x[0]
    result[1::2] = odd = _by_halves(ufunc, ufunc(x[:-1:2], x[1::2]))
    result[2::2] = ufunc(odd[: (len(x) - 1) // 2], x[2::2])
    return result


@rule("argmax", "argmin")
def arg_extreme(eqn: Equation) -> Callable:
    (axis,), dtype = eqn.params["axes"], np.dtype(eqn.params["index_dtype"])
    find = np.argmax if eqn.name == "argmax" else np.argmin
    if is_narrow_float(eqn.inputs[0].dtype):
        return lambda x: find(x.astype(np.float32), axis).astype(dtype)
    return lambda x: find(x, axis).astype(dtype)
