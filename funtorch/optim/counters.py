"""The step counters of parameters: each has one of its own, and those that count alike enter a step as one array.

An array for each of 300 parameters would cost a kernel more than the arithmetic of their step.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.engine import CONCRETE, host_possible
from ..core.state import state as mode
from ..core.writing import write
from ..tensor import Tensor

State = dict[str, Any]


def counters(first: Tensor, count: int) -> list[Tensor]:
    """So many Tensors with the value of ``first``, which are one array until one of them is written."""
    return [Tensor._of_numpy(first._payload) for _ in range(count)]


class Counters:
    """The counters of some parameters' states, by their arrays.

    Attributes:
        leaders: one Tensor for each array; none if the algorithm doesn't count.
        shared: for each state the number of its leader.
        plain: whether none is a view, or shares memory with NumPy.
    """

    def __init__(self, states: Sequence[State]) -> None:
        steps: list[Tensor] = [s["step"] for s in states if "step" in s]
        self.leaders: list[Tensor] = []
        self.shared: tuple[int, ...] = ()
        self.plain = True
        self._followers: list[tuple[Tensor, int]] = []
        if not steps:
            return
        if any("_owners" in step.__dict__ for step in steps):
            steps = _parted(states, steps)
        self.plain = not any([step._source is not None for step in steps])
        keys = [id(step._payload) for step in steps] if self.plain else [id(step) for step in steps]
        if len(set(keys)) == 1:
            self.leaders, self.shared = [steps[0]], (0,) * len(steps)
        else:
            self.leaders, self.shared = _grouped(steps, keys, self.plain and host_possible())
        if mode.recorder is not None:
            self._join(states)
        else:
            leading = set(map(id, self.leaders))
            self._followers = [(step, n) for step, n in zip(steps, self.shared, strict=True) if id(step) not in leading]

    def _join(self, states: Sequence[State]) -> None:
        """Make those that count alike one Tensor: compiled code has an argument and a result for each that there is."""
        for number, leader in enumerate(self.leaders):
            count = self.shared.count(number)
            if count > 1:
                leader._owners = count  # type: ignore[attr-defined]
        for state, number in zip(states, self.shared, strict=True):
            state["step"] = self.leaders[number]

    def follow(self) -> None:
        """Give all the others the arrays that the leaders have now."""
        for step, number in self._followers:
            step._payload = self.leaders[number]._payload
            step._writes += 1

    def write(self, new: Sequence[Tensor]) -> None:
        """Write new values for the leaders to all."""
        for step, number in [*zip(self.leaders, range(len(self.leaders)), strict=True), *self._followers]:
            write(step, new[number])


def _grouped(steps: list[Tensor], keys: list[int], by_value: bool) -> tuple[list[Tensor], tuple[int, ...]]:
    """The first of each group with the same key, or ``by_value`` with the same number in the same type; and the groups' numbers."""
    first = dict(zip(reversed(keys), reversed(steps), strict=True))
    values: dict[int, Any] = {key: key for key in first}
    if by_value:
        values = {key: _value(step) for key, step in first.items()}
    order: dict[Any, int] = {}
    leaders: list[Tensor] = []
    for key, step in zip(keys, steps, strict=True):
        if values[key] not in order:
            order[values[key]] = len(leaders)
            leaders.append(step)
    return leaders, tuple([order[values[key]] for key in keys])


def _value(step: Tensor) -> Any:
    """What tells whether two counters are alike: type, shape and number; in a transform nothing but being the same."""
    payload = step._payload
    if type(payload) not in CONCRETE:
        return id(payload)
    array = np.asarray(payload)
    return array.dtype.char, array.shape, array.tobytes()


def _parted(states: Sequence[State], steps: list[Tensor]) -> list[Tensor]:
    """The counters; of one that also counts for parameters which stay where they are now, each that moves gets a copy of its own."""
    counts: dict[int, int] = {}
    for step in steps:
        counts[id(step)] = counts.get(id(step), 0) + 1
    for state in states:
        step = state["step"]
        if step.__dict__.get("_owners", 1) != counts[id(step)]:
            state["step"] = step.detach().clone()
    return [state["step"] for state in states]
