"""The rate of stochastic weight averaging (Izmailov et al., 2018): from what it is to a constant."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...errors import ArgumentValueError
from ..optimizer import Optimizer
from .base import LRScheduler, per_group, warn_outside


class SWALR(LRScheduler):
    """From the present rate to ``swa_lr`` in ``anneal_epochs`` epochs, and then no further.

    Args:
        optimizer, last_epoch: see `LRScheduler`.
        swa_lr: the rate at the end, one for all groups or a list.
        anneal_epochs: epochs on the way, 0 or more.
        anneal_strategy: "cos" or "linear".

    Raises:
        ValueError: an unknown strategy, negative epochs, or a list of another length.
    """

    _unsaved = ("optimizer", "anneal_func")

    def __init__(
        self, optimizer: Optimizer, swa_lr: Any, anneal_epochs: int = 10, anneal_strategy: str = "cos", last_epoch: int = -1
    ) -> None:  # fmt: skip
        if anneal_strategy not in ("cos", "linear"):
            raise ArgumentValueError(f"anneal_strategy must be one of 'cos' or 'linear', instead got {anneal_strategy}")
        if not isinstance(anneal_epochs, int) or anneal_epochs < 0:
            raise ArgumentValueError(f"anneal_epochs must be equal or greater than 0, got {anneal_epochs}")
        for group, rate in zip(optimizer.param_groups, per_group("swa_lr", optimizer, swa_lr), strict=True):
            group["swa_lr"] = rate
        self._set_anneal_func(anneal_strategy)
        self.anneal_epochs = anneal_epochs
        super().__init__(optimizer, last_epoch)

    def _set_anneal_func(self, anneal_strategy: str) -> None:
        self._anneal_strategy = anneal_strategy
        self.anneal_func: Callable[[float], float] = SWALR._cosine_anneal if anneal_strategy == "cos" else SWALR._linear_anneal

    @staticmethod
    def _cosine_anneal(t: float) -> float:
        return (1 - math.cos(math.pi * t)) / 2

    @staticmethod
    def _linear_anneal(t: float) -> float:
        return t

    def _part(self, step: int) -> float:
        """How much of the way has been gone."""
        return self.anneal_func(max(0, min(1, step / max(1, self.anneal_epochs))))

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        super().load_state_dict(state_dict)
        self._set_anneal_func(self._anneal_strategy)

    def get_lr(self) -> list[Any]:
        """The rates for this epoch: from those of the one before, the ones at the start, and from these the next."""
        warn_outside(self)
        step = self._step_count - 1
        step = max(1, step) if self.anneal_epochs == 0 else step
        before, now = self._part(step - 1), self._part(step)
        rates = []
        for group in self.optimizer.param_groups:
            lr, end = group["lr"], group["swa_lr"]
            first = end if before == 1 else (lr - before * end) / (1 - before)
            rates.append(end * now + first * (1 - now))
        return rates
