"""A level as one layer around Tensors: what it wraps, what is below, how a result and a gradient get from one to the other."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any

from .batching import LANE_SUM, VmapLevel, at_front, lowered, move_op
from .call import call
from .handle import make, value_of
from .levels import WRAPPED, Batched, Dual, Level, inner_of
from .state import state, watched
from .tape import place_of, set_place


class Layer:
    """A level, and whether it maps any argument or result of the call at hand (a vmap may map tangents alone)."""

    def __init__(self, level: Level, arguments: Sequence[Any], results: Sequence[Any]) -> None:
        self.level: Any = level  # of vmap where it maps, else of jvp
        self.depth = level.depth  # when the call was made
        self.maps = isinstance(level, VmapLevel)
        self.axes = [self._axis(t) for t in arguments]
        self.mapped = self.maps and (any(a is not None for a in self.axes) or any(self._axis(r) is not None for r in results))

    def _owns(self, tensor: Any) -> bool:
        payload = value_of(tensor)
        return type(payload) in WRAPPED and payload.level is self.level

    def _axis(self, tensor: Any) -> int | None:
        return tensor._payload.axis if self.maps and self._owns(tensor) else None

    def above(self, tensor: Any, tangent: Any = None) -> Any:
        """A Tensor of this layer around one from below: lanes first, or with a tangent."""
        if self.maps:
            return make(Batched(self.level, tensor, 0 if self.mapped else None), self.level.depth)
        return make(Dual(self.level, tensor, tangent), self.level.depth)

    def below(self, tensor: Any) -> Any:
        """The Tensor that one of this layer wraps."""
        return inner_of(tensor._payload) if self._owns(tensor) else lowered(tensor, self.level.depth)

    def tangent(self, tensor: Any) -> Any:
        """The tangent that a Tensor has in this layer, or None."""
        return tensor._payload.tangent if not self.maps and self._owns(tensor) else None

    def result(self, tensor: Any) -> Any:
        """A result as it is below: lanes first, or the primal."""
        if not self.mapped:
            return self.below(tensor)
        payload = tensor._payload if self._owns(tensor) else Batched(self.level, lowered(tensor, self.level.depth), None)
        return at_front(payload, self.level.size)

    def gradient(self, grad: Any, argument: int) -> Any:
        """The gradient of an argument as it is below: for one that isn't mapped, the sum over lanes."""
        if not self.maps or (not self.mapped and self._axis(grad) is None):
            return self.below(grad)
        payload = grad._payload if self._owns(grad) else Batched(self.level, lowered(grad, self.level.depth), None)
        lanes, axis = at_front(payload, self.level.size), self.axes[argument]
        if axis is None:
            return call(LANE_SUM, (lanes,))
        return lanes if axis == 0 else call(move_op(0, axis), (lanes,))


def layers_of(tensors: Sequence[Any], returned: Sequence[Any]) -> tuple[list[Layer], list[list[Any]]]:
    """The layers around Tensors, outermost first, and the Tensors as each sees them: below all layers first, the user's last."""
    frames = [list(tensors)]
    layers: list[Layer] = []
    results = list(returned)
    for level in reversed(_levels([*tensors, *returned])):
        layer = Layer(level, frames[0], results)
        results = [layer.below(r) for r in results]
        frames.insert(0, [layer.below(t) for t in frames[0]])
        layers.insert(0, layer)
    return layers, frames


def _levels(tensors: Sequence[Any]) -> list[Level]:
    """The levels that Tensors are wrapped in, outermost first."""
    found: dict[int, Level] = {}
    left = list(tensors)
    while left:
        payload = value_of(left.pop())
        if type(payload) in WRAPPED:
            found[payload.level.depth] = payload.level
            left.append(inner_of(payload))
            if type(payload) is Dual and payload.tangent is not None:
                left.append(payload.tangent)
    return [found[depth] for depth in sorted(found)]


@contextlib.contextmanager
def reopened(layers: Sequence[Layer]) -> Iterator[None]:
    """Levels open again as the innermost ones, so that what was saved in them can be used.

    One that is still open leaves an empty place, so that the depths of others stay as they are.
    """
    held = [(layer.level, layer.level.depth, layer.level.alive, layer.level.before) for layer in layers]
    outside = list(state.levels)
    for level, *_ in held:
        if level in state.levels:
            state.levels[state.levels.index(level)] = Level()
        level.__enter__()
    try:
        yield
    finally:
        state.levels[:] = outside
        del watched[len(watched) - len(held) :]
        for level, depth, alive, before in held:
            level.depth, level.alive, level.before = depth, alive, before


def left_behind(tensor: Any, layers: Sequence[Layer]) -> Any:
    """A Tensor without its histories on the tapes of levels that are only open again for a walk of a tape further out."""
    payload = value_of(tensor)
    kind = type(payload)
    if kind not in WRAPPED and not tensor._requires:
        return tensor
    ours = [layer.level for layer in layers]
    if kind is Batched:
        payload = Batched(payload.level, left_behind(payload.inner, layers), payload.axis)
    elif kind is Dual:
        tangent = payload.tangent
        payload = Dual(
            payload.level, left_behind(payload.primal, layers), None if tangent is None else left_behind(tangent, layers)
        )
    new = make(payload, tensor._birth)
    if (
        tensor._requires
        and not (kind in WRAPPED and payload.level in ours)
        and all(tensor._level != layer.depth for layer in layers)
    ):
        set_place(new, *place_of(tensor))
    return new
