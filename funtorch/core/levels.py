"""Levels: one for each open ``vmap`` or ``jvp``, and the payloads that belong to them.

A payload wraps Tensors of the level below. The highest level among the arguments of a call handles it.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, final

from ..errors import EscapedTensorError
from .handle import Handle, make, note_written, value_of
from .state import state, watched

if TYPE_CHECKING:
    from .batching import VmapLevel
    from .op import Op


class Level:
    """An open transform. ``depth`` counts from 1 outside in; ``written`` holds outer Tensors changed inside to values of
    this level, ``before`` all outer Tensors changed inside as they were: if the transform fails, they are that again.
    """

    __slots__ = ("depth", "alive", "written", "before")
    name = "transform"

    def __init__(self) -> None:
        self.depth = 0
        self.alive = False
        self.written: dict[int, Any] = {}
        self.before: dict[int, tuple[Handle, dict]] = {}

    def __enter__(self) -> Any:
        state.levels.append(self)
        watched.append(None)
        self.depth = len(state.levels)
        self.alive = True
        return self

    def __exit__(self, *exc: object) -> None:
        state.levels.pop()
        watched.pop()
        self.alive = False
        if exc and exc[0] is not None:
            for target, fields in self.before.values():
                target.__dict__.clear()
                target.__dict__.update(fields)
        elif state.levels and self.before:
            for target, fields in self.before.values():
                state.levels[-1].keep(target, fields)
        else:
            for target, _ in self.before.values():
                note_written(target)
        self.before = {}

    def keep(self, target: Handle, fields: dict | None = None) -> None:
        """A Tensor is about to be written: remember what it was, if it is from outside."""
        if target._birth < self.depth and id(target) not in self.before:
            self.before[id(target)] = (target, dict(target.__dict__) if fields is None else fields)

    def process(self, op: Op, args: Sequence[Any]) -> Any:
        """Run ``op`` on arguments of which the highest belong to this level: payload or tuple of payloads."""
        raise NotImplementedError

    def lifted(self, tensor: Handle) -> Any:
        """A payload of this level around a Tensor of the level below, the same in each lane and without tangent."""
        raise NotImplementedError

    def check_alive(self, payload: Any) -> None:
        """Raise if the transform that made ``payload`` has returned."""
        if not self.alive:
            self.complain(payload)

    def complain(self, payload: Any) -> None:
        """Raise for a payload that has outlived its transform."""
        kind = {"f": "float", "i": "int", "b": "bool", "c": "complex"}.get(payload.dtype.kind, payload.dtype.name)
        raise EscapedTensorError(
            f"a Tensor of shape {list(payload.shape)} ({kind}) was made inside {self.name} and is used after {self.name} "
            "returned. Return it from the function, or store what you need of it with the results."
        )


@final
class Batched:
    """A payload mapped over by a ``vmap``: ``inner`` holds all lanes, along ``axis`` (None: the same in each lane)."""

    __slots__ = ("level", "inner", "axis", "shape", "dtype")

    def __init__(self, level: VmapLevel, inner: Handle, axis: int | None) -> None:
        self.level = level
        self.inner = inner
        self.axis = axis
        shape = inner._payload.shape
        self.shape = shape if axis is None else shape[:axis] + shape[axis + 1 :]
        self.dtype = inner._payload.dtype


@final
class Dual:
    """A payload with a direction: a ``primal`` and its ``tangent`` (None: zero).

    ``root``: what it is the root of, see `core.squares`.
    """

    __slots__ = ("level", "primal", "tangent", "shape", "dtype", "root")

    def __init__(self, level: Level, primal: Handle, tangent: Handle | None) -> None:
        self.level = level
        self.primal = primal
        self.tangent = tangent
        self.root: Any = None
        self.shape = primal._payload.shape
        self.dtype = primal._payload.dtype


WRAPPED = frozenset({Batched, Dual})


def inner_of(payload: Batched | Dual) -> Handle:
    """The Tensor one level down that holds a wrapped payload's values."""
    return payload.inner if type(payload) is Batched else payload.primal


def bottom(tensor: Handle) -> Any:
    """The Tensor below all levels: the values of all lanes, without tangents."""
    while type(value_of(tensor)) in WRAPPED:
        tensor = inner_of(tensor._payload)
    return tensor


def constant(payload: Any) -> Any:
    """A payload with the same values, without history or tangent at any level below."""
    if type(payload) is Batched:
        inner = payload.inner
        return Batched(payload.level, make(constant(value_of(inner)), inner._birth), payload.axis)
    if type(payload) is Dual:
        primal = payload.primal
        return Dual(payload.level, make(constant(value_of(primal)), primal._birth), None)
    return payload


def untaped(tensor: Handle) -> Any:
    """A Tensor with the same values and tangents that is on no tape, at this level or any below."""
    payload = value_of(tensor)
    if type(payload) is Batched:
        payload = Batched(payload.level, untaped(payload.inner), payload.axis)
    elif type(payload) is Dual:
        tangent = payload.tangent
        payload = Dual(payload.level, untaped(payload.primal), None if tangent is None else untaped(tangent))
    elif not tensor._requires:
        return tensor
    return make(payload, tensor._birth)
