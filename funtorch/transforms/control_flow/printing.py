"""Loops and branches that print: once when they run, and not again when their gradient runs them anew."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from jax.extend.core import ClosedJaxpr, Jaxpr

from ...core.op import Mask, Op

PRINTS = "debug_callback"


class Printing(Op):
    """An Op that prints, with the Op that does the same without a word."""

    __slots__ = ("quiet",)

    def __init__(self, fn: Callable, name: str, quiet: Op) -> None:
        super().__init__(fn, name)
        self.quiet = quiet

    def vjp(self, mask: Mask) -> Op:
        return self.quiet.vjp(mask)

    def push(self, mask: Mask) -> Op:
        return self.quiet.push(mask)

    def jvp(self, mask: Mask) -> Op:
        found = self._jvp.get(mask)
        if not isinstance(found, Printing):
            found = self._jvp[mask] = Printing(super().jvp(mask).fn, f"{self.name}_jvp", self.quiet.jvp(mask))
        return found

    def batched(self, axes: tuple[int | None, ...]) -> Op:
        found = self._batched.get(axes)
        if not isinstance(found, Printing):
            found = self._batched[axes] = Printing(super().batched(axes).fn, self.name, self.quiet.batched(axes))
        return found


def silent(value: Any) -> Any:
    """A jaxpr, or what an equation has in it, without its prints."""
    if isinstance(value, ClosedJaxpr):
        return ClosedJaxpr(silent(value.jaxpr), value.consts)
    if isinstance(value, tuple):
        return tuple(map(silent, value))
    if not isinstance(value, Jaxpr):
        return value
    kept = [eqn for eqn in value.eqns if eqn.primitive.name != PRINTS]
    inner = [eqn.replace(params={k: silent(v) for k, v in eqn.params.items()}, effects=frozenset()) for eqn in kept]
    return value.replace(eqns=inner, effects=frozenset())
