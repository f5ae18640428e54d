"""Gradients of float16 and bfloat16 arrays, rounded once: what lies between the arguments and the results is float32.

JAX's derivative of a function of halves rounds after each step, and sums as it goes in the half: the gradient of a bias over
a thousand rows would have one right digit. PyTorch sums in float32. Products of matrices, loops and comparisons take halves, as in the
function itself.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from . import jaxpr_classes as classes
from .rounding import HALVES
from .selected import inner_of

# What moves elements as they are, whatever their type.
MOVING = frozenset({
    "broadcast_in_dim", "concatenate", "copy", "copy_p", "dynamic_slice", "dynamic_update_slice", "expand_dims", "gather", "pad",
    "reshape", "rev", "scatter", "select_n", "slice", "split", "squeeze", "transpose",
})  # fmt: skip
SUMS = frozenset(
    {"cumlogsumexp", "cumprod", "cumsum", "reduce_prod", "reduce_sum", "reduce_window_sum", "scatter-add", "scatter-mul"}
)
STEPS = frozenset({
    "abs", "acos", "acosh", "add", "add_any", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "cos", "cosh", "digamma", "div",
    "ceil", "erf", "erf_inv", "erfc", "exp", "exp2", "expm1", "floor", "integer_pow", "lgamma", "log", "log1p", "logistic", "max", "min", "mul", "neg",
    "pow", "rsqrt", "sign", "sin", "sinh", "sqrt", "square", "sub", "tan", "tanh",
})  # fmt: skip
WIDE = MOVING | SUMS | STEPS | {"reduce_max", "reduce_min"}
EXACT = frozenset({"abs", "max", "min", "neg", "sign"})  # steps without rounding
FLOAT32 = np.dtype(np.float32)


def bound(eqn: Any, values: Sequence[Any]) -> Sequence[Any]:
    """The results of an equation for other values."""
    outs = eqn.primitive.bind(*values, **eqn.primitive.get_bind_params(eqn.params))
    return outs if eqn.primitive.multiple_results else [outs]


def _scattered(scatter: Callable) -> Callable:
    """The primitive of a scattering function keeps a jaxpr of how it combines elements, for one type."""

    def rule(eqn: Any, values: Sequence[Any]) -> list[Any]:
        named = {key: eqn.params[key] for key in ("indices_are_sorted", "unique_indices", "mode")}
        return [scatter(*values, eqn.params["dimension_numbers"], **named)]

    return rule


_OF_ONE_TYPE = {
    "scatter": _scattered(jax.lax.scatter),
    "scatter-add": _scattered(jax.lax.scatter_add),
    "scatter-mul": _scattered(jax.lax.scatter_mul),
}


def rounded_once(fn: Callable) -> Callable:
    """``fn`` of arrays to a tuple of arrays, which rounds halves once where it would do so at every step."""

    @functools.wraps(fn)
    def once(*args: Any) -> tuple:
        if not any([a.dtype in HALVES for a in args]):
            return fn(*args)  # type: ignore[no-any-return]
        specs = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in args]
        closed = jax.make_jaxpr(fn)(*specs)
        if not _rounds(closed.jaxpr, set()):
            return fn(*args)  # type: ignore[no-any-return]
        return tuple(map(_to, _run(closed, list(map(_wide, args))), [v.aval.dtype for v in closed.jaxpr.outvars]))

    return once


def _is_half(v: Any) -> bool:
    return getattr(v.aval, "dtype", None) in HALVES


def _rounds(jaxpr: Any, rounded: set) -> bool:
    """Whether halves are summed, or rounded twice on their way; ``rounded`` has the variables that were rounded before."""
    for eqn in jaxpr.eqns:
        inner, name = inner_of(eqn), eqn.primitive.name
        was = [not isinstance(v, classes.Literal) and v in rounded for v in eqn.invars]
        before = any(was)
        if inner is not None:
            if _rounds(inner.jaxpr, {a for a, each in zip(inner.jaxpr.invars, was, strict=True) if each}):
                return True
            before = before or bool(inner.jaxpr.eqns)
        elif any(map(_is_half, eqn.outvars)):
            if name in SUMS or (before and name in STEPS and name not in EXACT):
                return True
            before = before or (name not in MOVING and name not in EXACT)
        if before:
            rounded.update(v for v in eqn.outvars if _is_half(v))
    return False


def _wide(x: Any) -> Any:
    return x.astype(FLOAT32) if x.dtype in HALVES else x


def _to(x: Any, dtype: np.dtype) -> Any:
    return x if x.dtype == dtype else x.astype(dtype)


def _run(closed: Any, values: Sequence[Any]) -> list[Any]:
    """The results of a jaxpr, with float32 in place of halves in its arguments, results and all between."""
    jaxpr = closed.jaxpr
    known = dict(zip(jaxpr.constvars, map(_wide, closed.consts), strict=True)) | dict(zip(jaxpr.invars, values, strict=True))

    def read(v: Any) -> Any:
        if not isinstance(v, classes.Literal):
            return known[v]
        return np.asarray(v.val, FLOAT32) if _is_half(v) else v.val

    for eqn in jaxpr.eqns:
        known.update(zip(eqn.outvars, _step(eqn, list(map(read, eqn.invars))), strict=True))
    return list(map(read, jaxpr.outvars))


def _step(eqn: Any, values: list[Any]) -> Sequence[Any]:
    name, inner = eqn.primitive.name, inner_of(eqn)
    if not any(map(_is_half, (*eqn.invars, *eqn.outvars))):
        return bound(eqn, values)
    if inner is not None:
        return _called(eqn.params.get("name", name), inner, values)
    if name == "convert_element_type":
        to = eqn.params["new_dtype"]
        if jax.numpy.issubdtype(to, np.inexact):
            return [_to(values[0], FLOAT32 if to in HALVES else to)]
    if name in WIDE:
        return _OF_ONE_TYPE.get(name, bound)(eqn, values)
    given = [_to(x, v.aval.dtype) if _is_half(v) else x for x, v in zip(values, eqn.invars, strict=True)]
    return list(map(_wide, bound(eqn, given)))


def _called(name: str, inner: Any, values: Sequence[Any]) -> Sequence[Any]:
    def call(*args: Any) -> list[Any]:
        return _run(inner, args)

    call.__name__ = name  # supports are told of choices by it
    return jax.jit(call)(*values)  # type: ignore[no-any-return]
