"""Reductions: one ``ufunc.reduce`` each."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .narrow import tree
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
    if is_narrow_float(dtype) and ufunc in (np.add, np.multiply):
        return tree(ufunc, axes, shape, identity(ufunc, dtype))
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


@rule("argmax", "argmin")
def arg_extreme(eqn: Equation) -> Callable:
    (axis,), dtype = eqn.params["axes"], np.dtype(eqn.params["index_dtype"])
    find = np.argmax if eqn.name == "argmax" else np.argmin
    if is_narrow_float(eqn.inputs[0].dtype):
        return lambda x: find(x.astype(np.float32), axis).astype(dtype)
    return lambda x: find(x, axis).astype(dtype)
