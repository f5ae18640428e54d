"""A variant: one path of a compiled function through Python, as a program from arguments and cells to results and cells."""

from __future__ import annotations

import sys
import warnings
import weakref
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.call import call
from ..core.engine import CONCRETE, ArrayImpl, Slot, programs
from ..core.handle import Handle, make, make_all, note_written, value_of
from ..core.shared_memory import given
from ..core.trees import LEAF, unflatten
from ..core.views import take
from ..core.watcher import look_up
from ..errors import FuntorchError
from .buckets import Padding
from .masking import cut, filled
from .numbers import as_array
from .outcomes import ARGUMENT, CELL, FRESH, GONE, GRADIENT, KNOWN, NEW, ON_TAPE, SAME, STATIC, result_of
from .standing import Place, same_chain
from .surroundings import Surroundings
from .tracing import Trace

# References to a payload that only its Tensor holds: the Tensor's, that of the list of values, and getrefcount's argument.
UNSHARED = 3


class GuardFailure(FuntorchError):
    """A decision came out otherwise than in the recording; nothing has been changed."""


class Variant:
    """A traced function. Calling it runs the program, compares the guards, and commits results and cells."""

    cause = ""  # why it was made
    committed = False  # whether it has written its cells once

    def __init__(self, trace: Trace, surroundings: Surroundings, earlier: list[weakref.ref]) -> None:
        recording, tensors = trace.recording, trace.tensors
        self.surroundings = surroundings
        self.op = trace.op
        self.taken = None if len(trace.taken) == len(tensors) else trace.taken
        self.bases = [i for i in trace.taken if i >= trace.arguments.given]
        self.cells = trace.cells
        self.given = given.count
        self.sources = [c for c in self.cells if c._source is not None]
        first = [recording.first[id(c)] for c in self.cells]
        self.avals = [(fields["_payload"].shape, fields["_payload"].dtype) for fields in first]
        self.requires = [fields.get("_requires", False) for fields in first]
        self.versions: list[int] = []
        self.cell_ids = frozenset(map(id, self.cells))
        self.looked_at = Place([t for t, _ in recording.grads.values()], tensors)
        self.there = [there for _, there in recording.grads.values()]
        self.held = Place(trace.held, tensors)
        self.written = Place(trace.written, tensors)
        self.whole = trace.written_cells if trace.written_cells == len(trace.written) and not self.sources else 0
        self.written_grads = Place(trace.written_grads, tensors)
        self.left = trace.left
        self.results, self.spec = trace.results, trace.spec
        self.history, self.written_history = trace.history, trace.written_history
        self.records = trace.records
        self.guards = trace.guards
        self.draws = [thunk for _, thunk, _ in recording.draws]
        self.generators = list({id(g): g for g, _, _ in recording.draws}.values())
        self.numbers = list(recording.numbers)
        self.effects = [thunk for thunk, _ in recording.effects]
        # An argument that was one Tensor in all recordings: the function may know it otherwise.
        self.fixed = [(i, ref) for i, (t, ref) in enumerate(zip(tensors, earlier, strict=True)) if ref() is t]
        self.chains = self._chains(trace)
        self.flagged, self.flags = Place([t for t, _ in trace.flags], tensors), [flag for _, flag in trace.flags]
        values, written = len(self.history), len(trace.written)
        fresh = sum(left in (FRESH, SAME) for left, _ in self.left)
        self.ends = (values, values + written, values + written + fresh)
        self.all_fresh = bool(self.left) and all(left == FRESH for left, _ in self.left)
        self.plain = self._plain()
        self.padding, self.cuts = trace.padding, trace.cuts
        self.donated: list[int] = []
        self.kernel = self._kernel(trace)

    def _chains(self, trace: Trace) -> list[tuple[int, tuple]]:
        """Arguments that are views of something the function writes: which elements they show is part of the program."""
        written = {id(t) for t in trace.written}
        given = enumerate(trace.tensors[: trace.arguments.given])
        return [(i, t._chain) for i, t in given if t._base is not None and (id(t._base) in written or id(t) in written)]

    def _plain(self) -> bool:
        """Whether the result is one new Tensor."""
        known = any(left == KNOWN for left, _ in self.left)
        return self.spec is LEAF and self.results[0][0] == NEW and len(self.history) == 1 and not known

    def _kernel(self, trace: Trace) -> Callable:
        """The program as a kernel that may overwrite what is written anyway, where no guard can call it off."""
        if self.records:
            for op, shapes in ((self.op, trace.inputs), (trace.pull, trace.pull_inputs)):
                programs.add(op.programs, tuple(shapes), Slot(None, 0, False))
        if self.guards or self.records:
            return trace.kernel(())
        first = len(trace.taken)
        self.donated = list(range(first, first + trace.written_cells))
        regiven = {id(t) for t, (left, _) in zip(trace.written_grads, self.left, strict=True) if left in (FRESH, SAME)}
        self.donated += [first + len(self.cells) + i for i, t in enumerate(trace.held) if id(t) in regiven]
        return trace.kernel(tuple(self.donated))

    # Whether it applies

    def obstacle(self, tensors: list[Handle]) -> str | None:
        """Why this program is not for a call with these arguments; None if it is."""
        changed = self.surroundings.changed()
        if changed is not None:
            return f"{changed} has changed"
        for i, ref in self.fixed:
            if ref() is not tensors[i]:
                return f"Tensor argument {i} was always the same Tensor, and is another"
        if self.cell_ids and not self.cell_ids.isdisjoint(map(id, tensors)):
            return "an argument is a Tensor that the function also reads from elsewhere"
        if [t._grad is not None for t in self.looked_at.now(tensors)] != self.there:
            return "a gradient is there that was None, or the other way round"
        for i, chain in self.chains:
            if not same_chain(tensors[i]._chain, chain):
                return f"Tensor argument {i} is written, and is a view of other elements"
        for i in self.bases:
            value_of(tensors[i])
        if self.given != given.count:
            self.given, self.sources = given.count, [c for c in self.cells if c._source is not None]
        for cell in self.sources:
            value_of(cell)
        if [c._requires for c in self.cells] != self.requires:
            return "requires_grad of a Tensor that the function reads has changed"
        return self._changed_cell()

    def _changed_cell(self) -> str | None:
        versions = [c._writes for c in self.cells]
        if versions == self.versions:
            return None
        for cell, (shape, dtype) in zip(self.cells, self.avals, strict=True):
            payload = cell._payload
            if payload.shape != shape or payload.dtype != dtype or type(payload) not in CONCRETE:
                return f"a Tensor that the function reads is {payload.dtype}{list(payload.shape)}, and was {dtype}{list(shape)}"
        self.versions = versions
        return None

    # Running

    def touches(self, tensors: list[Handle]) -> tuple[list[Handle], list[Handle]]:
        """The Tensors that a call writes, and those whose gradients it writes."""
        return self.written.now(tensors), self.written_grads.now(tensors)

    def __call__(self, tensors: list[Handle]) -> Any:
        marks = [source.mark() for source in self.generators] if self.generators else ()
        try:
            made, results = self._ran(tensors)
            if self.guards:
                self._check(results[self.ends[2] :])
        except BaseException:
            for source, mark in zip(self.generators, marks, strict=True):
                source.go_back(mark)
            raise
        values, written, end = self.ends
        if written > values:
            self._commit_cells(tensors, results[values:written], None if made is None else made[values:written])
        grads = self._commit_grads(tensors, results[written:end]) if self.left else ()
        result = self._result(results, made, tensors, grads)
        for effect in self.effects:
            effect()
        for tensor, flag in zip(self.flagged.now(tensors), self.flags, strict=True) if self.flags else ():
            tensor._requires = flag
        return result

    def _ran(self, tensors: list[Handle]) -> tuple[Any, Sequence[Any]]:
        """The program's outputs: Tensors on the tape (or None), and arrays."""
        extra = [as_array(look_up(container, path)) for container, path in self.numbers] if self.numbers else []
        if self.draws:
            extra += [thunk() for thunk in self.draws]
        taken = tensors if self.taken is None else [tensors[i] for i in self.taken]
        handles = [*taken, *self.cells]
        if self.held.fixed:
            handles += [t._grad for t in self.held.now(tensors)]
        if self.records:
            made = call(self.op, [*handles, *extra])
            return made, [t._payload for t in made]
        values = [h._payload for h in handles]
        if self.donated:
            self._protect(values)
        if self.padding is not None:
            return None, self._padded(values, extra, self.padding, self.padding.now(tensors))
        return None, self.kernel(*values, *extra)

    def _padded(self, values: list[Any], extra: list[Any], padding: Padding, size: int) -> list[Any]:
        """Run on arguments that are filled up to the bucket, and cut the results."""
        numbers = range(len(values)) if self.taken is None else self.taken
        for i, number in enumerate(numbers):
            if number in padding.places:
                values[i] = filled(values[i], padding.places[number], padding.bucket)
        results = list(self.kernel(*values, *extra, np.int64(size)))
        for i, place in enumerate(self.cuts):
            if place is not None:
                results[i] = cut(results[i], place, size)
        return results

    def _protect(self, values: list[Any]) -> None:
        """Copy what is about to be overwritten where others hold it too."""
        counts = list(map(sys.getrefcount, values))
        for i in self.donated:
            if counts[i] > UNSHARED and type(values[i]) is ArrayImpl:
                values[i] = jnp.array(values[i], copy=True)

    def _check(self, found: Sequence[Any]) -> None:
        for value, (asked, expected, place) in zip(found, self.guards, strict=True):
            now = np.asarray(value)
            if now.tobytes() != expected.tobytes() and not np.array_equal(now, expected, equal_nan=expected.dtype.kind in "fc"):
                raise GuardFailure(f"{asked} at {place} came out as {_short(now)}, and was {_short(expected)}")

    def _commit_cells(self, tensors: list[Handle], results: Sequence[Any], made: Sequence[Any] | None) -> None:
        cells = self.written.now(tensors)
        if self.whole and not self.committed and self._reshapes(results):
            self.whole = 0
        self.committed = True
        if made is None and self.whole == len(cells):
            versions = [v + 1 for v in self.versions[: self.whole]]
            for cell, value, version in zip(cells, results, versions, strict=True):
                cell._payload = value
                cell._writes = version
            self.versions[: self.whole] = versions
            for cell in self.sources:
                note_written(cell)
            return
        for number, (cell, value) in enumerate(zip(cells, results, strict=True)):
            if made is not None and self.written_history[number] == ON_TAPE:
                take(cell, made[number])
            else:
                cell._payload = value
            cell._writes += 1
            note_written(cell)

    def _reshapes(self, results: Sequence[Any]) -> bool:
        """Whether a cell has another shape or dtype afterwards, so that it isn't this program's cell any more."""
        return any(
            value.shape != shape or value.dtype != dtype for value, (shape, dtype) in zip(results, self.avals, strict=False)
        )

    def _commit_grads(self, tensors: list[Handle], results: Sequence[Any]) -> list[Handle]:
        targets = self.written_grads.now(tensors)
        if self.all_fresh:
            for tensor, grad in zip(targets, make_all(results), strict=True):
                tensor._grad = grad
            return targets
        values = iter(results)
        for tensor, (left, _) in zip(targets, self.left, strict=True):
            if left == GONE:
                tensor._grad = None
            elif left == FRESH or (left == SAME and tensor._grad is None):
                tensor._grad = make(next(values))
            elif left == SAME:
                tensor._grad._payload = next(values)
                tensor._grad._writes += 1
                note_written(tensor._grad)
        return targets

    def _result(self, results: Sequence[Any], made: Any, tensors: list[Handle], grads: Sequence[Any]) -> Any:
        if self.plain:
            return self._new(0, results, made)
        found: dict[int, Any] = {}
        for tensor, (left, where) in zip(grads, self.left, strict=True) if self.left else ():
            if left == KNOWN:
                tensor._grad = self._at(where, found, results, made, tensors, grads)
        leaves = [self._at(where, found, results, made, tensors, grads) for where in self.results]
        return unflatten(self.spec, leaves)

    def _at(self, where: Any, found: dict, results: Any, made: Any, tensors: list[Handle], grads: Sequence[Any]) -> Any:
        """The Tensor at a place of `outcomes`; ``found`` has those that were made already."""
        kind, what = where
        if kind == NEW:
            if what not in found:
                found[what] = self._new(what, results, made)
            return found[what]
        if kind == ARGUMENT:
            return tensors[what]
        if kind == CELL:
            return self.cells[what]
        if kind == GRADIENT:
            return grads[what]._grad
        if kind == STATIC:
            return what.copy() if type(what) is np.ndarray else what
        key = id(what)
        if key not in found:
            found[key] = what.made(self._at(what.base, found, results, made, tensors, grads), results, tensors)
        return found[key]

    def _new(self, number: int, results: Sequence[Any], made: Any) -> Any:
        history = self.history[number]
        return made[number] if history == ON_TAPE else result_of(results[number], history)

    def describe(self) -> str:
        """A line for `explain`."""
        return (
            f"{len(self.cells)} cells read, {len(self.written.fixed)} written, {len(self.left)} gradients, "
            f"{len(self.draws)} draws, {len(self.guards)} guards"
        )


def _short(value: np.ndarray) -> str:
    return str(value.item()) if value.size == 1 else f"{value.dtype}{list(value.shape)}"


warnings.filterwarnings("ignore", message="Some donated buffers were not usable")
