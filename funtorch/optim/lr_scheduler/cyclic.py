"""Rates up and down between two bounds (Smith, 2017)."""

from __future__ import annotations

import functools
import math
import types
from collections.abc import Callable
from typing import Any

from ...errors import ArgumentValueError
from ..optimizer import Optimizer
from .base import LRScheduler, check_optimizer, per_group, put, warn_outside, with_last
from .momentum import put_momentum, start, uses_betas

# By mode: whether the height of a cycle shrinks with the number of the cycle or of the step.
_SHRINKING = {"triangular": "cycle", "triangular2": "cycle", "exp_range": "iterations"}


class CyclicLR(LRScheduler):
    """From ``base_lr`` to ``max_lr`` in ``step_size_up`` steps and back, again and again; momentum the other way round.

    Args:
        optimizer, last_epoch: see `LRScheduler`.
        base_lr, max_lr: the bounds, one for all groups or a list.
        step_size_up, step_size_down: steps of the two halves; the second as long as the first unless given.
        mode: "triangular"; "triangular2": each cycle half as high; "exp_range": times ``gamma`` to the power of the step.
        scale_fn, scale_mode: a function of one's own in place of ``mode``, of the "cycle" (1, 2, ...) or of the "iterations".
        cycle_momentum, base_momentum, max_momentum: whether momentum moves too, and between what.

    Raises:
        ValueError: an unknown mode, a list of another length, or an optimiser without momentum.
    """

    _unsaved = ("optimizer", "_scale_fn_ref")

    def __init__(
        self, optimizer: Optimizer, base_lr: Any, max_lr: Any, step_size_up: int = 2000, step_size_down: int | None = None,
        mode: str = "triangular", gamma: float = 1.0, scale_fn: Callable[[float], float] | None = None, scale_mode: str = "cycle",
        cycle_momentum: bool = True, base_momentum: Any = 0.8, max_momentum: Any = 0.9, last_epoch: int = -1,
    ) -> None:  # fmt: skip
        check_optimizer(optimizer)
        if mode not in _SHRINKING and scale_fn is None:
            raise ArgumentValueError(
                f"mode is invalid and scale_fn is None: expected one of {', '.join(_SHRINKING)}, got {mode!r}"
            )
        self.optimizer = optimizer
        base_lrs = per_group("base_lr", optimizer, base_lr)
        self.max_lrs = per_group("max_lr", optimizer, max_lr)
        up = float(step_size_up)
        self.total_size = up + (up if step_size_down is None else float(step_size_down))
        self.step_ratio = up / self.total_size
        self.mode, self.gamma = mode, gamma
        self._scale_fn_custom = scale_fn
        self.scale_mode = scale_mode if scale_fn is not None else _SHRINKING[mode]
        if scale_fn is None:
            self._scale_fn_ref = self._shrinking(mode)  # where files have it
        self.cycle_momentum = cycle_momentum
        if cycle_momentum:
            self.use_beta1 = uses_betas(optimizer)
        if last_epoch == -1:
            for group, rate in zip(optimizer.param_groups, base_lrs, strict=True):
                put(group, "lr", rate)
        if cycle_momentum:
            self.base_momentums, self.max_momentums = start(
                optimizer, base_momentum, max_momentum, self.use_beta1, last_epoch == -1
            )
        super().__init__(optimizer, last_epoch)
        self.base_lrs = base_lrs

    def scale_fn(self, x: float) -> float:
        """How high cycle or step ``x`` is, of 1."""
        if self._scale_fn_custom is not None:
            return self._scale_fn_custom(x)
        return self._scale_fn_ref(x)

    def _shrinking(self, mode: str) -> Callable[[float], float]:
        """How the height of a cycle shrinks in a mode."""
        if mode == "exp_range":
            return functools.partial(CyclicLR._exp_range_scale_fn, self.gamma)
        return CyclicLR._triangular_scale_fn if mode == "triangular" else CyclicLR._triangular2_scale_fn

    @staticmethod
    def _triangular_scale_fn(x: float) -> float:
        return 1.0

    @staticmethod
    def _triangular2_scale_fn(x: float) -> float:
        return 1 / 2.0 ** (x - 1)

    @staticmethod
    def _exp_range_scale_fn(gamma: float, x: float) -> float:
        return gamma**x

    def get_lr(self) -> list[Any]:
        """The rates for this step; the groups' momentum is set on the way."""
        warn_outside(self)
        cycle = math.floor(1 + self.last_epoch / self.total_size)
        x = 1.0 + self.last_epoch / self.total_size - cycle
        climbed = x / self.step_ratio if x <= self.step_ratio else (x - 1) / (self.step_ratio - 1)
        scale = self.scale_fn(cycle if self.scale_mode == "cycle" else self.last_epoch)
        if self.cycle_momentum:
            for group, low, high in zip(self.optimizer.param_groups, self.base_momentums, self.max_momentums, strict=True):
                put_momentum(group, high - (high - low) * climbed * scale, self.use_beta1)
        return [low + (high - low) * climbed * scale for low, high in zip(self.base_lrs, self.max_lrs, strict=True)]

    def state_dict(self) -> dict[str, Any]:
        """All that the schedule knows, but for the optimiser; of a function of one's own, the state if it is an object."""
        own = self._scale_fn_custom
        saved = None if own is None or isinstance(own, types.FunctionType) else dict(own.__dict__)
        return with_last(super().state_dict(), "_scale_fn_custom", saved)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave; a function of one's own stays."""
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "_scale_fn_custom"})
        if self._scale_fn_custom is None:
            self._scale_fn_ref = self._shrinking(self.mode)
        if state_dict["_scale_fn_custom"] is not None and self._scale_fn_custom is not None:
            self._scale_fn_custom.__dict__.update(state_dict["_scale_fn_custom"])
