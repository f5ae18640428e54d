"""Choices under ``vmap``: all branches run for all lanes. Their derivative is taken branch by branch and chosen afterwards.

Were it taken of the chosen values instead, a branch that is not taken could spoil the gradient: zero times its infinite slope.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

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
