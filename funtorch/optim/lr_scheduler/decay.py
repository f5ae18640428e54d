"""Rates that move a little at each epoch: along a line, an exponential, a power."""

from __future__ import annotations

from ...errors import ArgumentValueError
from ..optimizer import Optimizer
from .base import FactorSchedule


class LinearLR(FactorSchedule):
    """The rate times a factor that goes from ``start_factor`` to ``end_factor`` along a line in ``total_iters`` epochs.

    See `LRScheduler`. Raises ValueError for a start outside (0, 1] or an end outside [0, 1].
    """

    def __init__(
        self, optimizer: Optimizer, start_factor: float = 1.0 / 3, end_factor: float = 1.0, total_iters: int = 5, last_epoch: int = -1
    ) -> None:  # fmt: skip
        if not 0 < start_factor <= 1.0:
            raise ArgumentValueError(
                f"Starting multiplicative factor expected to be greater than 0 and less or equal to 1, got {start_factor}."
            )
        if not 0 <= end_factor <= 1.0:
            raise ArgumentValueError(f"Ending multiplicative factor expected to be between 0 and 1, got {end_factor}.")
        self.start_factor, self.end_factor, self.total_iters = start_factor, end_factor, total_iters
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        if self.last_epoch == 0:
            return self.start_factor
        if self._is_initial or self.last_epoch > self.total_iters:
            return None
        rise = self.end_factor - self.start_factor
        return 1.0 + rise / (self.total_iters * self.start_factor + (self.last_epoch - 1) * rise)

    def _total_factor(self) -> float:
        return (
            self.start_factor + (self.end_factor - self.start_factor) * min(self.total_iters, self.last_epoch) / self.total_iters
        )


class ExponentialLR(FactorSchedule):
    """The rate times ``gamma`` at each epoch. See `LRScheduler`."""

    def __init__(self, optimizer: Optimizer, gamma: float, last_epoch: int = -1) -> None:
        self.gamma = gamma
        super().__init__(optimizer, last_epoch)

    def _factor(self) -> float | None:
        return None if self._is_initial else self.gamma

    def _total_factor(self) -> float:
        return self.gamma**self.last_epoch


class PolynomialLR(FactorSchedule):
    """The rate times ``(1 - epoch / total_iters) ** power``, 0 from epoch ``total_iters`` on. See `LRScheduler`."""

    def __init__(self, optimizer: Optimizer, total_iters: int = 5, power: float = 1.0, last_epoch: int = -1) -> None:
        self.total_iters, self.power = total_iters, power
        super().__init__(optimizer, last_epoch)

    def _left(self, epoch: int) -> float:
        return 1.0 - epoch / self.total_iters

    def _factor(self) -> float | None:
        if self._is_initial or self.last_epoch > self.total_iters:
            return None
        return (self._left(self.last_epoch) / self._left(self.last_epoch - 1)) ** self.power

    def _total_factor(self) -> float:
        return self._left(min(self.total_iters, self.last_epoch)) ** self.power
