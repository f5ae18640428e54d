"""What a program leaves behind: results, which may be views or known Tensors, written cells, and gradients.

`Outcomes` describes them after a trace, in terms of the program's outputs; ``given`` makes them after a run.
"""

from __future__ import annotations

import types
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.backward import Graph
from ..core.engine import CONCRETE
from ..core.handle import Handle, make, value_of
from ..core.retracing import Tracing
from ..core.strides import is_contiguous
from ..core.tape import FreedNode, place_of
from ..core.trees import flatten
from ..core.views import At, note_view, refresh
from ..core.watcher import Disagreement
from ..size import Size
from .code_names import is_module

NEW, ARGUMENT, CELL, GRADIENT, VIEW, STATIC = range(6)
NONE, ON_TAPE, ON_FREED, NEW_LEAF = range(4)  # a result's history
GONE, FRESH, SAME, KNOWN = range(4)  # what a gradient has become
Where = tuple[int, Any]


class View:
    """A result that shares the elements of a Tensor: ``base``, the links that lead from it, and whose links come before these."""

    def __init__(self, base: Where, before: int | None, links: list, of: Handle) -> None:
        self.base = base
        self.before = before  # the argument whose own links come first
        self.links = links  # each an Op, or (op, places, layout) with the places' numbers or arrays
        self.detached = of._detached
        self.siblings = of._siblings

    def made(self, base: Handle, values: Sequence[Any], tensors: list[Handle]) -> Any:
        """The view, of ``base`` as it is now."""
        links = [
            link if not isinstance(link, tuple) else At(link[0], tuple(values[p] if i else p for i, p in link[1]), link[2])
            for link in self.links
        ]
        before = () if self.before is None else tensors[self.before]._chain
        result = make(None)
        result._base = result._source = base
        result._chain, result._seen = (*before, *links), -1
        result._detached, result._siblings = self.detached, self.siblings
        refresh(result)
        note_view(base, result)
        return result


class Outcomes:
    """The outcomes of a trace. ``values`` are the program's outputs before the written cells: results, and what views need."""

    def __init__(self, result: Any, tensors: list[Handle], given: int, cells: list[Handle], tracing: Tracing) -> None:
        self.tensors = tensors
        self.given = given
        self.tracing = tracing
        self.values: list[Any] = []
        self.history: list[int] = []
        self.made: list[Handle | None] = []  # of each value, the Tensor of the trace (None: places)
        self.where: dict[int, Where] = {id(c): (CELL, i) for i, c in enumerate(cells)}
        self.where |= {id(t): (ARGUMENT, i) for i, t in enumerate(tensors)}
        self.outs, self.spec = flatten(result, is_leaf=is_one)
        bases = [id(base) for o in self.outs if isinstance(o, Handle) for base in bases_of(o)]
        self.shared = {b for b in bases if bases.count(b) > 1} | {id(o) for o in self.outs}

    def gradients(self, written: list[Handle], held: dict[int, Any]) -> list[tuple[int, Any]]:
        """What has become of each written gradient: GONE, FRESH, SAME, or KNOWN with where it is."""
        left: list[tuple[int, Any]] = []
        for i, tensor in enumerate(written):
            grad = tensor._grad
            if grad is None:
                left.append((GONE, None))
            elif grad is held[id(tensor)]:
                left.append((SAME, None))
            elif id(grad) in self.where or self.tracing.is_outer(grad):
                left.append((KNOWN, self.place(grad)))
            else:
                left.append((FRESH, None))
            if grad is not None:
                self.where.setdefault(id(grad), (GRADIENT, i))
        return left

    def results(self) -> list[Where]:
        """Where each leaf of the function's result is to be found."""
        return [self.place(o) if isinstance(o, Handle) else (STATIC, self._static(o)) for o in self.outs]

    @staticmethod
    def _static(value: Any) -> Any:
        if isinstance(value, (types.GeneratorType, types.CoroutineType)) or hasattr(value, "__next__"):
            raise Disagreement("it returns an iterator, whose code runs later")
        return value

    def place(self, tensor: Handle) -> Where:
        """Where a Tensor of the trace is to be found after a run."""
        found = self.where.get(id(tensor))
        if found is None:
            found = self.where[id(tensor)] = self._new_place(tensor)
        return found

    def _new_place(self, tensor: Handle) -> Where:
        value_of(tensor)
        base = tensor._base
        if base is None:
            return (NEW, self._value(tensor))
        if self.tracing.is_outer(base) and id(base) not in self.where:
            raise Disagreement("a result is a view of a Tensor that it does not read")
        alone = not any(id(each) in self.where or id(each) in self.shared for each in bases_of(tensor))
        if alone and is_contiguous(tensor):
            return (NEW, self._value(tensor))  # nobody else can see the base
        chain, before = tensor._chain, None
        for i, argument in enumerate(self.tensors[: self.given]):
            own = argument._chain
            if (
                argument._base is base
                and own
                and len(own) <= len(chain)
                and all(a is b for a, b in zip(own, chain, strict=False))
            ):
                chain, before = chain[len(own) :], i
                break
        return (VIEW, View(self.place(base), before, [self._link(link) for link in chain], tensor))

    def _value(self, tensor: Handle) -> int:
        self.values.append(value_of(tensor))
        self.history.append(history_of(tensor))
        self.made.append(tensor)
        return len(self.values) - 1

    def _link(self, link: Any) -> Any:
        if type(link) is not At:
            return link
        return (link.op, tuple(self._index(p) for p in link.places), link.layout)

    def _index(self, place: Any) -> tuple[bool, Any]:
        value = value_of(place) if isinstance(place, Handle) else place
        if type(value) in CONCRETE or isinstance(value, (int, np.generic)):
            return (False, place)
        self.values.append(value)
        self.history.append(NONE)
        self.made.append(None)
        return (True, len(self.values) - 1)


def bases_of(tensor: Handle) -> list[Handle]:
    """The Tensors with which a view shares its elements, from the nearest on: a `detach` has a base too."""
    found = []
    while tensor._base is not None:
        tensor = tensor._base
        found.append(tensor)
    return found


def is_one(value: Any) -> bool:
    """Whether a result is a leaf though it may look like a container."""
    return isinstance(value, Size) or is_module(value)


def history_of(tensor: Handle) -> int:
    """What the tape has of a Tensor of the trace."""
    if not tensor._requires:
        return NONE
    node: Any = tensor._node
    if node is None:
        return NEW_LEAF
    # A node that saved nothing is never freed itself: what lies behind it tells.
    return ON_FREED if any(each.is_freed() for each in Graph([place_of(tensor)]).nodes) else ON_TAPE


def result_of(value: Any, history: int) -> Any:
    """A new result with the history that it has in eager code."""
    new = make(value)
    if history == ON_FREED:
        new._node = FreedNode()
    if history != NONE:
        new._requires = True
    return new


def array(value: Any) -> Any:
    """A value as an output of a program."""
    return jnp.asarray(value)
