"""Equations that add no step of their own: calls, identities, broadcasts, branches that are known."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .lowering import SHORTCUTS, Lowering, Shortcut, Value, is_key


def shortcut(*names: str) -> Callable:
    """Registers what the lowering does instead of adding a step; it may decline by returning None."""

    def register(handler: Shortcut) -> Shortcut:
        SHORTCUTS.update(dict.fromkeys(names, handler))
        return handler

    return register


CALLED = {
    "jit": "jaxpr",
    "pjit": "jaxpr",
    "closed_call": "call_jaxpr",
    "core_closed_call": "call_jaxpr",
    "call": "call_jaxpr",
    "custom_jvp_call": "call_jaxpr",
    "custom_vjp_call": "call_jaxpr",
    "custom_vjp_call_jaxpr": "fun_jaxpr",
    "custom_vmap_call": "call",
    "remat2": "jaxpr",
    "remat": "jaxpr",
    "checkpoint": "jaxpr",
    "composite": "jaxpr",
}


@shortcut(*CALLED)
def inline(low: Lowering, eqn: Any, inputs: list[Value]) -> list[Value]:
    return low.closed(eqn.params[CALLED[eqn.primitive.name]], inputs)


@shortcut("custom_linear_solve")
def linear_solve(low: Lowering, eqn: Any, inputs: list[Value]) -> list[Value]:
    lengths, jaxprs = eqn.params["const_lengths"], eqn.params["jaxprs"]
    start = lengths.matvec + lengths.vecmat
    consts, rest = (
        inputs[start : start + lengths.solve],
        inputs[start + lengths.solve + lengths.transpose_solve :],
    )
    return low.closed(jaxprs.solve, [*consts, *rest])


@shortcut("empty", "empty2")
def empty(low: Lowering, eqn: Any, inputs: list[Value]) -> list[Value] | None:
    """Values that are to be written before they are read: zeros, as XLA gives."""
    out = eqn.outvars[0].aval
    return None if is_key(out.dtype) or 0 in out.shape else [low.constant(np.zeros((), out.dtype))]


@shortcut("platform_index")
def platform_index(low: Lowering, eqn: Any, inputs: list[Value]) -> list[Value]:
    """Which of several implementations is the CPU's."""
    found = next(i for i, names in enumerate(eqn.params["platforms"]) if names is None or "cpu" in names)
    return [low.constant(np.array(found, np.int32))]


@shortcut("cond")
def known_branch(low: Lowering, eqn: Any, inputs: list[Value]) -> list[Value] | None:
    index, branches = inputs[0].data, eqn.params["branches"]
    return None if index is None else low.closed(branches[min(max(int(index), 0), len(branches) - 1)], inputs[1:])


@shortcut(
    "stop_gradient",
    "copy",
    "copy_p",
    "name",
    "device_put",
    "optimization_barrier",
    "sharding_constraint",
    "pvary",
    "layout_constraint",
    "random_wrap",
    "random_unwrap",
    "random_clone",
    "tie",
    "pin",
    "unpin",
)
def same(low: Lowering, eqn: Any, inputs: list[Value]) -> list[Value] | None:
    return inputs if len(inputs) == len(eqn.outvars) else None


@shortcut("convert_element_type")
def same_dtype(low: Lowering, eqn: Any, inputs: list[Value]) -> list[Value] | None:
    return inputs if inputs[0].dtype == np.dtype(eqn.outvars[0].aval.dtype) else None


@shortcut("broadcast_in_dim", "broadcast_to")
def thin_broadcast(low: Lowering, eqn: Any, inputs: list[Value]) -> list[Value] | None:
    out, value = eqn.outvars[0].aval, inputs[0]
    if is_key(out.dtype) or 0 in out.shape or len(inputs) > 1:
        return None
    if not value.shape:
        return [value]
    rank = len(out.shape)
    dims = eqn.params.get("broadcast_dimensions", range(rank - len(value.shape), rank))
    shape = [1] * rank
    for axis, size in zip(dims, value.shape, strict=True):
        shape[axis] = size
    return [value if value.shape == tuple(shape) else low.own("reshape", value, tuple(shape))]


@shortcut("iota")
def thin_iota(low: Lowering, eqn: Any, inputs: list[Value]) -> list[Value] | None:
    out, axis = eqn.outvars[0].aval, eqn.params["dimension"]
    if inputs or 0 in out.shape:
        return None
    shape = tuple(n if a == axis else 1 for a, n in enumerate(out.shape))
    return [low.constant(np.arange(out.shape[axis]).astype(out.dtype).reshape(shape))]


@shortcut("reshape", "squeeze", "expand_dims", "transpose", "rev", "slice", "dynamic_slice")
def moved(low: Lowering, eqn: Any, inputs: list[Value]) -> list[Value] | None:
    """Moving elements that are all the same changes nothing; nor does reshaping to the same shape."""
    out, value = eqn.outvars[0].aval, inputs[0]
    if is_key(out.dtype) or 0 in out.shape:
        return None
    keeps_order = eqn.primitive.name == "reshape" and eqn.params.get("dimensions") is None
    alike = not value.shape or (value.shape == out.shape and keeps_order)
    return inputs[:1] if alike else None
