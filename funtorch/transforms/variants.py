"""A variant: one path of a compiled function through Python, as a program from arguments and cells to results and cells."""

from __future__ import annotations

import functools
import sys
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import jaxpr_as_fun

from ..core.backward import Graph, differentiate
from ..core.call import call
from ..core.engine import CONCRETE, ArrayImpl
from ..core.handle import Handle, make, value_of
from ..core.op import Op, is_differentiable
from ..core.recorder import Disagreement, Recording, Tracing, look_up
from ..core.tape import FreedNode, place_of
from ..core.trees import Spec, flatten, unflatten
from ..core.views import take
from ..errors import FuntorchError
from .surroundings import surroundings_of

NEW, ARGUMENT, CELL, STATIC = range(4)
NONE, ON_TAPE, ON_FREED, NEW_LEAF = range(4)  # a result's history
# A payload's references when only its Tensor holds it: the Tensor's, the list's of values, and getrefcount's own argument.
UNSHARED = 3


class GuardFailure(FuntorchError):
    """A decision came out otherwise than in the recording; nothing has been changed."""


class Variant:
    """A traced function. Calling it runs the program, compares the guards, and commits results and cells."""

    def __init__(self, function: Callable, recording: Recording, leaves: list[Any], spec: Spec, tensors: list[Handle]) -> None:
        self.recording = recording
        self.cells = list(recording.cells.values())
        self.grads = list(recording.grads.values())
        self.held = [t for t, there in self.grads if there]
        self.written = list(recording.written.values())
        self.written_grads = list(recording.written_grads.values())
        self.modules = list(recording.modules.values())
        self.avals = [(t._payload.shape, t._payload.dtype, t._requires) for t in self.cells]
        self.arguments = len(tensors)
        self.order = {id(t): i for i, t in enumerate(tensors)}
        self.cell_ids = frozenset(map(id, self.cells))
        self.guards: list[np.ndarray] = []
        self.kinds: list[tuple[int, Any]] = []  # of each leaf of the result: NEW, ARGUMENT i, CELL i or STATIC value
        self.history: list[int] = []  # of each NEW result, then of each written cell
        self.left: list[int] = []  # of each written gradient: 0 None, 1 a new Tensor, 2 the same Tensor
        groups = {
            id(g): (g, frozenset(path[-1] for c, path in recording.numbers if look_up(c, path[:-1]) is g))
            for g in _groups(recording)
        }
        self.surroundings = surroundings_of(function, [m for m, _ in self.modules], groups.values())
        self.op = self._traced(function, leaves, spec, tensors)
        changed = self.surroundings.changed()
        if changed is not None:
            self.surroundings.restore()
            raise Disagreement(f"it changes {changed!r}, which is no Tensor")
        self.records = ON_TAPE in self.history
        new = sum(kind == NEW for kind, _ in self.kinds)
        self.ends = (new, new + len(self.written), new + len(self.written) + sum(map(bool, self.left)))
        self.sources = list({id(g): g for g, _, _ in recording.draws}.values())
        self.kernel = self._kernel()

    # Tracing

    def _held_grads(self) -> list[Any]:
        """The gradients that the function finds."""
        return [t._grad for t in self.held]

    def _traced(self, function: Callable, leaves: list[Any], spec: Spec, tensors: list[Handle]) -> Op:
        recording = self.recording
        samples = [thunk_shape(signature) for _, _, signature in recording.draws]
        numbers = [as_array(look_up(container, path)) for container, path in recording.numbers]
        inputs = [value_of(t) for t in tensors] + [value_of(c) for c in self.cells] + [g._payload for g in self._held_grads()]
        specs = [jax.ShapeDtypeStruct(v.shape, v.dtype) for v in [*inputs, *numbers]] + samples

        def program(*arrays: Any) -> list[Any]:
            return self._run_on(arrays, function, leaves, spec, tensors, len(numbers))

        closed = jax.make_jaxpr(program)(*specs)
        name = getattr(function, "__name__", type(function).__name__)
        op = _op_of(closed, f"compiled_{name}")
        if ON_TAPE in self.history:
            handles = [*tensors, *self.cells]
            mask = tuple(t._requires and is_differentiable(v.dtype) for t, v in zip(handles, inputs, strict=False))
            mask += (False,) * (len(specs) - len(mask))
            cotangents = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in closed.out_avals if is_differentiable(a.dtype)]

            def gradient(*arrays: Any) -> list[Any]:
                given, pulled = arrays[: len(specs)], arrays[len(specs) :]
                return self._run_on(given, function, leaves, spec, tensors, len(numbers), (mask, pulled))

            # The tape of the run itself says what its gradient is: custom functions, parts without gradient, hooks.
            op.set_vjp(mask, _op_of(jax.make_jaxpr(gradient)(*specs, *cotangents), f"compiled_{name}_backward"))
        return op

    def _run_on(
        self, arrays: Sequence[Any], function: Callable, leaves: list[Any], spec: Spec, tensors: list[Handle], numbers: int,
        pull: tuple[tuple, Sequence[Any]] | None = None,
    ) -> list[Any]:  # fmt: skip
        """Run the function with these arrays in place of arguments, cells, gradients, numbers and draws.

        ``pull``, a mask of the arguments and cotangents of all differentiable results, asks for gradients instead.
        """
        targets = [*tensors, *self.cells, *self._held_grads()]
        values, rest = arrays[: len(targets)], arrays[len(targets) :]
        tracing = Tracing(self.recording, rest[numbers:], rest[:numbers])
        touched = {id(t): t for t in [*targets, *self.written, *(t for t, _ in self.grads), *self.written_grads]}
        before = [(t, dict(t.__dict__)) for t in touched.values()]
        try:
            for target, value in zip(targets, values, strict=True):
                target._payload = value
            held = {id(t): t._grad for t in self.written_grads}
            places = [(t._requires, t._node) for t in self.written]
            for t in self.written_grads:
                if id(t) not in {id(h) for h in self.held}:
                    t._grad = None
            with tracing:
                tracing.inside.update({id(t._grad): None for t in self.held})
                args, kwargs = unflatten(spec, leaves)
                starts = [place_of(t) for t, m in zip(targets, pull[0], strict=False) if m] if pull else []
                result = function(*args, **kwargs)
                if pull is not None:
                    return self._pulled(result, pull[1], starts, [t for t, m in zip(targets, pull[0], strict=False) if m])
            return self._collect(result, tensors, tracing, held, places)
        finally:
            for target, fields in before:
                target.__dict__.clear()
                target.__dict__.update(fields)

    def _collect(self, result: Any, tensors: list[Handle], tracing: Tracing, held: dict[int, Any], places: list) -> list[Any]:
        """The program's outputs: new results, written cells, gradients, guards; and what each is."""
        outs, self.out_spec = flatten(result)
        known = {id(c): (CELL, i) for i, c in enumerate(self.cells)} | {id(t): (ARGUMENT, i) for i, t in enumerate(tensors)}
        self.kinds = [known.get(id(o), (NEW, None)) if isinstance(o, Handle) else (STATIC, o) for o in outs]
        new = [o for o, (kind, _) in zip(outs, self.kinds, strict=True) if kind == NEW]
        if any(o._base is not None and tracing.is_outer(o._base) and not o._detached for o in new):
            raise Disagreement("a result is a view of a Tensor from outside")
        if tracing.unfinished():
            raise Disagreement("the function took another path than when it was recorded")
        self.history = [_history(t) for t in new]
        self.history += [
            0 if (t._requires, t._node) == place else _history(t) for t, place in zip(self.written, places, strict=True)
        ]
        self.left = [_left(t, held[id(t)]) for t in self.written_grads]
        grads = [t._grad for t, left in zip(self.written_grads, self.left, strict=True) if left]
        self.guards = [decision[1] for decision in self.recording.decisions]
        return [_array(value_of(t)) for t in [*new, *self.written, *grads]] + [_array(g) for g in tracing.guards]

    def _pulled(self, result: Any, cotangents: Sequence[Any], starts: list, targets: list[Handle]) -> list[Any]:
        """The gradients at ``starts`` (the places of ``targets``) of the results that are on the tape."""
        outs, _ = flatten(result)
        new = [o for o, (kind, _) in zip(outs, self.kinds, strict=True) if kind == NEW]
        given = iter(cotangents)
        pairs = []
        for tensor, mark in zip([*new, *self.written], self.history, strict=True):
            cotangent = next(given) if is_differentiable(value_of(tensor).dtype) else None
            if mark == ON_TAPE:
                pairs.append((tensor, make(cotangent)))
        _, grads = differentiate([t for t, _ in pairs], [c for _, c in pairs], starts, create_graph=False, retain_graph=True)
        return [
            jnp.zeros(t._payload.shape, t._payload.dtype) if g is None else _array(g._payload)
            for t, g in zip(targets, grads, strict=True)
        ]

    def _kernel(self) -> Callable:
        """The program as a kernel that may overwrite what is written anyway, where no guard can call it off."""
        if self.guards or self.records:
            return self.op.new_kernel()
        written = {id(t) for t in self.written}
        first = self.arguments
        self.donated = [first + i for i, c in enumerate(self.cells) if id(c) in written]
        regiven = {id(t) for t, left in zip(self.written_grads, self.left, strict=True) if left}
        self.donated += [first + len(self.cells) + i for i, t in enumerate(self.held) if id(t) in regiven]
        return jax.jit(self.op.fn, donate_argnums=tuple(self.donated))

    donated: list[int] = []
    fixed: list[tuple[int, Handle]] = []  # arguments that were one Tensor in all recordings: the function may know it otherwise

    # Running

    def _now(self, tensor: Handle, tensors: list[Handle]) -> Handle:
        """A Tensor of the recording, or the argument of this call that stands in its place."""
        place = self.order.get(id(tensor))
        return tensor if place is None else tensors[place]

    def touches(self, tensors: list[Handle]) -> tuple[list[Handle], list[Handle]]:
        """The Tensors that a call writes, and those whose gradients it writes."""
        return [self._now(t, tensors) for t in self.written], [self._now(t, tensors) for t in self.written_grads]

    def applies(self, tensors: list[Handle]) -> bool:
        """Whether modes, gradients' presence and cells' types are as they were in the recording."""
        if not self.surroundings.holds():
            return False
        if any(tensors[i] is not t for i, t in self.fixed) or any(id(t) in self.cell_ids for t in tensors):
            return False
        for module, training in self.modules:
            if module.training != training:
                return False
        for tensor, there in self.grads:
            if (self._now(tensor, tensors)._grad is not None) != there:
                return False
        for cell, (shape, dtype, requires) in zip(self.cells, self.avals, strict=True):
            payload = value_of(cell) if cell._base is not None else cell._payload
            if payload.shape != shape or payload.dtype != dtype or cell._requires != requires or type(payload) not in CONCRETE:
                return False
        return True

    def __call__(self, tensors: list[Handle]) -> Any:
        recording = self.recording
        saved = [(source, source.get_state()) for source in self.sources] if self.guards else []
        draws = [thunk() for _, thunk, _ in recording.draws]
        numbers = [as_array(look_up(container, path)) for container, path in recording.numbers]
        grads: list[Any] = [self._now(t, tensors)._grad for t in self.held]
        if self.records:
            made = call(self.op, [*tensors, *self.cells, *grads, *numbers, *draws])
            results: Sequence[Any] = [t._payload for t in made]
        else:
            made = None
            results = self._run([*tensors, *self.cells, *grads], [*numbers, *draws])
        new, written, end = self.ends
        if self.guards:
            self._check(results[end:], saved)
        self._commit_cells(
            [self._now(t, tensors) for t in self.written], results[new:written], None if made is None else made[new:written]
        )
        self._commit_grads([self._now(t, tensors) for t in self.written_grads], results[written:end])
        return self._result(results[:new], None if made is None else made[:new], tensors)

    def _run(self, handles: list[Handle], extra: list[Any]) -> Sequence[Any]:
        values = [h._payload for h in handles]
        for i in self.donated:
            if type(values[i]) is ArrayImpl and sys.getrefcount(values[i]) > UNSHARED:
                values[i] = jnp.array(values[i], copy=True)
        values += extra
        return self.kernel(*values)

    def _check(self, found: Sequence[Any], saved: list) -> None:
        for value, expected in zip(found, self.guards, strict=True):
            if not np.array_equal(np.asarray(value), expected, equal_nan=expected.dtype.kind in "fc"):
                for source, rng_state in saved:
                    source.set_state(rng_state)
                raise GuardFailure("a decision came out otherwise")

    def _commit_cells(self, cells: list[Handle], results: Sequence[Any], made: Sequence[Any] | None) -> None:
        marks = self.history[len(self.history) - len(self.written) :]
        for number, (cell, value) in enumerate(zip(cells, results, strict=True)):
            if made is not None and marks[number] == ON_TAPE:
                take(cell, made[number])
            else:
                cell._payload = value
            cell._version += 1

    def _commit_grads(self, tensors: list[Handle], results: Sequence[Any]) -> None:
        values = iter(results)
        for tensor, left in zip(tensors, self.left, strict=True):
            if left == 0:
                tensor._grad = None
            elif left == 1 or tensor._grad is None:
                tensor._grad = make(next(values))
            else:
                tensor._grad._payload = next(values)
                tensor._grad._version += 1

    def _result(self, results: Sequence[Any], made: Sequence[Any] | None, tensors: list[Handle]) -> Any:
        assert self.out_spec is not None
        leaves, number = [], 0
        for kind, what in self.kinds:
            if kind == NEW:
                leaves.append(self._new(number, results[number], None if made is None else made[number]))
                number += 1
            else:
                leaves.append({ARGUMENT: tensors, CELL: self.cells}[kind][what] if kind != STATIC else what)
        return unflatten(self.out_spec, leaves)

    def _new(self, number: int, value: Any, made: Any) -> Any:
        mark = self.history[number]
        if mark == ON_TAPE:
            return made
        new = make(value)
        if mark == ON_FREED:
            new._node = FreedNode()
        new._requires = mark != NONE
        return new

    out_spec: Spec | None = None

    def describe(self) -> str:
        """A line for `explain`."""
        return (
            f"{len(self.cells)} cells read, {len(self.written)} written, {len(self.written_grads)} gradients, "
            f"{len(self.recording.draws)} draws, {len(self.guards)} guards"
        )


def _groups(recording: Recording) -> list[Any]:
    """The optimisers' groups that hyperparameters were read from."""
    found = [look_up(container, path[:-1]) for container, path in recording.numbers]
    return [g for g in found if isinstance(g, dict)]


def _op_of(closed: Any, name: str) -> Op:
    flat = jaxpr_as_fun(closed)
    return Op(lambda *arrays: tuple(flat(*arrays)), name)


@functools.lru_cache(maxsize=1024, typed=True)
def _kept_array(value: Any) -> Any:
    return jnp.asarray(value)


def as_array(value: Any) -> Any:
    """A hyperparameter as an array; a Python number that stays the same is moved to the device once."""
    return _kept_array(value) if isinstance(value, (int, float)) else np.asarray(value)


def _history(tensor: Handle) -> int:
    if not tensor._requires:
        return NONE
    node: Any = tensor._node
    if node is None:
        return NEW_LEAF
    # A node that saved nothing is never freed itself: what lies behind it tells.
    return ON_FREED if any(each.is_freed() for each in Graph([place_of(tensor)]).nodes) else ON_TAPE


def _left(tensor: Handle, before: Any) -> int:
    if tensor._grad is None:
        return 0
    return 2 if tensor._grad is before else 1


def _array(value: Any) -> Any:
    return jnp.asarray(value)


def thunk_shape(signature: tuple) -> jax.ShapeDtypeStruct:
    """The shape and dtype of a draw, from its signature (kind, shape, dtype's name, ...)."""
    from ..dtypes import by_name

    return jax.ShapeDtypeStruct(signature[1], by_name(signature[2]).numpy)


warnings.filterwarnings("ignore", message="Some donated buffers were not usable")
