"""Nodes whose backward is Python over Tensors: custom functions, checkpoints.

A *body* has ``forward(*tensors) -> list of Tensors`` and ``backward(application, *cotangents) -> list of Tensors or None``,
and may keep Tensors between the two. It always runs on the Tensors that the user gave it, with all their wrappings; each level below gets a node of
its own, whose backward wraps what comes in, runs the body, and unwraps what it gives. So a custom function differentiates at
every level, like an op.
"""

from __future__ import annotations

import weakref
from collections.abc import Sequence
from typing import Any, Protocol

from ..errors import OpError
from .backward import Graph, differentiate
from .handle import Handle, make, value_of, without_history
from .layers import Layer, layers_of, left_behind, reopened
from .levels import untaped
from .meta import MetaArray, constant_like, is_meta
from .node_names import Named
from .op import is_differentiable
from .state import state
from .tape import FREED_MESSAGE, Node, next_sequence, place_of, set_place, zeros
from .variables import frozen


class Body(Protocol):
    """What a Python node runs. ``name`` is shown by ``grad_fn``; ``materialize``: absent cotangents come as zeros."""

    name: str

    @property
    def keeps(self) -> Sequence[int]: ...  # the numbers of the outputs that backward needs

    @property
    def materialize(self) -> bool: ...

    def forward(self, *tensors: Any) -> list[Any]: ...

    def backward(self, application: Application, *cotangents: Any) -> list[Any]: ...

    def jvp(self, tangents: list[Any]) -> list[Any] | None: ...

    def differentiable(self, number: int) -> bool: ...


class Application:
    """A body applied once: its arguments as each layer sees them. Frame 0 is below all layers, the last is the user's."""

    def __init__(self, body: Body, tensors: Sequence[Any], returned: Sequence[Any]) -> None:
        self.body = body
        self.layers, self.frames = layers_of(tensors, returned)
        self.results: dict[int, list[Any]] = {}  # of outputs that the body keeps: the array below all layers, then tangents
        self.nodes: list[weakref.ref | None] = []  # by frame
        self.open: list[Layer] = []  # those that are open again for the walk of a tape further out
        self.supports: list[Any] = []  # of the cotangents with which backward runs now, see `core.selected`

    def depth(self, frame: int) -> int:
        return self.layers[frame - 1].level.depth if frame else 0

    def lifted(self, frame: int, tensors: Sequence[Any]) -> list[Any]:
        """Tensors of a frame as the user's code sees them: the same in each lane where they aren't mapped, without tangent."""
        found = list(tensors)
        for layer in self.layers[frame:]:
            found = [None if t is None else layer.above(t) for t in found]
        return found

    def backward(self, frame: int, cotangents: Sequence[Any], supports: Sequence[Any] = ()) -> list[Any]:
        """The body's backward for cotangents of ``frame``, and their supports: gradients of that frame's arguments."""
        upper, before = self.layers[frame:], self.open
        self.open = upper
        try:
            with reopened(upper):
                self.supports = self.lifted(frame, supports)
                grads = self.body.backward(self, *self.lifted(frame, cotangents))
                for layer in reversed(upper):
                    grads = [None if g is None else layer.gradient(g, number) for number, g in enumerate(grads)]
        finally:
            self.open = before
        return grads

    def seen(self, tensor: Any) -> Any:
        """A Tensor that was kept, as the body's backward may use it now."""
        return left_behind(tensor, self.open) if self.open else tensor

    def result(self, number: int) -> Any:
        """An output that the body keeps, at its places on the tapes (while it is made, as far as they are known)."""
        array, *dots = self.results[number]
        out = make(array)
        for frame in range(len(self.layers) + 1):
            if frame:
                out = self.layers[frame - 1].above(out, dots[frame - 1] if frame <= len(dots) else None)
            node = self.nodes[frame] if frame < len(self.nodes) else None
            place = node() if node is not None else None
            if place is not None and place.outs[number][1] is not None:
                set_place(out, place, number)
        return self.seen(out)

    def tangents(self, frame: int, outs: list[Any]) -> list[Any]:
        """The outputs' tangents for the jvp level just above ``frame``, as Tensors of ``frame``."""
        given = [self.layers[frame].tangent(t) for t in self.frames[frame + 1]]
        if all(t is None for t in given):
            return [None] * len(outs)
        upper = self.layers[frame:]
        with reopened(upper):
            dots = self.body.jvp(self.lifted(frame, given))
            if dots is not None:
                for layer in reversed(upper):
                    dots = [None if d is None else layer.result(d) for d in dots]
                return dots
        return self._transposed(frame, outs, given)

    def _transposed(self, frame: int, outs: list[Any], tangents: list[Any]) -> list[Any]:
        """The derivative along ``tangents``: the body's backward is linear in the cotangents, so transpose it."""
        cotangents = [constant_like(out, 0) for out in outs]
        for number, cotangent in enumerate(cotangents):
            cotangent._requires = self.body.differentiable(number) and is_differentiable(outs[number]._payload.dtype)
            cotangent._level = self.depth(frame)
        recording, state.grad = state.grad, True  # tangents go on where nothing is recorded
        try:
            grads = self.backward(frame, cotangents)
        finally:
            state.grad = recording
        pairs = [(g, t) for g, t in zip(grads, tangents, strict=True) if g is not None and t is not None and g._requires]
        if not pairs:
            return [None] * len(outs)
        targets = [place_of(c) for c in cotangents if c._requires]
        _, found = differentiate([g for g, _ in pairs], [t for _, t in pairs], targets, create_graph=True, retain_graph=True)
        ours = {place[0] for place in targets}
        if not recording:
            return _at_places([f if f is None else untaped(f) for f in found], cotangents)
        given = [f if f is None or _reaches(f, ours) else without_history(f) for f in found]
        return _at_places(given, cotangents)


def _at_places(found: list[Any], cotangents: list[Any]) -> list[Any]:
    """One entry for each cotangent: what was found for those that are differentiable, None for others."""
    given = iter(found)
    return [next(given) if c._requires else None for c in cotangents]


def _reaches(tensor: Any, leaves: set) -> bool:
    """Whether a Tensor depends on leaves other than these."""
    return tensor._requires and any(leaf not in leaves for leaf in Graph([place_of(tensor)]).leaves)


class PythonNode(Named):
    """A node of the tape with a body. It always runs node by node."""

    __slots__ = (
        "application", "label", "frame", "marked", "edges", "seq", "outs", "avals", "hooks", "prehooks", "retained", "trace",
        "level", "freed", "__dict__", "__weakref__",
    )  # fmt: skip

    def __init__(self, application: Application, frame: int, marked: list[int], outs: tuple, avals: list[tuple]) -> None:
        self.application: Application | None = application
        self.label = application.body.name
        self.frame = frame
        self.marked = marked
        self.edges = tuple(place_of(application.frames[frame][i]) for i in marked)
        self.outs = outs
        self.avals = avals  # shape and dtype of each output, differentiable or not
        self.seq = next_sequence()
        self.hooks: dict | None = None
        self.prehooks: dict | None = None
        self.retained: dict | None = None
        self.trace: Any = None
        self.level = 0
        self.freed = False

    recipe = property(lambda self: self)
    home = "funtorch.autograd.function"
    next_functions = Node.next_functions
    register_hook, register_prehook = Node.register_hook, Node.register_prehook

    def __getattr__(self, name: str) -> Any:
        """What a custom function has put on its ``ctx``, which in PyTorch is the node itself."""
        if name == "metadata":
            return self.__dict__.setdefault(name, {})
        own = name.startswith("__") or name in PythonNode.__slots__  # asked of one that is half made, as by copy
        body: Any = None if own else getattr(self.application, "body", None)
        if not hasattr(body, "ctx"):
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        with body.kept.lent(self.application):
            return getattr(body.ctx, name)

    def name(self) -> str:
        return self.label

    def release(self) -> None:
        self.freed = True
        self.application = None

    def is_freed(self) -> bool:
        return self.freed

    def apply(self, incoming: list[Any], create_graph: bool, supports: Sequence[Any] = ()) -> list[Any]:
        """The gradients for each edge, from the cotangents of the outputs, which may have supports."""
        application = self.application
        if application is None:
            raise OpError(FREED_MESSAGE)
        if application.body.materialize:
            incoming = _materialized(incoming, self.avals)
        # Levels further out record what happens here, whether or not this one does, unless nothing is recorded at all.
        before = state.grad
        state.grad = before and (create_graph or self.level > 0)
        try:
            grads = application.backward(self.frame, incoming, supports)
        finally:
            state.grad = before
        chosen = [grads[i] for i in self.marked]
        return chosen if create_graph else [g if g is None else without_history(g) for g in chosen]


def _materialized(cotangents: list[Any], avals: Sequence[tuple]) -> list[Any]:
    """Zeros for cotangents that are absent, without data where the others have none."""
    nowhere = any(c is not None and is_meta(c) for c in cotangents)
    made = (lambda aval: make(MetaArray(*aval))) if nowhere else zeros
    return [made(aval) if c is None else c for c, aval in zip(cotangents, avals, strict=True)]


def apply_body(body: Body, tensors: Sequence[Handle]) -> list[Any]:
    """Run ``body`` on Tensors of any level, and put it on the tape of each level where an argument requires grad."""
    recording, state.grad = state.grad, False
    try:
        returned = body.forward(*tensors)
    finally:
        state.grad = recording
    results = applied(body, tensors, returned)
    if state.recorder is not None and state.recorder.cuts:
        state.recorder.attach(body, tensors, results)
    return results


def applied(body: Body, tensors: Sequence[Handle], returned: list[Any]) -> list[Any]:
    """What ``body`` gave for Tensors of any level, on the tape of each level where an argument requires grad."""
    application = Application(body, tensors, returned)
    results = _built(application, returned, state.grad)
    application.frames = []  # nodes keep what their body saves, not their arguments
    return results


def _built(application: Application, returned: list[Any], recording: bool) -> list[Any]:
    """The results from the bottom up: at each frame a Tensor of its own with its node."""
    bottoms = returned
    for layer in reversed(application.layers):
        bottoms = [layer.result(out) for out in bottoms]
    outs = [make(value_of(out)) for out in bottoms]
    application.results = {k: [outs[k]._payload] for k in application.body.keeps}
    for frame in range(len(application.layers) + 1):
        if frame:
            layer = application.layers[frame - 1]
            dots = [None] * len(outs) if layer.maps else application.tangents(frame - 1, outs)
            outs = [layer.above(out, dot) for out, dot in zip(outs, dots, strict=True)]
            for number, kept in application.results.items():
                dot: Any = dots[number]
                kept.append(None if dot is None else frozen(dot))
        node = _record(application, frame, outs) if recording else None
        application.nodes.append(None if node is None else weakref.ref(node))
    return outs


def _record(application: Application, frame: int, outs: list[Any]) -> PythonNode | None:
    depth, tensors = application.depth(frame), application.frames[frame]
    marked = [i for i, t in enumerate(tensors) if t._requires and is_differentiable(t._payload.dtype)]
    metas = tuple(
        (
            o._payload.shape,
            o._payload.dtype if application.body.differentiable(k) and is_differentiable(o._payload.dtype) else None,
        )
        for k, o in enumerate(outs)
    )
    if not marked or all(dtype is None for _, dtype in metas):
        return None
    node = PythonNode(application, frame, marked, metas, [(o._payload.shape, o._payload.dtype) for o in outs])
    node.level = depth or max(tensors[i]._level for i in marked)
    if state.anomaly:
        from .anomaly import note

        note(node)
    for number, (out, (_, dtype)) in enumerate(zip(outs, metas, strict=True)):
        if dtype is not None:
            out._requires, out._node, out._output, out._level = True, node, number, node.level
    return node
