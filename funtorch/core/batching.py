"""The level of ``vmap``: an op on batched payloads is the op's batched form on the Tensors that they wrap."""

from __future__ import annotations

import functools
import gc
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import OpError
from .call import call
from .handle import Handle, make, without_history
from .levels import Batched, Level
from .op import Op
from .state import state


class VmapLevel(Level):
    """An open ``vmap`` over ``size`` lanes. ``randomness`` is "error", "different" or "same"."""

    __slots__ = ("size", "randomness", "buffers")
    name = "vmap"

    def __init__(self, size: int, randomness: str = "error", buffers: str | None = None) -> None:
        super().__init__()
        self.size = size
        self.randomness = randomness
        self.buffers = buffers

    def wrap(self, inner: Handle, axis: int | None) -> Any:
        """A Tensor of this level around one of the level below."""
        return make(Batched(self, inner, axis), self.depth)

    def lifted(self, tensor: Handle) -> Batched:
        """A payload of this level with the same value in each lane."""
        return Batched(self, tensor, None)

    def process(self, op: Op, args: Sequence[Any]) -> Any:
        inner, axes = self.lower(args)
        below = self.depth - 1
        if all(axis is None for axis in axes):
            outs, axis = call(op, inner, ceiling=below), None
        else:
            outs, axis = call(op.batched(axes), inner, ceiling=below), 0
        if isinstance(outs, tuple):
            return tuple(Batched(self, out, axis) for out in outs)
        return Batched(self, outs, axis)

    def lower(self, args: Sequence[Any]) -> tuple[list[Any], tuple[int | None, ...]]:
        """The arguments one level down, and the axis along which each is mapped."""
        inner, axes = [], []
        for arg in args:
            payload = arg._payload if isinstance(arg, Handle) else None
            if type(payload) is Batched and payload.level is self:
                inner.append(payload.inner)
                axes.append(payload.axis)
            else:
                inner.append(lowered(arg, self.depth))
                axes.append(None)
        return inner, tuple(axes)

    def write_outer(self, target: Handle, new: Handle) -> None:
        """A value of this level is written to a Tensor from outside: an error, unless ``buffers`` says what is meant."""
        if self.buffers is None:
            raise OpError(
                f"vmap: a batched value of shape {list(new._payload.shape)} (batch {self.size}) is written in place to "
                f"{outer_name(target)}, a Tensor of shape {list(target._payload.shape)} made outside of vmap. Return the value, "
                'pass the Tensor as a mapped argument, or say vmap(..., buffers="mean" | "stack" | "discard").'
            )
        self.written.setdefault(id(target), (target, target._payload))

    def settle(self) -> None:
        """On the way out: give each outer Tensor that was written the value that ``buffers`` asks for."""
        for target, before in self.written.values():
            payload = target._payload
            if self.buffers == "discard" or type(payload) is not Batched:
                target._payload = before
            elif self.buffers == "stack":
                target._payload = at_front(payload, self.size)._payload
            else:  # "mean": `vmap` has let no other through
                target._payload = call(_LANE_MEAN, (at_front(payload, self.size),))._payload


def outer_name(target: Handle) -> str:
    """What a message calls a Tensor from outside: the name by which a module (or another dict) holds it."""
    holders = [held for held in gc.get_referrers(target) if isinstance(held, dict)]
    names = [key for held in holders for key, value in held.items() if value is target and isinstance(key, str)]
    return f"buffer {names[0]!r}" if names else "an outer Tensor"


def lowered(arg: Any, depth: int) -> Any:
    """An argument as the level below sees it: without its place on the tape of this level."""
    if isinstance(arg, Handle) and arg._requires and arg._level >= depth:
        return without_history(arg)
    return arg


@functools.lru_cache(maxsize=None)
def move_op(source: int, destination: int) -> Op:
    """The Op that moves an axis, as the transforms do with lanes."""
    return Op(lambda x: jnp.moveaxis(x, source, destination), "movedim")


@functools.lru_cache(maxsize=1024)
def _expand_op(size: int) -> Op:
    return Op(lambda x: jnp.broadcast_to(x, (size, *x.shape)), "expand")


LANE_SUM = Op(lambda x: x.sum(0), "sum")
_LANE_MEAN = Op(lambda x: x.mean(0).astype(x.dtype) if x.dtype.kind in "fc" else x.max(0), "mean")


def at_front(payload: Batched, size: int) -> Any:
    """The Tensor one level down with the lanes along axis 0, made so if it isn't."""
    below = payload.level.depth - 1
    if payload.axis is None:
        return call(_expand_op(size), (payload.inner,), ceiling=below)
    return payload.inner if payload.axis == 0 else call(move_op(payload.axis, 0), (payload.inner,), ceiling=below)


def lane_sum(payload: Batched) -> Any:
    """The sum over the lanes, as a Tensor one level down."""
    below = payload.level.depth - 1
    return call(LANE_SUM, (at_front(payload, payload.level.size),), ceiling=below)


def open_vmaps() -> list[VmapLevel]:
    """The vmap levels open on this thread, outermost first."""
    return [level for level in state.levels if isinstance(level, VmapLevel)]


def lift_draw(draw: Any, shape: tuple[int, ...]) -> Any:
    """Draw random numbers of ``shape`` for each lane: ``draw(shape)`` gives an array; the result is a Tensor.

    Raises RuntimeError inside a vmap with ``randomness="error"``.
    """
    levels = open_vmaps()
    for level in levels:
        if level.randomness == "error":
            raise OpError(
                "vmap: called random operation while in randomness error mode. Please either use the 'same' or "
                "'different' randomness flags on vmap or perform the randomness operation out of vmap"
            )
    mapped = [level for level in levels if level.randomness == "different"]
    value = draw((*(level.size for level in mapped), *shape))
    tensor = make(np.asarray(value) if not hasattr(value, "dtype") else value)
    for level in mapped:
        tensor = level.wrap(tensor, 0)
    return tensor
