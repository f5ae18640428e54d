"""A backward pass node by node on bare arrays: which cotangents go where is worked out once for a structure, and then followed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .engine import run
from .handle import make
from .op import Op
from .tape import Recipe

Number = tuple[int, int]  # the node's number in a walk, and which of its outputs


class Schedule:
    """Cotangents have places in one list; a step takes those of a node's outputs, and adds to those of its inputs."""

    __slots__ = ("size", "steps", "starts", "targets", "add")

    def __init__(
        self,
        steps: Sequence[int],
        edges: dict[int, list],
        recipes: dict[int, Recipe],
        roots: list[Number],
        targets: list[Number],
        add: Op,
    ) -> None:
        places: dict[Number, int] = {}

        def place(number: Number) -> int:
            return places.setdefault(number, len(places))

        self.starts = [place(root) for root in roots]
        self.targets = [place(target) for target in targets]
        kept = set(self.targets)
        self.steps: list[tuple] = []
        for i in steps:
            outs = [place((i, k)) for k in range(len(recipes[i].outs))]
            into = [None if edge is None else place(edge) for edge in edges[i]]
            self.steps.append((recipes[i], outs, into, [at for at in outs if at not in kept]))
        self.size = len(places)
        self.add = add

    def run(self, nodes: Sequence[Any], cotangents: Sequence[Any]) -> list:
        """The gradients of the targets as Tensors, None where none comes, from what the nodes saved and the roots' cotangents."""
        pending: list[Any] = [None] * self.size
        for at, cotangent in zip(self.starts, cotangents, strict=True):
            self._put(pending, at, cotangent._payload)
        for node, (recipe, outs, into, done) in zip(nodes, self.steps, strict=True):
            incoming = [pending[at] for at in outs]
            for at in done:
                pending[at] = None
            if all([c is None for c in incoming]):
                continue
            values = [blank if v is None else v for v, blank in zip(node.saved, recipe.blanks, strict=True)]
            for c, out in zip(incoming, recipe.outs, strict=True):
                if out[1] is not None:
                    values.append(np.zeros(*out) if c is None else c)
            for at, grad in zip(into, run(recipe.vjp, values), strict=True):
                if at is not None:
                    self._put(pending, at, grad)
        return [None if (g := pending[at]) is None else make(g) for at in self.targets]

    def _put(self, pending: list, at: int, value: Any) -> None:
        held = pending[at]
        pending[at] = value if held is None else run(self.add, [held, value])
