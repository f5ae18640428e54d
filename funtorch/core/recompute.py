"""Recomputing: a node of the tape that keeps its inputs alone, and runs its function again when its gradient is asked for."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from .backward import differentiate
from .handle import Handle
from .state import state
from .supports import supported
from .tape import place_of
from .variables import depends, variable


class Recomputed:
    """The body of such a node: ``run(inputs)`` gives the list of results again, from variables in place of ``tensors``."""

    materialize = False
    keeps = ()

    def __init__(self, name: str, run: Callable[[list[Any]], list[Any]], tensors: Sequence[Handle], followed: list[bool]) -> None:
        self.name = name
        self.run = run
        self.tensors = list(tensors)
        self.followed = followed  # for each result, whether derivatives go through it

    def forward(self, *tensors: Any) -> list[Any]:
        return self.run(list(tensors))

    def backward(self, application: Any, *cotangents: Any) -> list[Any]:
        outside = state.grad
        follow = [depends(t) for t in self.tensors]
        given = [application.seen(t) for t in self.tensors]
        inputs = [variable(t, outside) if f else t for t, f in zip(given, follow, strict=True)]
        targets = [place_of(i) for i, f in zip(inputs, follow, strict=True) if f]
        state.grad = True
        try:
            outs = supported(self.run(inputs), application.supports)
        finally:
            state.grad = outside
        pairs = [(o, c) for o, c in zip(outs, cotangents, strict=True) if c is not None and o._requires]
        if not pairs:
            return [None] * len(inputs)
        _, grads = differentiate(
            [o for o, _ in pairs], [c for _, c in pairs], targets, create_graph=outside, retain_graph=outside
        )
        found = iter(grads)
        return [next(found) if f else None for f in follow]

    def jvp(self, tangents: list[Any]) -> list[Any] | None:
        return None

    def differentiable(self, number: int) -> bool:
        return self.followed[number]
