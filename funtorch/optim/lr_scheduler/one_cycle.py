"""One climb and one long descent (Smith and Topin, 2018)."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...errors import ArgumentValueError
from ..optimizer import Optimizer
from .base import LRScheduler, check_optimizer, per_group, warn_outside
from .momentum import put_momentum, start, uses_betas


def _along_cosine(first: Any, last: Any, part: float) -> Any:
    return last + (first - last) / 2.0 * (math.cos(math.pi * part) + 1)


def _along_line(first: Any, last: Any, part: float) -> Any:
    return (last - first) * part + first


_PATHS: dict[str, Callable] = {"cos": _along_cosine, "linear": _along_line}


def _phase(end_step: float, start_lr: str, end_lr: str, start_momentum: str, end_momentum: str) -> dict[str, Any]:
    """Where a phase ends, and the keys of what its rate and momentum go from and to."""
    return {
        "end_step": end_step, "start_lr": start_lr, "end_lr": end_lr, "start_momentum": start_momentum, "end_momentum": end_momentum,
    }  # fmt: skip


def _phases(total: int, climb: float, three: bool) -> list[dict[str, Any]]:
    up = _phase(float(climb * total) - 1, "initial_lr", "max_lr", "max_momentum", "base_momentum")
    if not three:
        return [up, _phase(total - 1, "max_lr", "min_lr", "base_momentum", "max_momentum")]
    down = _phase(float(2 * climb * total) - 2, "max_lr", "initial_lr", "base_momentum", "max_momentum")
    return [up, down, _phase(total - 1, "initial_lr", "min_lr", "max_momentum", "max_momentum")]


def _total(total_steps: Any, epochs: Any, steps_per_epoch: Any) -> int:
    """The number of steps. Raises ValueError if it can't be told, or is no positive int."""
    if total_steps is None and (epochs is None or steps_per_epoch is None):
        raise ArgumentValueError("You must define either total_steps OR (epochs AND steps_per_epoch)")
    named = {"epochs": epochs, "steps_per_epoch": steps_per_epoch} if total_steps is None else {"total_steps": total_steps}
    for name, value in named.items():
        if not isinstance(value, int) or value <= 0:
            raise ArgumentValueError(f"Expected positive integer {name}, but got {value}")
    return epochs * steps_per_epoch if total_steps is None else total_steps


class OneCycleLR(LRScheduler):
    """From ``max_lr / div_factor`` to ``max_lr`` and down to ``1 / final_div_factor`` of the first; momentum the other way round.

    Args:
        optimizer, last_epoch: see `LRScheduler`.
        max_lr: the highest rate, one for all groups or a list.
        total_steps: how often `step` is called; or ``epochs`` times ``steps_per_epoch``.
        pct_start: which part of the steps climbs, a float in [0, 1].
        anneal_strategy: "cos" or "linear".
        cycle_momentum, base_momentum, max_momentum: whether momentum moves too, and between what.
        div_factor, final_div_factor: see above.
        three_phase: down as fast as up, and then to the end.

    Raises:
        ValueError: steps that are no positive ints, an unknown strategy, a list of another length, an optimiser without momentum;
            from `step`: more steps than there were to be.
    """

    def __init__(
        self, optimizer: Optimizer, max_lr: Any, total_steps: int | None = None, epochs: int | None = None, steps_per_epoch: int | None = None,
        pct_start: float = 0.3, anneal_strategy: str = "cos", cycle_momentum: bool = True, base_momentum: Any = 0.85, max_momentum: Any = 0.95,
        div_factor: float = 25.0, final_div_factor: float = 1e4, three_phase: bool = False, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        check_optimizer(optimizer)
        self.optimizer = optimizer
        self.total_steps = _total(total_steps, epochs, steps_per_epoch)
        if not isinstance(pct_start, float) or not 0 <= pct_start <= 1:
            raise ArgumentValueError(f"Expected float between 0 and 1 pct_start, but got {pct_start}")
        if anneal_strategy not in _PATHS:
            raise ArgumentValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        self._schedule_phases = _phases(self.total_steps, pct_start, three_phase)
        self._anneal_func_type = anneal_strategy
        highest = per_group("max_lr", optimizer, max_lr)
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = uses_betas(optimizer)
        if last_epoch == -1:
            for group, most in zip(optimizer.param_groups, highest, strict=True):
                first = most / div_factor
                group.update(initial_lr=first, max_lr=most, min_lr=first / final_div_factor)
        if cycle_momentum:
            start(optimizer, base_momentum, max_momentum, self.use_beta1, last_epoch == -1)
        super().__init__(optimizer, last_epoch)

    def _present(self, step: int) -> tuple[dict[str, Any], float]:
        """The phase that a step falls into, and which part of it has passed."""
        begin: float = 0.0
        for phase in self._schedule_phases[:-1]:
            if step <= phase["end_step"]:
                break
            begin = phase["end_step"]
        else:
            phase = self._schedule_phases[-1]
        return phase, (step - begin) / (phase["end_step"] - begin)

    def get_lr(self) -> list[Any]:
        """The rates for this step; the groups' momentum is set on the way."""
        warn_outside(self)
        if self.last_epoch > self.total_steps:
            raise ArgumentValueError(
                f"Tried to step {self.last_epoch} times. The specified number of total steps is {self.total_steps}"
            )
        path = _PATHS[self._anneal_func_type]
        phase, part = self._present(self.last_epoch)
        groups = self.optimizer.param_groups
        if self.cycle_momentum:
            for group in groups:
                put_momentum(group, path(group[phase["start_momentum"]], group[phase["end_momentum"]], part), self.use_beta1)
        return [path(group[phase["start_lr"]], group[phase["end_lr"]], part) for group in groups]
