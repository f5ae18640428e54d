"""Elements that were selected out, by `where` or by an index: no derivative is theirs, whatever the local one would be.

Their cotangent is 0, and 0 times an infinite or undefined derivative is NaN. So a gradient is followed by its *support*: which of
its elements the result depends on at all. Two things make one: ops whose gradient only moves elements and leaves some out
(indexing, slices), and choices that say so (`chosen`). An ordinary zero is no support: sqrt(x) ** 2 has a derivative at 0.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax

from . import jaxpr_classes as classes

CHOSEN = "chosen_elements"  # what `chosen` is called in a jaxpr


def chosen_elements(condition: Any, x: Any, y: Any) -> Any:
    return jax.numpy.where(condition, x, y)


chosen = jax.jit(chosen_elements)
chosen.__doc__ = "x where the condition holds, else y, as `jnp.where`; what is not taken is selected out. All are broadcast."


def choosing(fn: Callable, *arrays: Any) -> Any:
    """``fn(*arrays)``, which puts arrays in the place of elements of others: what it overwrites is selected out."""

    def chosen_elements(*arrays: Any) -> Any:
        return fn(*arrays)

    return jax.jit(chosen_elements)(*arrays)


# What gives zeros of its own among the elements that it moves, and what gives none. (``select_n`` gives some in `chosen` alone.)
LEAVING = frozenset({"pad", "scatter-add", "scatter", "dynamic_update_slice", "concatenate", "stack"})
MOVING = LEAVING | frozenset({
    "broadcast_in_dim", "cumsum", "dynamic_slice", "expand_dims", "gather", "reduce_sum", "reshape", "rev", "slice", "split", "squeeze",
    "transpose", "unstack",
})  # fmt: skip
# Elementwise, and linear in everything that is linear.
PASSING = frozenset({
    "add", "add_any", "complex", "conj", "convert_element_type", "copy", "copy_p", "imag", "neg", "real", "reduce_precision",
    "select_n", "sub",
})  # fmt: skip
SCALING = frozenset({"mul", "div"})
# The ops whose elements left out are selected out. (Others leave some out too, of which nobody has made a choice: pooling.)
INDEXING = frozenset({
    "as_strided", "chunk", "diagonal", "embedding", "gather", "index", "index_select", "narrow", "select", "slice", "sort", "split",
    "split_with_sizes", "take", "take_along_dim", "tensor_split", "topk", "unbind", "unfold",
})  # fmt: skip
CONSTANT, DATA, LINEAR = range(3)


class Traits(NamedTuple):
    """What an op's gradient does: whether it leaves elements out, and whether it multiplies what comes in by data."""

    selects: bool = False
    multiplies: bool = True


class _Found:
    """What was seen of a jaxpr's linear part."""

    chosen = leaves = multiplies = False

    def look(self, jaxpr: Any, states: Sequence[int], inside: bool) -> list[int]:
        """The states of the results, from those of the arguments."""
        known: dict[Any, int] = dict(zip(jaxpr.invars, states, strict=True))
        for eqn in jaxpr.eqns:
            given = [CONSTANT if isinstance(v, classes.Literal) else known.get(v, CONSTANT) for v in eqn.invars]
            state = max(given, default=CONSTANT)
            outs = [state] * len(eqn.outvars)
            if state == LINEAR:
                inner = inner_of(eqn)
                if inner is not None:
                    outs = self.look(inner.jaxpr, given, inside or eqn.params.get("name") == CHOSEN)
                else:
                    self._linear(eqn.primitive.name, given, inside)
                    self.chosen = self.chosen or any(map(_chooses, bodies_of(eqn)))
            known.update(zip(eqn.outvars, outs, strict=True))
        return [CONSTANT if isinstance(v, classes.Literal) else known.get(v, CONSTANT) for v in jaxpr.outvars]

    def _linear(self, name: str, given: list[int], inside: bool) -> None:
        if inside and (name in LEAVING or name == "select_n"):
            self.chosen = True
        elif name in LEAVING:
            self.leaves = True
        elif name in SCALING and sum(given) == LINEAR:
            pass  # by a constant
        elif name not in MOVING and name not in PASSING:
            self.multiplies = True


def _chooses(jaxpr: Any) -> bool:
    """Whether `chosen` is called in a jaxpr, or in those inside it."""
    return any([eqn.params.get("name") == CHOSEN or any(map(_chooses, bodies_of(eqn))) for eqn in jaxpr.eqns])


def bodies_of(eqn: Any) -> list[Any]:
    """The jaxprs that an equation calls, or that are a loop's body, or branches of a choice between programs."""
    inner = inner_of(eqn)
    closed = (inner,) if inner is not None else eqn.params.get("branches", ())
    return [each.jaxpr for each in ((eqn.params["jaxpr"],) if eqn.primitive.name == "scan" else closed)]


def linear_outputs(jaxpr: Any, linear: Sequence[bool]) -> list[bool]:
    """Which results are cotangents, where some of the arguments are."""
    return [state == LINEAR for state in _Found().look(jaxpr, [LINEAR if each else DATA for each in linear], False)]


CALLS = {"jit": "jaxpr", "pjit": "jaxpr", "closed_call": "call_jaxpr", "checkpoint": "jaxpr", "remat2": "jaxpr"}


def inner_of(eqn: Any) -> Any:
    """The ClosedJaxpr that an equation calls, if it is a plain call."""
    name = CALLS.get(eqn.primitive.name)
    if name is None:
        return None
    inner = eqn.params[name]
    return inner if isinstance(inner, classes.ClosedJaxpr) else classes.ClosedJaxpr(inner, ())


def traits(jaxpr: Any, inputs: int, indexing: bool) -> Traits:
    """Those of a gradient with ``inputs`` arguments that are data, and cotangents after them; ``indexing``: of an op in `INDEXING`."""
    found = _Found()
    found.look(jaxpr, [DATA] * inputs + [LINEAR] * (len(jaxpr.invars) - inputs), False)
    return Traits(found.chosen or (found.leaves and indexing and not found.multiplies), found.multiplies)


def selection_meets_product(steps: Sequence[int], edges: Any, traits_of: Any, roots: Sequence[tuple[int, int]]) -> bool:
    """Whether in a graph's walk a gradient that is multiplied by data may have elements that were selected out.

    ``steps`` are the nodes' numbers, newest first; ``traits_of[i]`` are those of node i, and ``edges[i]`` lead to its inputs.
    """
    if not any([traits_of[i].selects for i in steps]):
        return False
    whole = set(roots)
    partial: dict[int, set[tuple[int, int]]] = {}  # by node, the places of its outputs that some consumer narrows
    for i in steps:
        found = traits_of[i]
        narrow = i in partial and not partial[i] <= whole
        if found.multiplies and (narrow or found.selects):
            return True
        for place in edges[i]:
            if place is None:
                continue
            if narrow or found.selects:
                partial.setdefault(place[0], set()).add(place)
            else:
                whole.add(place)
    return False
