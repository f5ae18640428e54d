"""A backward pass node by node on bare arrays: which cotangents go where is worked out once for a structure, and then followed."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from .engine import CONCRETE, mode_in_force, run
from .gathered import Group, groups_of
from .handle import make
from .op import Op
from .quiet import quietly
from .tape import Recipe

Number = tuple[int, int]  # the node's number in a walk (negative: a leaf's), and which of its outputs
NUMPY = frozenset({np.ndarray, type(None)})
BARE = CONCRETE | NUMPY
# Types that NumPy adds as the host tier does, without the rounding that narrower ones need.
ADDED = frozenset(map(np.dtype, "fdFD"))


class Schedule:
    """Cotangents have places in one list; a step takes those of a node's outputs, and adds to those of its inputs.

    The outputs of the steps' nodes come first, then targets that belong to no step, and the leaves last: leaf j has place
    -1 - j, which is its number.
    """

    __slots__ = ("size", "steps", "starts", "targets", "groups", "kept", "add")

    def __init__(
        self,
        steps: Sequence[int],
        edges: dict[int, list],
        recipes: dict[int, Recipe],
        roots: list[Number],
        targets: list[Number],
        leaves: int,
        add: Op,
    ) -> None:
        base: dict[int, int] = {}
        total = 0
        for i in steps:
            base[i] = total
            total += len(recipes[i].outs)

        places: dict[Number, int] = {}  # of targets and roots at nodes without a step
        for number in (*targets, *roots):
            if number[0] >= 0 and number[0] not in base and number not in places:
                places[number] = total + len(places)

        def place(number: Number) -> int | None:
            i, k = number
            return i if i < 0 else base[i] + k if i in base else places.get(number)

        self.starts: list[Any] = [place(root) for root in roots]
        self.targets: list[Any] = [place(target) for target in targets]
        self.kept = {at for at in self.targets if at >= 0}
        into = [[None if e is None else place(e) for e in edges[i]] for i in steps]
        self.groups = groups_of([recipes[i] for i in steps], into)
        self.steps = [(recipes[i], base[i], places) for i, places in zip(steps, into, strict=True)]
        self.size = total + len(places) + leaves
        self.add = add

    def run(self, nodes: Sequence[Any], cotangents: Sequence[Any], kinds: Iterable[type]) -> list:
        """The gradients of the targets as Tensors, None where none comes.

        They come from what the nodes saved, of the types ``kinds``, and the roots' ``cotangents``.
        """
        numpy = mode_in_force() != "kernel" and NUMPY.issuperset(kinds)
        pending = quietly(self._run, nodes, cotangents, numpy)
        return [None if (g := pending[at]) is None else make(g) for at in self.targets]

    def _run(self, nodes: Sequence[Any], cotangents: Sequence[Any], numpy: bool) -> list:
        pending: list[Any] = [None] * self.size
        owned: set[int] = set()  # the places whose sums nobody else sees
        together: dict[Group, list] = {}  # what is needed of the calls of a group
        for at, cotangent in zip(self.starts, cotangents, strict=True):
            self._put(pending, owned, at, cotangent._payload)
        for node, (recipe, start, into), group in zip(nodes, self.steps, self.groups, strict=True):
            incoming = self._taken(pending, recipe, start)
            if incoming is None:
                continue
            if not numpy or not all([type(c) is np.ndarray for c in incoming]):
                slot = None
            elif group is not None:
                grads, needed = group.gathered.each(recipe.mask, node.saved, incoming)
                together.setdefault(group, []).append(needed)
                for number, grad in zip(group.others, grads, strict=True):
                    if (at := into[number]) is not None:
                        self._put(pending, owned, at, grad)
                continue
            else:
                slot = recipe.vjp.programs.get(recipe.key)
            if slot is not None and slot.stays is not None:
                slot.recent = True
                grads = slot.stays(*node.saved, *incoming)  # a program doesn't look at what it doesn't read
            else:
                values = [blank if v is None else v for v, blank in zip(node.saved, recipe.blanks, strict=True)]
                grads = run(recipe.vjp, [*values, *incoming])
            for at, grad in zip(into, grads, strict=True):
                if at is None:
                    continue
                if pending[at] is None:  # mostly
                    pending[at] = grad
                else:
                    self._put(pending, owned, at, grad)
        for members, calls in together.items():
            for at, grad in zip(members.into, members.total(calls), strict=True):
                if at is not None:
                    self._put(pending, owned, at, grad)
        return pending

    def _taken(self, pending: list, recipe: Recipe, start: int) -> list | None:
        """The cotangents of a node's outputs, which nobody needs afterwards; None if none has come."""
        outs = recipe.outs
        if len(outs) == 1:
            taken = pending[start]
            if start not in self.kept:
                pending[start] = None
            return None if taken is None else [taken]
        incoming = pending[start : start + len(outs)]
        if all([c is None for c in incoming]):
            return None
        for at in range(start, start + len(outs)):
            if at not in self.kept:
                pending[at] = None
        return [np.zeros(*out) if c is None else c for c, out in zip(incoming, outs, strict=True) if out[1] is not None]

    def _put(self, pending: list, owned: set[int], at: int, value: Any) -> None:
        """Add a cotangent to what has come to its place."""
        held = pending[at]
        if held is None:
            pending[at] = value
        elif not (type(held) is type(value) is np.ndarray and held.ndim and held.dtype in ADDED):
            pending[at] = run(self.add, [held, value])
        elif at in owned:
            np.add(held, value, held)
        else:
            pending[at] = held + value
            owned.add(at)
