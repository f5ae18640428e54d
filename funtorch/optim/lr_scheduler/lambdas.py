"""Rates by a function of the epoch, or one function for each group."""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

from ...errors import ArgumentTypeError, ArgumentValueError
from ..optimizer import Optimizer
from .base import LRScheduler, values, warn_outside, with_last

Functions = Callable[[int], float] | list[Callable[[int], float]]


class _ByFunction(LRScheduler):
    """Keeps the functions. A function's own state is saved if it is an object; plain functions must be given again."""

    def __init__(self, optimizer: Optimizer, lr_lambda: Functions, last_epoch: int = -1) -> None:
        count = len(optimizer.param_groups)
        given = list(lr_lambda) if isinstance(lr_lambda, (list, tuple)) else [lr_lambda] * count
        if len(given) != count:
            raise ArgumentValueError(f"Expected {count} lr_lambdas, but got {len(given)}")
        for each in given:
            if not callable(each):
                raise ArgumentTypeError(f"lr_lambda should be a function, but got {type(each).__name__}")
        self.lr_lambdas = given
        super().__init__(optimizer, last_epoch)

    def state_dict(self) -> dict[str, Any]:
        """All that the schedule knows, but for the optimiser and plain functions."""
        own = [None if isinstance(fn, types.FunctionType) else dict(fn.__dict__) for fn in self.lr_lambdas]
        return with_last(super().state_dict(), "lr_lambdas", own)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave; the functions stay, objects get their state back."""
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "lr_lambdas"})
        for fn, own in zip(self.lr_lambdas, state_dict["lr_lambdas"], strict=True):
            if own is not None:
                fn.__dict__.update(own)


class LambdaLR(_ByFunction):
    """The initial rate times ``lr_lambda(epoch)``. See `LRScheduler`.

    Raises:
        ValueError: a list of functions whose length is not the number of groups.
        TypeError: what can't be called.
    """

    def get_lr(self) -> list[Any]:
        """The rates for this epoch."""
        warn_outside(self)
        return [base * fn(self.last_epoch) for fn, base in zip(self.lr_lambdas, self.base_lrs, strict=True)]


class MultiplicativeLR(_ByFunction):
    """The rate of the epoch before times ``lr_lambda(epoch)``. See `LambdaLR`."""

    def get_lr(self) -> list[Any]:
        """The rates for this epoch."""
        warn_outside(self)
        if self._is_initial:
            return values(self.optimizer, "lr")
        return [group["lr"] * fn(self.last_epoch) for fn, group in zip(self.lr_lambdas, self.optimizer.param_groups, strict=True)]
