"""Schedules made of schedules: one after the other, or all at once."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from typing import Any

from ...errors import ArgumentTypeError, ArgumentValueError
from ..optimizer import Optimizer
from .base import LRScheduler, put, values, with_last
from .plateau import ReduceLROnPlateau


class _Composed(LRScheduler):
    """Has members, and saves their states with its own."""

    _schedulers: list[Any]

    def _check(self, schedulers: Sequence[Any], optimizer: Any) -> None:
        name = type(self).__name__
        for number, member in enumerate(schedulers):
            if not hasattr(member, "optimizer"):
                raise ArgumentTypeError(f"{name} at index {number} should have `optimizer` as its attribute.")
            if isinstance(member, ReduceLROnPlateau):
                raise ArgumentValueError(
                    f"{name} does not support `ReduceLROnPlateau`, whose step() needs a metric, but got one at index {number}."
                )
            if member.optimizer is not optimizer:
                raise ArgumentValueError(
                    f"{name} expects all schedulers to belong to the same optimizer, but got scheduler {type(member).__name__} at "
                    f"index {number} has {member.optimizer}, which is different from {type(optimizer).__name__}."
                )

    def _back_to_start(self) -> None:
        """The initial rates, from which the members begin again."""
        for group in self.optimizer.param_groups:
            put(group, "lr", group["initial_lr"])

    def state_dict(self) -> dict[str, Any]:
        """All that the schedule and its members know, but for the optimiser."""
        return with_last(super().state_dict(), "_schedulers", [member.state_dict() for member in self._schedulers])

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Take over what `state_dict` gave."""
        super().load_state_dict({key: value for key, value in state_dict.items() if key != "_schedulers"})
        for member, saved in zip(self._schedulers, state_dict["_schedulers"], strict=True):
            member.load_state_dict(saved)


def _undo_first(scheduler: Any) -> None:
    """Take back the epoch that a schedule counted when it was made, and so for all that it is made of."""
    if isinstance(scheduler, _Composed):
        for member in scheduler._schedulers:
            _undo_first(member)
    else:
        scheduler.last_epoch -= 1


class SequentialLR(_Composed):
    """One schedule after the other: the next takes over at each of the epochs ``milestones``, and begins there with its epoch 0.

    A composed schedule may be a member, too.

    Args:
        optimizer, last_epoch: see `LRScheduler`.
        schedulers: at least one, all of this optimiser.
        milestones: one epoch less than there are schedules, in order.

    Raises:
        ValueError: no schedules, other numbers of milestones, another optimiser, or `ReduceLROnPlateau`.
        TypeError: a member that has no optimiser.
    """

    def __init__(self, optimizer: Optimizer, schedulers: list[Any], milestones: list[int], last_epoch: int = -1) -> None:
        if len(schedulers) < 1:
            raise ArgumentValueError("SequentialLR expects at least one scheduler, but got no scheduler.")
        self._check(schedulers, optimizer)
        if len(milestones) != len(schedulers) - 1:
            raise ArgumentValueError(
                "Sequential Schedulers expects number of schedulers provided to be one more than the number of milestone points, but got "
                f"number of schedulers {len(schedulers)} and the number of milestones to be equal to {len(milestones)}"
            )
        self._schedulers, self._milestones = schedulers, milestones
        self.last_epoch = last_epoch + 1
        self.optimizer = optimizer
        self._back_to_start()
        _undo_first(self)
        self._initial_step()

    def _initial_step(self) -> None:
        member = self._schedulers[bisect_right(self._milestones, 0)]
        member._initial_step()
        self._last_lr = member.get_last_lr()

    def step(self, epoch: int | None = None) -> None:
        """Go to the next epoch. Raises TypeError for an epoch, which a sequence can't jump to."""
        if epoch is not None:
            raise ArgumentTypeError(f"SequentialLR.step() takes no epoch, got {epoch}")
        self.last_epoch += 1
        number = bisect_right(self._milestones, self.last_epoch)
        member = self._schedulers[number]
        if number > 0 and self._milestones[number - 1] == self.last_epoch:
            member._update_lr(0)
        else:
            member.step()
        self._last_lr = member.get_last_lr()

    def _update_lr(self, epoch: int | None = None) -> None:
        """Begin again, as a member whose turn has come."""
        self.last_epoch = 0
        member = self._schedulers[bisect_right(self._milestones, 0)]
        member._update_lr(0)
        self._last_lr = member.get_last_lr()


class ChainedScheduler(_Composed):
    """All schedules at once: each changes the rate that the one before it left.

    Args:
        schedulers: at least one, all of one optimiser.
        optimizer: that optimiser; the first schedule's unless given.

    Raises:
        ValueError: no schedules, another optimiser, or `ReduceLROnPlateau`.
        TypeError: a member that has no optimiser.
    """

    def __init__(self, schedulers: Sequence[Any], optimizer: Optimizer | None = None) -> None:
        if len(schedulers) < 1:
            raise ArgumentValueError("ChainedScheduler expects at least one scheduler to be chained, but got no scheduler.")
        chosen: Any = getattr(schedulers[0], "optimizer", None) if optimizer is None else optimizer
        self._check(schedulers, chosen)
        self._schedulers, self.optimizer = list(schedulers), chosen
        self._last_lr = values(chosen, "lr")

    def _initial_step(self) -> None:
        for member in self._schedulers:
            member._initial_step()
        self._last_lr = values(self.optimizer, "lr")

    def step(self, epoch: int | None = None) -> None:
        """Go to the next epoch. Raises TypeError for an epoch, which a chain can't jump to."""
        if epoch is not None:
            raise ArgumentTypeError(f"ChainedScheduler.step() takes no epoch, got {epoch}")
        for member in self._schedulers:
            member.step()
        self._last_lr = values(self.optimizer, "lr")

    def _update_lr(self, epoch: int | None = None) -> None:
        """Begin again, as a member whose turn has come: from the initial rates, since each goes on from what it finds."""
        self._back_to_start()
        for member in self._schedulers:
            if isinstance(member, _Composed):
                member._update_lr(0)
            else:
                member.last_epoch = -1
                member._initial_step()
        self._last_lr = values(self.optimizer, "lr")
