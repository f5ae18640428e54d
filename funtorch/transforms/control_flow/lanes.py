"""Loops and branches under ``vmap``.

In a choice all branches run for all lanes. Its derivative is taken branch by branch and chosen afterwards: were it taken of the
chosen values instead, a branch that is not taken could spoil the gradient, zero times its infinite slope.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax.interpreters import partial_eval

from ...core.call import call
from ...core.handle import Handle, value_of
from ...core.levels import Batched, Dual
from ...core.op import Mask, Op


class Choice(Op):
    """An Op, its first argument says which branch, whose form batched in that has the batched form of its gradient as its own."""

    __slots__ = ("source",)
    always = False

    def __init__(self, fn: Callable, name: str, source: tuple[Choice, tuple] | None = None) -> None:
        super().__init__(fn, name)
        self.source = source  # what this is the batched form of, and over which axes

    def batched(self, axes: tuple[int | None, ...]) -> Op:
        found = self._batched.get(axes)
        if found is None:
            plain = super().batched(axes)
            found = self._batched[axes] = type(self)(plain.fn, self.name, (self, axes))
        return found

    def vjp(self, mask: Mask) -> Op:
        if self.source is None or mask in self._vjp:
            return super().vjp(mask)
        inner, axes = self.source
        if axes[0] is None and not self.always:
            return super().vjp(mask)
        found = self._vjp[mask] = Op(_in_lanes(inner.vjp(mask).fn, mask, axes), f"{self.name}_backward")
        return found


class Choices(Choice):
    """The same for an Op that chooses within."""

    __slots__ = ()
    always = True


def _in_lanes(pull: Callable, mask: Mask, axes: tuple[int | None, ...]) -> Callable:
    marked = [axis for axis, m in zip(axes, mask, strict=True) if m]

    def backward(*args: Any) -> tuple:
        cotangents = (0,) * (len(args) - len(axes))
        grads = jax.vmap(pull, in_axes=(*axes, *cotangents))(*args)
        return tuple(g.sum(0) if a is None else jnp.moveaxis(g, 0, a) for g, a in zip(grads, marked, strict=True))

    return backward


_FIRST = Op(lambda x: x[0], "select")


@functools.lru_cache(maxsize=512)
def _reads(op: Op, avals: tuple, number: int) -> tuple[bool, ...]:
    """Which of its arguments the result ``number`` of an Op depends on."""
    jaxpr = op.trace(avals)[0].jaxpr
    _, used = partial_eval.dce_jaxpr(jaxpr, [k == number for k in range(len(jaxpr.outvars))])
    return tuple(used)


def unmapped(op: Op, args: Sequence[Any], number: int, result: Any) -> Any:
    """The result ``number`` of ``op``; where ``vmap`` maps it only because others are, the Tensor that all lanes have of it."""
    payload = value_of(result)
    if type(payload) is not Batched:
        return result
    avals = tuple((a.shape, a.dtype) for a in (value_of(a) if isinstance(a, Handle) else a for a in args))
    read = [a for a, used in zip(args, _reads(op, avals, number), strict=True) if used]
    if any(_is_mapped(a, payload.level) for a in read if isinstance(a, Handle)):
        return result
    inner = payload.inner
    if payload.axis is not None:
        inner = call(_FIRST, (inner,), recording=False, ceiling=payload.level.depth - 1)
    return unmapped(op, args, number, inner)


def _is_mapped(tensor: Handle, level: Any) -> bool:
    payload = value_of(tensor)
    if type(payload) is Batched:
        return payload.level is level and payload.axis is not None or _is_mapped(payload.inner, level)
    if type(payload) is Dual:
        return _is_mapped(payload.primal, level) or payload.tangent is not None and _is_mapped(payload.tangent, level)
    return False
