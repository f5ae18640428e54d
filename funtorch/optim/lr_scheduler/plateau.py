"""Rates that shrink when a metric has stopped improving."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from ...cautions import caution
from ...errors import ArgumentValueError, OpError
from ..optimizer import Optimizer
from .base import EPOCH, LRScheduler, check_optimizer, put, values

_BETTER: dict[tuple[str, str], Callable[[float, float, float], bool]] = {
    ("min", "rel"): lambda now, best, threshold: now < best * (1.0 - threshold),
    ("min", "abs"): lambda now, best, threshold: now < best - threshold,
    ("max", "rel"): lambda now, best, threshold: now > best * (threshold + 1.0),
    ("max", "abs"): lambda now, best, threshold: now > best + threshold,
}
_WORST = {"min": math.inf, "max": -math.inf}


class ReduceLROnPlateau(LRScheduler):
    """The rate times ``factor`` once a metric has not improved for more than ``patience`` epochs.

    Args:
        optimizer: see `LRScheduler`.
        mode: "min" or "max": which way is better.
        factor: less than 1.
        patience: epochs without improvement that are put up with.
        threshold, threshold_mode: by how much a metric must be better: "rel", as a part of the best one, or "abs".
        cooldown: epochs after a reduction in which nothing is counted.
        min_lr: the lowest rate, one for all groups or a list.
        eps: a change smaller than this is not made.

    Raises:
        ValueError: a factor of 1 or more, an unknown mode, or a list of another length.
        TypeError: ``optimizer`` is none.
    """

    def __init__(
        self, optimizer: Optimizer, mode: str = "min", factor: float = 0.1, patience: int = 10, threshold: float = 1e-4,
        threshold_mode: str = "rel", cooldown: int = 0, min_lr: Any = 0, eps: float = 1e-8,
    ) -> None:  # fmt: skip
        if factor >= 1.0:
            raise ArgumentValueError(f"Factor should be < 1.0, got {factor}.")
        check_optimizer(optimizer)
        if mode not in _WORST:
            raise ArgumentValueError(f"mode {mode} is unknown!")
        if threshold_mode not in ("rel", "abs"):
            raise ArgumentValueError(f"threshold mode {threshold_mode} is unknown!")
        several = isinstance(min_lr, (list, tuple))
        count = len(optimizer.param_groups)
        if several and len(min_lr) != count:
            raise ArgumentValueError(f"expected {count} min_lrs, got {len(min_lr)}")
        # In the order of PyTorch's, which is that of the saved state.
        self.factor, self.optimizer = factor, optimizer
        self.default_min_lr = None if several else min_lr
        self.min_lrs = list(min_lr) if several else [min_lr] * count
        self.patience, self.cooldown, self.eps, self.last_epoch = patience, cooldown, eps, 0
        self._last_lr = values(optimizer, "lr")
        self.mode_worse, self.mode, self.threshold, self.threshold_mode = _WORST[mode], mode, threshold, threshold_mode
        self._reset()

    def _reset(self) -> None:
        """Forget what was counted."""
        self.best, self.cooldown_counter, self.num_bad_epochs = self.mode_worse, 0, 0

    @property
    def in_cooldown(self) -> bool:
        """Whether nothing is counted at present."""
        return self.cooldown_counter > 0

    def _is_better(self, now: float, best: float) -> bool:
        return _BETTER[self.mode, self.threshold_mode](now, best, self.threshold)

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Count an epoch with this metric: a number, or a Tensor of one element."""
        now = float(metrics)
        if epoch is not None:
            caution(EPOCH)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self._is_better(now, self.best):
            self.best, self.num_bad_epochs = now, 0
        else:
            self.num_bad_epochs += 1
        if self.in_cooldown:
            self.cooldown_counter -= 1
            self.num_bad_epochs = 0
        if self.num_bad_epochs > self.patience:
            self._reduce_lr()
            self.cooldown_counter, self.num_bad_epochs = self.cooldown, 0
        self._last_lr = values(self.optimizer, "lr")

    def _reduce_lr(self) -> None:
        groups = self.optimizer.param_groups
        if len(groups) != len(self.min_lrs):
            if self.default_min_lr is None:
                raise OpError(
                    f"The number of param groups in the `optimizer` ({len(groups)}) differs from when `ReduceLROnPlateau` was initialized "
                    f"({len(self.min_lrs)}); set `min_lrs` of the schedule to a list of that length."
                )
            self.min_lrs = [self.default_min_lr] * len(groups)
        for group, least in zip(groups, self.min_lrs, strict=True):
            before = float(group["lr"])
            after = max(before * self.factor, least)
            if before - after > self.eps:
                put(group, "lr", after)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        super().load_state_dict(state_dict)
        self.mode_worse = _WORST[self.mode]
