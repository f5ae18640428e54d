"""What all schedules share: counting epochs, writing rates into the groups, saving; and those that multiply by a factor."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...cautions import caution
from ...core.state import state
from ...core.watcher import effect, refuse
from ...errors import ArgumentTypeError, ArgumentValueError
from ...tensor import Tensor
from ..optimizer import Optimizer

TOO_EARLY = (
    "Detected call of `lr_scheduler.step()` before `optimizer.step()`: call them in the opposite order, or the first value of the "
    "learning rate schedule is skipped"
)
EPOCH = "The epoch parameter in `scheduler.step()` is deprecated: call `scheduler.step()` without it"
ASKED_OUTSIDE = "To get the last learning rate computed by the scheduler, please use `get_last_lr()`."


def values(optimizer: Optimizer, key: str) -> list[Any]:
    """An option of each group; Tensors are copied, so that a later change of the option leaves them alone."""
    return [kept(group[key]) for group in optimizer.param_groups]


def kept(value: Any) -> Any:
    """A value that stays as it is: a copy of a Tensor."""
    return value.detach().clone() if isinstance(value, Tensor) else value


def put(group: dict[str, Any], key: str, value: Any) -> None:
    """Change an option of a group: in place if it is a Tensor."""
    if isinstance(group[key], Tensor):
        group[key].detach().fill_(value.item() if isinstance(value, Tensor) else value)
    else:
        group[key] = value


def per_group(name: str, optimizer: Optimizer, value: Any) -> list[Any]:
    """A value for each group, from one for all or a list. Raises ValueError if the list is of another length."""
    count = len(optimizer.param_groups)
    if not isinstance(value, (list, tuple)):
        return [kept(value) for _ in range(count)]
    if len(value) != count:
        raise ArgumentValueError(
            f"{name} must have the same length as optimizer.param_groups. {name} has {len(value)} values, param_groups has {count}."
        )
    return [kept(each) for each in value]


def with_last(saved: dict[str, Any], key: str, value: Any) -> dict[str, Any]:
    """A saved state in which ``key`` has this value and comes last, where PyTorch writes it."""
    return {**{name: each for name, each in saved.items() if name != key}, key: value}


def check_optimizer(optimizer: Any) -> None:
    """Raise TypeError for what is no optimiser."""
    if not isinstance(optimizer, Optimizer):
        raise ArgumentTypeError(f"{type(optimizer).__name__} is not an Optimizer")


def warn_outside(scheduler: Any) -> None:
    """Warn if ``get_lr`` of a schedule was called by another than its own step."""
    if not scheduler._get_lr_called_within_step:
        caution(ASKED_OUTSIDE)


def watched(step: Callable) -> Callable:
    """``step`` so that compiled code around it goes to the next epoch at each call, though a program only has numbers."""

    @functools.wraps(step)
    def inside(self: Any, *args: Any, **kwargs: Any) -> None:
        if state.recorder is None:
            step(self, *args, **kwargs)
            return
        if any(isinstance(a, Tensor) for a in (*args, *kwargs.values())):
            refuse("a schedule decides by the value of a Tensor")
        effect(functools.partial(step, self, *args, **kwargs), (id(self), args, tuple(kwargs.items())))

    return inside


class LRScheduler:
    """Base of schedules. A subclass defines ``get_lr``: the rates for epoch ``self.last_epoch``, one for each group.

    A subclass that can tell them without those of the epoch before defines ``_get_closed_form_lr`` too.

    Args:
        optimizer: whose rates are changed; a rate that is a Tensor is changed in place.
        last_epoch: the epoch to go on from; -1 starts anew, with the groups' rates as the initial ones.

    Raises:
        TypeError: ``optimizer`` is none.
        KeyError: going on, and a group has no "initial_lr".
    """

    _get_lr_called_within_step = False
    _is_initial = False
    _unsaved: tuple[str, ...] = ("optimizer",)  # what is left out of the saved state

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        if "step" in cls.__dict__:
            cls.step = watched(cls.__dict__["step"])  # type: ignore[method-assign]

    def __init__(self, optimizer: Optimizer, last_epoch: int = -1) -> None:
        check_optimizer(optimizer)
        self.optimizer = optimizer
        for number, group in enumerate(optimizer.param_groups):
            if last_epoch == -1:
                group.setdefault("initial_lr", kept(group["lr"]))
            elif "initial_lr" not in group:
                raise KeyError(
                    f"param 'initial_lr' is not specified in param_groups[{number}] when resuming scheduler with last_epoch >= 0"
                )
        self.base_lrs: list[Any] = values(optimizer, "initial_lr")
        self.last_epoch = last_epoch
        self._initial_step()

    def _initial_step(self) -> None:
        """Go to the first epoch."""
        self._step_count = 0
        self._is_initial = True
        try:
            self.step()
        finally:
            self._is_initial = False

    def state_dict(self) -> dict[str, Any]:
        """All that the schedule knows, but for the optimiser."""
        return {key: value for key, value in self.__dict__.items() if key not in self._unsaved}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave. The optimiser's own rates come with its state."""
        self.__dict__.update(state_dict)

    def get_last_lr(self) -> list[Any]:
        """The rates that the schedule set last, one for each group."""
        return self._last_lr

    def get_lr(self) -> list[Any]:
        """The rates for epoch ``self.last_epoch``, given those of the epoch before in the groups."""
        raise NotImplementedError(f"{type(self).__name__} must define get_lr()")

    @watched
    def step(self, epoch: int | None = None) -> None:
        """Go to the next epoch, or (deprecated) to the one that is given. Call it after ``optimizer.step()``."""
        if self._step_count == 1 and not getattr(self.optimizer, "_opt_called", False):
            caution(TOO_EARLY)
        self._step_count += 1
        if epoch is not None:
            caution(EPOCH)
        self._update_lr(epoch)

    def _update_lr(self, epoch: int | None = None) -> None:
        """Set the rates of the next epoch, or of the one that is given."""
        self._get_lr_called_within_step = True
        try:
            self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
            closed = None if epoch is None else getattr(self, "_get_closed_form_lr", None)
            rates = self.get_lr() if closed is None else closed()
        finally:
            self._get_lr_called_within_step = False
        self._write(rates)

    def _write(self, rates: list[Any]) -> None:
        for group, rate in zip(self.optimizer.param_groups, rates, strict=True):
            put(group, "lr", rate)
        self._last_lr: list[Any] = values(self.optimizer, "lr")


_LRScheduler = LRScheduler  # its name before PyTorch 2.0


class FactorSchedule(LRScheduler):
    """A schedule that multiplies the rate at each epoch, so that it can be chained with others."""

    def _factor(self) -> float | None:
        """By what the rate of the epoch before is multiplied; None: not at all."""
        raise NotImplementedError

    def _total_factor(self) -> float:
        """The product of the factors so far."""
        raise NotImplementedError

    def get_lr(self) -> list[Any]:
        """The rates for this epoch, from those of the one before."""
        warn_outside(self)
        factor = self._factor()
        if factor is None:
            return values(self.optimizer, "lr")
        return [group["lr"] * factor for group in self.optimizer.param_groups]

    def _get_closed_form_lr(self) -> list[Any]:
        total = self._total_factor()
        return [base * total for base in self.base_lrs]
