"""Running a recorded function once more on JAX's tracers, with the recording's cells and draws as inputs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .engine import CONCRETE
from .handle import Handle
from .host_values import host_array
from .levels import WRAPPED
from .recorder import Recording
from .watcher import Disagreement, Watcher, single_value


class Tracing(Watcher):
    """Follows a function on tracers in the steps of a recording. Where it takes another one: Disagreement."""

    traces = True

    def __init__(self, recording: Recording, draws: Sequence[Any], numbers: Sequence[Any]) -> None:
        super().__init__()
        self.recording = recording
        self.draws = iter(draws)
        self.numbers = iter(numbers)
        self.decided = iter(recording.decisions)
        self.signatures = iter([s for _, _, s in recording.draws])
        self.modes = iter(recording.modes)
        self.effects = iter([key for _, key in recording.effects])
        self.guards: list[Any] = []

    def read(self, args: Sequence[Any]) -> None:
        known = self.recording
        for arg in args:
            if isinstance(arg, Handle) and id(arg) not in self.inside and type(arg._payload) in CONCRETE:
                if id(arg) not in known.cells and id(arg) not in known.used:
                    raise Disagreement("the function read another Tensor than when it was recorded")

    def write(self, target: Handle) -> None:
        if self.is_outer(target) and id(target) not in self.recording.written:
            raise Disagreement("the function wrote another Tensor than when it was recorded")

    def read_grad(self, tensor: Handle) -> None:
        known = self.recording
        if self.is_outer(tensor) and id(tensor) not in known.grads and id(tensor) not in known.written_grads:
            raise Disagreement("the function read another gradient than when it was recorded")

    def write_grad(self, tensor: Handle) -> None:
        if self.is_outer(tensor) and id(tensor) not in self.recording.written_grads:
            raise Disagreement("the function wrote another gradient than when it was recorded")

    clear_grad = write_grad

    def decision(self, tensor: Handle, asked: str) -> np.ndarray:
        payload = single_value(tensor)
        if type(payload) in WRAPPED:
            return host_array(payload, asked)
        expected = next(self.decided, None)
        if expected is None or expected[0] != asked or expected[1].shape != payload.shape:
            raise Disagreement(f"the function asked for {asked} where the recording did not")
        self.guards.append(payload)
        return expected[1]

    def walk(self, nodes: Sequence[Any]) -> None:
        pass

    def refuse(self, why: str) -> None:
        raise Disagreement(why)

    def stepped(self, optimizer: Any) -> None:
        if id(optimizer) not in self.recording.optimizers:
            raise Disagreement("another optimiser took a step than when the function was recorded")

    def effect(self, thunk: Callable, key: Any) -> None:
        if next(self.effects, None) != key:
            raise Disagreement("the function moved another schedule on than when it was recorded")

    def draw(self, source: Any, thunk: Callable, signature: tuple) -> Any:
        if next(self.signatures, None) != signature:
            raise Disagreement("the function drew other random numbers than when it was recorded")
        return next(self.draws)

    def number(self, container: Any, path: tuple) -> Any:
        return next(self.numbers)

    def unfinished(self) -> bool:
        """Whether the recording drew, read or decided more than the trace did."""
        return any(next(left, None) is not None for left in (self.signatures, self.decided, self.numbers, self.effects))

    def module_called(self, module: Any) -> None:
        if next(self.modes, None) != (id(module), module.training):
            raise Disagreement("another module ran than when the function was recorded, or in another mode")
