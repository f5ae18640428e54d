"""A segment: a call of a function watched so that it can be run again as it was, with other Tensors in its place.

`Watched` notes what the call reads from outside (parameters in closures, modules' state) and the random numbers that it draws;
`Again` runs it once more with these, and undoes what the second run writes outside.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..errors import OpError
from .handle import Handle, value_of
from .host_values import host_array
from .levels import WRAPPED, Dual, inner_of
from .state import state
from .tape import place_of
from .variables import depends, frozen
from .watcher import Watcher, look_up


class Nested(Watcher):
    """A watcher inside whatever else watches, which goes on being told."""

    def read(self, args: Sequence[Any]) -> None:
        if self.before is not None:
            self.before.read(args)

    def write(self, target: Handle) -> None:
        if self.before is not None:
            self.before.write(target)

    def read_grad(self, tensor: Handle) -> None:
        if self.before is not None:
            self.before.read_grad(tensor)

    def write_grad(self, tensor: Handle) -> None:
        if self.before is not None:
            self.before.write_grad(tensor)

    def clear_grad(self, tensor: Handle) -> None:
        if self.before is not None:
            self.before.clear_grad(tensor)

    def decision(self, tensor: Handle, asked: str) -> np.ndarray:
        self.read((tensor,))
        return host_array(value_of(tensor), asked) if self.before is None else self.before.decision(tensor, asked)

    def draw(self, source: Any, thunk: Callable, signature: tuple) -> Any:
        return thunk() if self.before is None else self.before.draw(source, thunk, signature)

    def walk(self, nodes: Sequence[Any]) -> None:
        if self.before is not None:
            self.before.walk(nodes)

    def number(self, container: Any, path: tuple) -> Any:
        return look_up(container, path) if self.before is None else self.before.number(container, path)

    @property
    def cuts(self) -> bool:  # type: ignore[override]
        return self.before is not None and self.before.cuts

    def attach(self, body: Any, tensors: Sequence[Any], results: Sequence[Any]) -> None:
        """Where `cuts` is true: give what a Python node made its own derivative."""
        self.before.attach(body, tensors, results)

    def check(self, passed: Any, error: type[Exception], message: str) -> bool:
        return self.before is not None and self.before.check(passed, error, message)

    def module_called(self, module: Any) -> None:
        if self.before is not None:
            self.before.module_called(module)

    def stepped(self, optimizer: Any) -> None:
        if self.before is not None:
            self.before.stepped(optimizer)

    def refuse(self, why: str) -> None:
        if self.before is not None:
            self.before.refuse(why)

    def effect(self, thunk: Callable, key: Any) -> None:
        if self.before is None:
            thunk()
        else:
            self.before.effect(thunk, key)


class Watched(Nested):
    """The first run. ``outer`` has each Tensor from outside, and what it was when it was first met."""

    def __init__(self, arguments: Sequence[Any], keep_draws: bool) -> None:
        super().__init__()
        self.outer: dict[int, tuple[Handle, Handle]] = {}
        self.known: set[int] = set()
        self.keep_draws = keep_draws
        self.states: dict[int, tuple[Any, Any]] = {}  # generators, and where they stood at their first draw
        self.drawn: list[tuple[tuple, Any]] = []  # inside another recorder: the draws themselves
        for tensor in arguments:
            self._know(tensor)

    def _know(self, tensor: Handle) -> None:
        """The Tensors that one wraps are no captures of their own."""
        self.known.add(id(tensor))
        payload = value_of(tensor)
        if type(payload) in WRAPPED:
            self._know(inner_of(payload))
            if type(payload) is Dual and payload.tangent is not None:
                self._know(payload.tangent)

    def read(self, args: Sequence[Any]) -> None:
        super().read(args)
        for arg in args:
            if isinstance(arg, Handle):
                self._meet(arg)

    def write(self, target: Handle) -> None:
        super().write(target)
        self._meet(target)

    def _meet(self, tensor: Handle) -> None:
        key = id(tensor)
        if key in self.inside or key in self.known or key in self.outer:
            return
        self.outer[key] = (tensor, frozen(tensor))
        self._know(tensor)

    def draw(self, source: Any, thunk: Callable, signature: tuple) -> Any:
        if self.keep_draws and self.before is None and id(source) not in self.states:
            self.states[id(source)] = (source, source.get_state())
        value = super().draw(source, thunk, signature)
        if self.keep_draws and self.before is not None:
            self.drawn.append((signature, value))
        return value


class Again(Nested):
    """A run like the first: ``outer`` (Tensor, stand-in) pairs say what Tensors from outside are meanwhile."""

    def __init__(self, first: Watched, outer: Sequence[tuple[Handle, Handle]]) -> None:
        super().__init__()
        self.first = first
        self.outer = outer
        self.drawn = iter(first.drawn)
        self.held: dict[int, tuple[Handle, dict]] = {}
        self.generators: list[tuple[Any, Any]] = []

    def __enter__(self) -> Any:
        for tensor, stand_in in self.outer:
            self._hold(tensor)
            place(tensor, stand_in)
        for source, at in self.first.states.values():
            self.generators.append((source, source.get_state()))
            source.set_state(at)
        return super().__enter__()

    def __exit__(self, *exc: object) -> None:
        super().__exit__(*exc)
        for source, at in self.generators:
            source.set_state(at)
        for tensor, fields in self.held.values():
            tensor.__dict__.clear()
            tensor.__dict__.update(fields)

    def _hold(self, tensor: Handle | None) -> None:
        if tensor is not None and id(tensor) not in self.held and self.is_outer(tensor):
            self.held[id(tensor)] = (tensor, dict(tensor.__dict__))

    def write(self, target: Handle) -> None:
        self._hold(target)

    def write_grad(self, tensor: Handle) -> None:
        self._hold(tensor)
        self._hold(tensor._grad)

    clear_grad = write_grad

    def draw(self, source: Any, thunk: Callable, signature: tuple) -> Any:
        if not self.first.keep_draws or self.before is None and not self.first.drawn:
            return super().draw(source, thunk, signature)
        expected, value = next(self.drawn, (None, None))
        if expected != signature:
            raise OpError(f"checkpoint: the function drew {signature[:3]} when it ran again, and {expected} at first")
        return value


def place(tensor: Handle, stand_in: Handle) -> None:
    """Let ``tensor`` be what ``stand_in`` is: its payload and its place on the tape."""
    fields = tensor.__dict__
    for name in ("_base", "_source", "_chain", "_detached", "_siblings", "_node", "_output", "_level", "_requires", "_leaf"):
        fields.pop(name, None)
    tensor._payload = stand_in._payload
    tensor._birth = stand_in._birth
    if stand_in._requires:
        tensor._requires, tensor._level, tensor._output = True, stand_in._level, stand_in._output
        tensor._node = stand_in._node
        if stand_in._node is None:
            place_of(stand_in)
            tensor._leaf = stand_in._leaf


def followed(tensors: Sequence[Any]) -> bool:
    """Whether a derivative is followed through one of these, and is recorded."""
    return state.grad and any(isinstance(t, Handle) and depends(t) for t in tensors)
