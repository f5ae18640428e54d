"""The lift: a Python function of Tensors as a pure function of arrays, with what it takes from outside as further inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp

from ...core.backward import Graph
from ...core.handle import Handle, value_of
from ...core.tape import place_of
from ...core.trees import Spec, flatten, unflatten
from ...errors import OpError
from .meeting import Met
from .sampling import WORDS
from .watching import Lifting, argument_of

OTHERS = -1
ARGUMENT = "{}: its function changes its argument {} of shape {} in place; let it work on a clone, and return that"


class Static(NamedTuple):
    """A part of a result that is no Tensor."""

    value: Any


class Body(NamedTuple):
    """A traced function: ``closed`` maps (arguments, inputs from outside, keys) to (Tensors of the result, written ones, checks)."""

    closed: Any
    leaves: list[Static | None]  # of the result: None for a Tensor
    spec: Spec
    avals: list[Any]  # of the Tensors
    follows: list[bool]  # whether derivatives go through each of them
    reaches: list[set[int]]  # the arguments through which they go for each of them; OTHERS: there are others

    def result(self, tensors: Sequence[Any]) -> Any:
        """The result with these Tensors in it."""
        given = iter(tensors)
        return unflatten(self.spec, [next(given) if leaf is None else leaf.value for leaf in self.leaves])


def _reached(result: Handle, nodes: Sequence[Any]) -> set[int]:
    """Which arguments, whose places on the tape are ``nodes``, derivatives of a result go to."""
    if not result._requires:
        return set()
    graph = Graph([place_of(result)])
    found = {number for number, node in enumerate(nodes) if node is not None and node in graph.index}
    return found if len(graph.leaves) == len(found) else found | {OTHERS}


def trace(met: Met, function: Callable, spec: Spec, avals: Sequence[Any], requires: Sequence[bool]) -> Body:
    """Trace ``function(*args)`` with arguments of structure ``spec`` once; ``met`` may grow."""
    found: dict[str, Any] = {}
    outer, sources = met.inputs(), list(met.sources)

    def run(*arrays: Any) -> list[Any]:
        given, rest = arrays[: len(avals)], arrays[len(avals) :]
        watch = found["watch"] = Lifting(met)
        with watch:
            for tensor, array in zip(outer, rest, strict=False):
                watch.put(tensor, array)
            watch.keys = dict(zip(sources, rest[len(outer) :], strict=True))
            arguments = [argument_of(a, r) for a, r in zip(given, requires, strict=True)]
            nodes = [t._node for t in arguments]
            leaves, found["spec"] = flatten(function(*unflatten(spec, arguments)))
            for number, tensor in enumerate(arguments):
                if tensor._writes:
                    raise OpError(ARGUMENT.format(met.name, number, list(avals[number].shape)))
            outs = [leaf for leaf in leaves if isinstance(leaf, Handle)]
            found["leaves"] = [None if isinstance(leaf, Handle) else Static(leaf) for leaf in leaves]
            results = watch.finish(outs)
            found["follows"] = [t._requires for t in outs]
            found["reaches"] = [_reached(t, nodes) for t in outs]
        return results

    words = jax.ShapeDtypeStruct((WORDS,), jnp.int64)
    specs = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in (*avals, *map(value_of, outer))] + [words] * len(sources)
    try:
        closed = jax.make_jaxpr(run)(*specs)
        found["watch"].close()
    except Exception as error:  # the function's own: JAX's notes on it are of no use
        error.__notes__ = [note for note in getattr(error, "__notes__", []) if "JAX" not in note]
        raise
    outs = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in closed.out_avals[: found["leaves"].count(None)]]
    return Body(closed, found["leaves"], found["spec"], outs, found["follows"], found["reaches"])
