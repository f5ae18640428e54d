"""Tracing: a function's second life, on JAX tracers in place of its arguments and cells, which gives the program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp

from ..core.backward import differentiate
from ..core.call import call
from ..core.handle import Handle, make, value_of
from ..core.op import Op, is_differentiable
from ..core.recorder import Recording
from ..core.retracing import Tracing
from ..core.state import state
from ..core.tape import place_of, set_place
from ..core.trees import unflatten
from ..core.watcher import Disagreement, look_up
from ..dtypes import by_name
from .arguments import Arguments
from .buckets import Padding
from .masking import Sizes, Unpaddable, masked
from .numbers import as_array
from .outcomes import FRESH, ON_TAPE, SAME, STATIC, VIEW, Outcomes, array, history_of
from .programs import program_of


class Trace:
    """The program of one path through ``function``, and the description of what it takes and gives.

    It takes the arguments' Tensors, ``cells``, the gradients of ``held``, hyperparameters and draws; it gives ``values``,
    the written cells, the gradients that are FRESH or SAME, and the guards.
    """

    def __init__(self, function: Callable, recording: Recording, arguments: Arguments, padding: Padding | None = None) -> None:
        self.function = function
        self.padding = padding
        self.cuts: list[Any] = []  # where each value is padded
        self.recording = recording
        self.arguments = arguments
        written = recording.written
        cells = recording.cells
        # Written cells come first, so that a run can treat them as one piece.
        self.cells = [c for k, c in cells.items() if k in written] + [c for k, c in cells.items() if k not in written]
        self.written = [c for k, c in cells.items() if k in written] + [t for k, t in written.items() if k not in cells]
        self.written_cells = len(self.written) - sum(k not in cells for k in written)
        self.held = [t for t, there in recording.grads.values() if there]
        self.written_grads = list(recording.written_grads.values())
        used = recording.used
        self.tensors = arguments.tensors
        self.taken = [i for i, t in enumerate(self.tensors) if i < arguments.given or id(t) in used]
        self.op = self._program()

    def _targets(self) -> list[Handle]:
        return [*(self.tensors[i] for i in self.taken), *self.cells]

    def _program(self) -> Op:
        recording = self.recording
        samples = [_draw_shape(signature) for _, _, signature in recording.draws]
        numbers = [as_array(look_up(container, path)) for container, path in recording.numbers]
        first = self.recording.first
        inputs = [first[id(t)]["_payload"] for t in self._targets()]
        inputs += [value_of(t) for t in self.held]  # a gradient is like its Tensor
        specs = [jax.ShapeDtypeStruct(v.shape, v.dtype) for v in [*inputs, *numbers]] + samples
        self.numbers = len(numbers)
        closed = jax.make_jaxpr(self._run)(*specs) if self.padding is None else self._masked(specs, self.padding)
        name = getattr(self.function, "__name__", type(self.function).__name__)
        self.outputs = [(a.shape, a.dtype) for a in closed.out_avals]
        self.inputs = [(s.shape, s.dtype) for s in specs]
        if not self.records:
            self.program = program_of(closed, f"compiled_{name}", None)
            return self.program.op
        mask = tuple(
            first[id(t)].get("_requires", False) and is_differentiable(first[id(t)]["_payload"].dtype) for t in self._targets()
        )
        mask += (False,) * (len(specs) - len(mask))
        cotangents = [jax.ShapeDtypeStruct(a.shape, a.dtype) for a in closed.out_avals if is_differentiable(a.dtype)]

        def gradient(*arrays: Any) -> list[Any]:
            return self._run(*arrays[: len(specs)], pull=(mask, arrays[len(specs) :]))

        # The tape of the run itself says what its gradient is: custom functions, parts without gradient, hooks.
        self.pull = program_of(jax.make_jaxpr(gradient)(*specs, *cotangents), f"compiled_{name}_backward", None).op
        self.pull_inputs = [(s.shape, s.dtype) for s in [*specs, *cotangents]]
        self.program = program_of(closed, f"compiled_{name}", (mask, self.pull))
        self.program.op.set_vjp(mask, self.pull)
        return self.program.op

    def _masked(self, specs: list, padding: Padding) -> Any:
        """The program for a bucket; its last argument is the size."""

        def trace(size: int) -> tuple[list, Any, list]:
            shapes = [
                padding.shape(self.taken[i], s.shape, size) if i < len(self.taken) else s.shape for i, s in enumerate(specs)
            ]
            sized = [jax.ShapeDtypeStruct(shape, s.dtype) for shape, s in zip(shapes, specs, strict=True)]
            return sized, jax.make_jaxpr(self._run)(*sized), self.results

        # The program's own size comes last, since what a trace finds is kept; the others tell what depends on the size.
        sizes = (padding.bucket, 2 * padding.bucket + 3, padding.bucket // 2 + 1)
        traces = [trace(size) for size in reversed(sizes)][::-1]
        sized, _, results = traces[0]
        if self.records:
            raise Unpaddable("its results are differentiated outside of it")
        if any(kind == VIEW for kind, _ in results):
            raise Unpaddable("it returns a view")
        static = [[what for kind, what in found if kind == STATIC] for _, _, found in traces]
        if any(values != static[0] for values in static):
            raise Unpaddable("it returns a number that depends on the size")
        run, places = masked([closed for _, closed, _ in traces], Sizes(*sizes))
        self.cuts = places[: len(self.history)]
        if any(place is not None for place in places[len(self.history) :]):
            raise Unpaddable("it writes, or decides by, Tensors of that size")
        return jax.make_jaxpr(lambda *a: run(a[-1], *a[:-1]))(*sized, jax.ShapeDtypeStruct((), "int64"))

    def kernel(self, donated: tuple[int, ...]) -> Callable:
        """The program, compiled; it may overwrite these arguments."""
        return self.program.kernel(donated)

    def _run(self, *arrays: Any, pull: tuple[tuple, Sequence[Any]] | None = None) -> list[Any]:
        """Run the function with these arrays in place of all that the program takes.

        ``pull``, a mask of the arguments and cotangents of all differentiable results, asks for gradients instead.
        """
        targets = self._targets()
        values, rest = arrays[: len(targets)], arrays[len(targets) :]
        slopes, rest = rest[: len(self.held)], rest[len(self.held) :]
        tracing = Tracing(self.recording, rest[self.numbers :], rest[: self.numbers])
        tracing.suited = self.padding is None  # padded programs are masked, for which the plain forms do
        touched = {
            id(t): t
            for t in [
                *self.tensors,
                *targets,
                *self.written,
                *self.held,
                *(t for t, _ in self.recording.grads.values()),
                *self.written_grads,
            ]
        }
        before = [(t, dict(t.__dict__)) for t in touched.values()]
        try:
            for t in [*self.tensors, *self.cells]:
                t.__dict__.clear()
                t.__dict__.update(self.recording.first[id(t)])
            self.flags_before = [t._requires for t in [*self.tensors, *self.cells]]
            for target, value in zip(targets, values, strict=True):
                target._payload = value
                if target._node is not None:
                    _uproot(target)
            for t in self.written_grads:
                t._grad = None
            with tracing:
                for t, slope in zip(self.held, slopes, strict=True):  # the recorded call may have cleared them
                    t._grad = make(slope)
                starts = [place_of(t) for t, m in zip(targets, pull[0], strict=False) if m] if pull else []
                self.found = {id(t): t._grad for t in self.written_grads}
                self.places = [(t._requires, t._node) for t in self.written]
                args, kwargs = unflatten(self.arguments.spec, self.arguments.leaves)
                result = self.function(*args, **kwargs)
                if pull is not None:
                    return self._pulled(
                        result, pull[1], starts, [t for t, m in zip(targets, pull[0], strict=False) if m], tracing
                    )
                return self._collect(result, tracing)
        finally:
            for target, fields in before:
                target.__dict__.clear()
                target.__dict__.update(fields)

    def _outcomes(self, result: Any, tracing: Tracing) -> Outcomes:
        outcomes = Outcomes(result, self.tensors, self.arguments.given, self.cells, tracing)
        self.left = outcomes.gradients(self.written_grads, self.found)
        self.results = outcomes.results()
        return outcomes

    def _collect(self, result: Any, tracing: Tracing) -> list[Any]:
        """The program's outputs."""
        outcomes = self._outcomes(result, tracing)
        if tracing.unfinished():
            raise Disagreement("the function took another path than when it was recorded")
        self.spec = outcomes.spec
        self.history = outcomes.history
        self.written_history = [
            0 if (t._requires, t._node) == place else history_of(t) for t, place in zip(self.written, self.places, strict=True)
        ]
        self.records = ON_TAPE in self.history or ON_TAPE in self.written_history
        grads = [t._grad for t, (left, _) in zip(self.written_grads, self.left, strict=True) if left in (FRESH, SAME)]
        self.guards = self.recording.decisions
        self.flags = self._flags()
        outputs = [
            *outcomes.values,
            *map(value_of, self.written),
            *[value_of(g) for g in grads if g is not None],
            *tracing.guards,
        ]
        return [array(value) for value in outputs]

    def _flags(self) -> list[tuple[Handle, bool]]:
        """Leaves from outside whose ``requires_grad`` the function has changed."""
        outer = [*self.tensors, *self.cells]
        return [
            (t, t._requires) for t, flag in zip(outer, self.flags_before, strict=True) if t._requires != flag and t._node is None
        ]

    def _pulled(self, result: Any, cotangents: Sequence[Any], starts: list, targets: list[Handle], tracing: Tracing) -> list[Any]:
        """The gradients at ``starts`` (the places of ``targets``) of the results that are on the tape."""
        outcomes = self._outcomes(result, tracing)
        given = iter(cotangents)
        pairs = []
        made = [*outcomes.made, *self.written]
        for tensor, value, mark in zip(made, [*outcomes.values, *map(value_of, self.written)], self.marks(), strict=True):
            cotangent = next(given) if is_differentiable(value.dtype) else None
            if mark == ON_TAPE and tensor is not None:
                pairs.append((tensor, make(cotangent)))
        _, grads = differentiate([t for t, _ in pairs], [c for _, c in pairs], starts, create_graph=False, retain_graph=True)
        return [
            jnp.zeros(t._payload.shape, t._payload.dtype) if g is None else array(g._payload)
            for t, g in zip(targets, grads, strict=True)
        ]

    def marks(self) -> list[int]:
        """The history of each value and each written cell."""
        return [*self.history, *self.written_history]


_ORIGIN = Op(lambda x: x, "clone")


def _uproot(tensor: Handle) -> None:
    """Let a Tensor that is no leaf begin a tape of its own: what lies behind it is not the program's."""
    leaf = make(tensor._payload)
    leaf._requires = True
    before, state.grad = state.grad, True
    try:
        set_place(tensor, *place_of(call(_ORIGIN, (leaf,))))
    finally:
        state.grad = before


def _draw_shape(signature: tuple) -> jax.ShapeDtypeStruct:
    """The shape and dtype of a draw, from its signature (kind, shape, dtype's name, ...)."""
    return jax.ShapeDtypeStruct(signature[1], by_name(signature[2]).numpy)
