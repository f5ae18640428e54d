"""Nodes whose backward is Python over Tensors: custom functions, checkpoints.

A *body* has ``forward(*tensors) -> list of Tensors`` and ``backward(*cotangents) -> list of Tensors or None``, and may keep Tensors
between the two. It always runs on the Tensors that the user gave it, with all their wrappings; each level below gets a node of
its own, whose backward wraps what comes in, runs the body, and unwraps what it gives. So a custom function differentiates at
every level, like an op.
"""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator, Sequence
from typing import Any, Protocol

import jax.numpy as jnp

from ..errors import OpError
from .backward import Graph, differentiate
from .batching import VmapLevel, at_front, lowered
from .call import call
from .handle import Handle, make, value_of, without_history
from .levels import WRAPPED, Batched, Dual, Level, inner_of
from .op import Op, is_differentiable
from .state import state
from .tape import FREED_MESSAGE, next_sequence, place_of, zeros

_SUM = Op(lambda x: jnp.sum(x, axis=0), "sum")


@functools.lru_cache(maxsize=None)
def _to_axis(axis: int) -> Op:
    return Op(lambda x: jnp.moveaxis(x, 0, axis), "movedim")


class Body(Protocol):
    """What a Python node runs. ``name`` is shown by ``grad_fn``; ``materialize``: absent cotangents come as zeros."""

    name: str

    @property
    def materialize(self) -> bool: ...

    def forward(self, *tensors: Any) -> list[Any]: ...

    def backward(self, *cotangents: Any) -> list[Any]: ...

    def jvp(self, tangents: list[Any]) -> list[Any] | None: ...

    def differentiable(self, number: int) -> bool: ...


class Application:
    """A body applied once: its arguments as each level sees them. Frame 0 is below all levels, the last is the user's."""

    def __init__(self, body: Body, levels: list[Level], tensors: list[Any]) -> None:
        self.body = body
        self.levels = levels
        self.frames = [tensors]
        self.axes: list[list[int | None]] = []  # for each level, where it maps each argument
        for level in reversed(levels):
            lower = [_below(level, t) for t in self.frames[0]]
            self.axes.insert(0, [_axis(level, t) for t in self.frames[0]])
            self.frames.insert(0, lower)

    def depth(self, frame: int) -> int:
        return self.levels[frame - 1].depth if frame else 0

    def lifted(self, frame: int, tensors: Sequence[Any]) -> list[Any]:
        """Tensors of a frame as the user's code sees them: the same in each lane where they aren't mapped, without tangent."""
        found = list(tensors)
        for level in self.levels[frame:]:
            found = [None if t is None else _wrapped(level, t) for t in found]
        return found

    def backward(self, frame: int, cotangents: Sequence[Any]) -> list[Any]:
        """The body's backward for cotangents of ``frame``: gradients of that frame's arguments."""
        with _open(self.levels[frame:]):
            grads = self.body.backward(*self.lifted(frame, cotangents))
            for number in range(len(self.levels) - 1, frame - 1, -1):
                grads = [None if g is None else _lowered(self.levels[number], g, axis) for g, axis in zip(grads, self.axes[number], strict=True)]
        return grads

    def tangents(self, frame: int, outs: list[Any]) -> list[Any]:
        """The outputs' tangents for the jvp level just above ``frame``, as Tensors of ``frame``."""
        level = self.levels[frame]
        given = [_tangent(level, t) for t in self.frames[frame + 1]]
        if all(t is None for t in given):
            return [None] * len(outs)
        with _open(self.levels[frame:]):
            dots = self.body.jvp(self.lifted(frame, given))
            if dots is not None:
                for upper in reversed(self.levels[frame:]):
                    dots = [None if d is None else _lanes(upper, d) for d in dots]
                return dots
        return self._transposed(frame, outs, given)

    def _transposed(self, frame: int, outs: list[Any], tangents: list[Any]) -> list[Any]:
        """The derivative along ``tangents``: the body's backward is linear in the cotangents, so transpose it."""
        cotangents = [zeros((out._payload.shape, out._payload.dtype)) for out in outs]
        for number, cotangent in enumerate(cotangents):
            cotangent._requires = self.body.differentiable(number) and is_differentiable(outs[number]._payload.dtype)
            cotangent._level = self.depth(frame)
        grads = self.backward(frame, cotangents)
        pairs = [(g, t) for g, t in zip(grads, tangents, strict=True) if g is not None and t is not None and g._requires]
        if not pairs:
            return [None] * len(outs)
        targets = [place_of(c) for c in cotangents if c._requires]
        _, found = differentiate([g for g, _ in pairs], [t for _, t in pairs], targets, create_graph=True, retain_graph=True)
        ours = {place[0] for place in targets}
        given = iter([f if f is None or _reaches(f, ours) else without_history(f) for f in found])
        return [next(given) if c._requires else None for c in cotangents]


def _reaches(tensor: Any, leaves: set) -> bool:
    """Whether a Tensor depends on leaves other than these."""
    return tensor._requires and any(leaf not in leaves for leaf in Graph([place_of(tensor)]).leaves)


def _wrapped(level: Level, tensor: Any) -> Any:
    axis = 0 if isinstance(level, VmapLevel) else None
    payload = Batched(level, tensor, axis) if isinstance(level, VmapLevel) else Dual(level, tensor, None)
    return make(payload, level.depth)


def _belongs(level: Level, tensor: Any) -> bool:
    payload = value_of(tensor)
    return type(payload) in WRAPPED and payload.level is level


def _below(level: Level, tensor: Any) -> Any:
    return inner_of(tensor._payload) if _belongs(level, tensor) else lowered(tensor, level.depth)


def _axis(level: Level, tensor: Any) -> int | None:
    return tensor._payload.axis if _belongs(level, tensor) and isinstance(level, VmapLevel) else None


def _tangent(level: Level, tensor: Any) -> Any:
    return tensor._payload.tangent if _belongs(level, tensor) else None


def _lanes(level: Level, tensor: Any) -> Any:
    """A Tensor one level down: lanes first, or the primal."""
    if not isinstance(level, VmapLevel):
        return _below(level, tensor)
    payload = tensor._payload if _belongs(level, tensor) else Batched(level, lowered(tensor, level.depth), None)
    return at_front(payload, level.size)


def _lowered(level: Level, grad: Any, axis: int | None) -> Any:
    """A gradient one level down: for an argument that isn't mapped, the sum over lanes."""
    if not isinstance(level, VmapLevel):
        return _below(level, grad)
    lanes = _lanes(level, grad)
    if axis is None:
        return call(_SUM, (lanes,))
    return lanes if axis == 0 else call(_to_axis(axis), (lanes,))


@contextlib.contextmanager
def _open(levels: list[Level]) -> Iterator[None]:
    """Levels open again as the innermost ones, so that what was saved in them can be used."""
    held = [(level.depth, level.alive) for level in levels]
    for level in levels:
        level.__enter__()
    try:
        yield
    finally:
        for level, (depth, alive) in zip(reversed(levels), reversed(held), strict=True):
            level.__exit__()
            level.depth, level.alive = depth, alive


class PythonNode:
    """A node of the tape with a body. It always runs node by node."""

    __slots__ = (
        "application", "frame", "marked", "edges", "seq", "outs", "hooks", "prehooks", "retained", "trace", "level", "freed", "__weakref__",
    )  # fmt: skip

    def __init__(self, application: Application, frame: int, marked: list[int], outs: tuple) -> None:
        self.application = application
        self.frame = frame
        self.marked = marked
        self.edges = tuple(place_of(application.frames[frame][i]) for i in marked)
        self.outs = outs
        self.seq = next_sequence()
        self.hooks: dict | None = None
        self.prehooks: dict | None = None
        self.retained: dict | None = None
        self.trace: Any = None
        self.level = 0
        self.freed = False

    recipe = property(lambda self: self)
    next_functions = property(lambda self: tuple(self.edges))

    def name(self) -> str:
        return self.application.body.name

    def __repr__(self) -> str:
        return f"<{self.name()} object>"

    def release(self) -> None:
        self.freed = True

    def is_freed(self) -> bool:
        return self.freed

    def apply(self, incoming: list[Any], create_graph: bool) -> list[Any]:
        """The gradients for each edge."""
        if self.freed:
            raise OpError(FREED_MESSAGE)
        if self.application.body.materialize:
            incoming = [zeros(out) if c is None and out[1] is not None else c for c, out in zip(incoming, self.outs, strict=True)]
        # Levels further out record what happens here, whether or not this one does.
        before, state.grad = state.grad, create_graph or self.level > 0
        try:
            grads = self.application.backward(self.frame, incoming)
        finally:
            state.grad = before
        chosen = [grads[i] for i in self.marked]
        return chosen if create_graph else [g if g is None else without_history(g) for g in chosen]


def apply_body(body: Body, tensors: Sequence[Handle]) -> list[Any]:
    """Run ``body`` on Tensors of any level, and put it on the tape of each level where an argument requires grad."""
    recording = state.grad
    try:
        state.grad = False
        returned = body.forward(*tensors)
        levels = _levels([*tensors, *returned])
        state.grad = recording
        return _built(Application(body, levels, list(tensors)), returned, recording)
    finally:
        state.grad = recording


def _levels(tensors: Sequence[Any]) -> list[Level]:
    """The levels that Tensors are wrapped in, outermost first."""
    found: dict[int, Level] = {}
    for tensor in tensors:
        payload = value_of(tensor)
        while type(payload) in WRAPPED:
            found[payload.level.depth] = payload.level
            payload = inner_of(payload)._payload
    return [found[depth] for depth in sorted(found)]


def _built(application: Application, returned: list[Any], recording: bool) -> list[Any]:
    """The results from the bottom up: at each frame a Tensor of its own with its node."""
    bottoms = returned
    for level in reversed(application.levels):
        bottoms = [_lanes(level, out) for out in bottoms]
    outs = [make(value_of(out)) for out in bottoms]
    for frame in range(len(application.levels) + 1):
        if frame:
            level = application.levels[frame - 1]
            if isinstance(level, VmapLevel):
                outs = [make(Batched(level, out, 0), level.depth) for out in outs]
            else:
                dots = application.tangents(frame - 1, outs)
                outs = [make(Dual(level, out, dot), level.depth) for out, dot in zip(outs, dots, strict=True)]
        if recording:
            _record(application, frame, outs)
    return outs


def _record(application: Application, frame: int, outs: list[Any]) -> None:
    depth, tensors = application.depth(frame), application.frames[frame]
    marked = [i for i, t in enumerate(tensors) if t._requires and t._level >= depth and is_differentiable(t._payload.dtype)]
    metas = tuple(
        (o._payload.shape, o._payload.dtype if application.body.differentiable(k) and is_differentiable(o._payload.dtype) else None)
        for k, o in enumerate(outs)
    )
    if not marked or all(dtype is None for _, dtype in metas):
        return
    node = PythonNode(application, frame, marked, metas)
    node.level = depth or max(tensors[i]._level for i in marked)
    for number, (out, (_, dtype)) in enumerate(zip(outs, metas, strict=True)):
        if dtype is not None:
            out._requires, out._node, out._output, out._level = True, node, number, node.level
