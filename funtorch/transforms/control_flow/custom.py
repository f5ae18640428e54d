"""Functions with a derivative of their own, inside a loop or branch: JAX is told of it, since it differentiates the whole.

The tape's node gives the gradient, traced beside the results; nothing of the Python code runs later.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from ...core.backward import differentiate
from ...core.handle import make, value_of
from ...core.levels import WRAPPED
from ...core.op import is_differentiable
from ...core.python_node import applied
from ...core.state import state
from ...core.tape import place_of
from ...errors import OpError

WRAPPED_ARGUMENT = (
    "{}: inside a loop or branch it can't be applied under a further vmap or jvp there, whose derivatives would miss its own; open "
    "the transform outside of the loop"
)


def attach(body: Any, tensors: Sequence[Any], results: Sequence[Any]) -> None:
    """Give ``results``, which ``body`` made of ``tensors``, its gradient as their derivative."""
    if not any(r._requires for r in results):
        return
    if any(type(value_of(t)) in WRAPPED for t in tensors):
        raise OpError(WRAPPED_ARGUMENT.format(body.name))
    inputs, outputs = [value_of(t) for t in tensors], [value_of(r) for r in results]
    follow = [t._requires and is_differentiable(x.dtype) for t, x in zip(tensors, inputs, strict=True)]
    given = [r._requires for r in results]

    def gradients(xs: Sequence[Any], cotangents: Sequence[Any]) -> list[Any]:
        fresh = [make(x).requires_grad_() if f else make(x) for x, f in zip(xs, follow, strict=True)]
        again = body.again(fresh)
        recording, state.grad = state.grad, False
        try:
            returned = again.forward(*fresh)
        finally:
            state.grad = recording
        outs = [o for o, g in zip(applied(again, fresh, returned), given, strict=True) if g]
        targets = [place_of(t) for t, f in zip(fresh, follow, strict=True) if f]
        _, grads = differentiate(outs, [make(c) for c in cotangents], targets, create_graph=True, retain_graph=True)
        found = zip(grads, [x for x, f in zip(xs, follow, strict=True) if f], strict=True)
        return [jax.numpy.zeros_like(x) if g is None else value_of(g) for g, x in found]

    closed = jax.make_jaxpr(gradients)(inputs, [o for o, g in zip(outputs, given, strict=True) if g])
    for result, array in zip(results, _with_rule(closed, follow, given)(inputs, list(closed.consts), outputs), strict=True):
        result._payload = array


def _with_rule(closed: Any, follow: Sequence[bool], given: Sequence[bool]) -> Any:
    """The identity ``(inputs, constants, outputs) -> outputs`` with the derivative whose transpose ``closed`` gives."""
    jaxpr = closed.jaxpr

    def pull(inputs: list[Any], constants: list[Any], cotangents: list[Any]) -> list[Any]:
        return jaxpr_as_fun(ClosedJaxpr(jaxpr, list(constants)))(*inputs, *cotangents)

    def push(inputs: list[Any], constants: list[Any], outputs: list[Any], dots: list[Any]) -> list[Any]:
        along = [jax.ShapeDtypeStruct(o.shape, o.dtype) for o, g in zip(outputs, given, strict=True) if g]
        return jax.linear_transpose(lambda *c: pull(inputs, constants, list(c)), *along)(dots)

    def same(inputs: list[Any], constants: list[Any], outputs: list[Any]) -> list[Any]:
        return outputs

    def forward(primals: tuple, tangents: tuple) -> tuple:
        inputs, constants, outputs = primals
        found = iter(push(inputs, constants, outputs, [t for t, f in zip(tangents[0], follow, strict=True) if f]))
        return outputs, [next(found) if g else t for g, t in zip(given, tangents[2], strict=True)]

    def keep(inputs: list[Any], constants: list[Any], outputs: list[Any]) -> tuple:
        return outputs, (inputs, constants)

    def backward(kept: tuple, cotangents: list[Any]) -> tuple:
        inputs, constants = kept
        grads = iter(pull(inputs, constants, [c for c, g in zip(cotangents, given, strict=True) if g]))
        return [next(grads) if f else None for f in follow], [None] * len(constants), [None] * len(cotangents)

    def with_rule(inputs: list[Any], constants: list[Any], outputs: list[Any]) -> list[Any]:
        dots = [x for x, f in zip(inputs, follow, strict=True) if f]
        try:
            jax.make_jaxpr(push)(inputs, constants, outputs, dots)
        except Exception:  # JAX has several: it is not linear in the cotangents, so that it is good for reverse mode alone
            reverse = jax.custom_vjp(same)
            reverse.defvjp(keep, backward)
            return reverse(inputs, constants, outputs)
        both = jax.custom_jvp(same)
        both.defjvp(forward)
        return both(inputs, constants, outputs)

    return with_rule
