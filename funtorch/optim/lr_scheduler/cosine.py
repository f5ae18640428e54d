"""Rates along a cosine (Loshchilov and Hutter, 2017, equation 5): once, or with restarts."""

from __future__ import annotations

import math
from typing import Any

from ...errors import ArgumentValueError
from ..optimizer import Optimizer
from .base import LRScheduler, values, warn_outside


class CosineAnnealingLR(LRScheduler):
    r"""From the initial rate to ``eta_min`` in ``T_max`` epochs, and up again: :math:`\eta_{min} + (\eta - \eta_{min})(1 + \cos(\pi t / T)) / 2`.

    Computed from the rate of the epoch before, so that it can be chained with other schedules. See `LRScheduler`.
    """

    def __init__(self, optimizer: Optimizer, T_max: int, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        self.T_max, self.eta_min = T_max, eta_min
        super().__init__(optimizer, last_epoch)

    def _height(self, epoch: int) -> float:
        return 1 + math.cos(math.pi * epoch / self.T_max)

    def get_lr(self) -> list[Any]:
        """The rates for this epoch, from those of the one before."""
        warn_outside(self)
        if self._is_initial:
            return values(self.optimizer, "lr")
        groups = self.optimizer.param_groups
        if self._step_count == 1 and self.last_epoch > 0:  # going on from an epoch whose rates are not in the groups
            return self._get_closed_form_lr()
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:  # the epoch before was the lowest: no ratio to it
            return [
                group["lr"] + (base - self.eta_min) * (1 - math.cos(math.pi / self.T_max)) / 2
                for base, group in zip(self.base_lrs, groups, strict=True)
            ]
        ratio = self._height(self.last_epoch) / self._height(self.last_epoch - 1)
        return [ratio * (group["lr"] - self.eta_min) + self.eta_min for group in groups]

    def _get_closed_form_lr(self) -> list[Any]:
        height = self._height(self.last_epoch)
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]


class CosineAnnealingWarmRestarts(LRScheduler):
    """Along half a cosine from the initial rate to ``eta_min``, again and again: in ``T_0`` epochs, then each time ``T_mult`` times as many.

    Args:
        optimizer, last_epoch: see `LRScheduler`.
        T_0: epochs of the first run.
        T_mult: by what the runs lengthen, an int of at least 1.
        eta_min: the lowest rate.

    Raises:
        ValueError: ``T_0``, ``T_mult`` or ``eta_min`` out of range or of another type.
    """

    def __init__(self, optimizer: Optimizer, T_0: int, T_mult: int = 1, eta_min: float = 0.0, last_epoch: int = -1) -> None:
        if not isinstance(T_0, int) or T_0 <= 0:
            raise ArgumentValueError(f"Expected positive integer T_0, but got {T_0}")
        if not isinstance(T_mult, int) or T_mult < 1:
            raise ArgumentValueError(f"Expected integer T_mult >= 1, but got {T_mult}")
        if not isinstance(eta_min, (float, int)):
            raise ArgumentValueError(f"Expected float or int eta_min, but got {eta_min} of type {type(eta_min)}")
        self.T_0, self.T_i, self.T_mult, self.eta_min = T_0, T_0, T_mult, eta_min
        self.T_cur: float = last_epoch
        super().__init__(optimizer, last_epoch)

    def get_lr(self) -> list[Any]:
        """The rates ``T_cur`` epochs after the last restart."""
        warn_outside(self)
        height = 1 + math.cos(math.pi * self.T_cur / self.T_i)
        return [self.eta_min + (base - self.eta_min) * height / 2 for base in self.base_lrs]

    def step(self, epoch: float | None = None) -> None:
        """Go to the next epoch, or to the one that is given, which may lie between two: ``step(epoch + i / batches)``."""
        if epoch is None and self.last_epoch >= 0:
            epoch = self.last_epoch + 1
            self.T_cur += 1
            if self.T_cur >= self.T_i:
                self.T_cur %= self.T_i
                self.T_i *= self.T_mult
        else:
            epoch = 0 if epoch is None else epoch
            if epoch < 0:
                raise ArgumentValueError(f"Expected non-negative epoch, but got {epoch}")
            self._place(epoch)
        self.last_epoch = math.floor(epoch)
        self._get_lr_called_within_step = True
        try:
            rates = self.get_lr()
        finally:
            self._get_lr_called_within_step = False
        self._write(rates)

    def _place(self, epoch: float) -> None:
        """Find the run that an epoch falls into, and how far it has come."""
        if epoch < self.T_0:
            self.T_i, self.T_cur = self.T_0, epoch
        elif self.T_mult == 1:
            self.T_cur = epoch % self.T_0
        else:
            runs = int(math.log(epoch / self.T_0 * (self.T_mult - 1) + 1, self.T_mult))
            self.T_cur = epoch - self.T_0 * (self.T_mult**runs - 1) / (self.T_mult - 1)
            self.T_i = self.T_0 * self.T_mult**runs
