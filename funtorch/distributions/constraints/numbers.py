"""Constraints on single numbers: bounds, whole numbers, truth values."""

from __future__ import annotations

from typing import Any

from ...tensor import Tensor
from .constraint import Constraint


class _Boolean(Constraint):
    """Zero or one."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return (value == 0) | (value == 1)


class _Real(Constraint):
    """Any number that is not NaN."""

    def check(self, value: Tensor) -> Tensor:
        return value == value


class _Bounded(Constraint):
    """What the constraints with bounds share: their names in ``bounds`` and their repr."""

    bounds: tuple[str, ...] = ()

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)}" for name in self.bounds)
        return f"{type(self).__name__.removeprefix('_')}({shown})"


class _Above(_Bounded):
    bounds = ("lower_bound",)

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound
        super().__init__()


class _Below(_Bounded):
    bounds = ("upper_bound",)

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound
        super().__init__()


class _Between(_Bounded):
    bounds = ("lower_bound", "upper_bound")

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound, self.upper_bound = lower_bound, upper_bound
        super().__init__()


class _GreaterThan(_Above):
    """Above ``lower_bound``."""

    def check(self, value: Tensor) -> Tensor:
        return self.lower_bound < value


class _GreaterThanEq(_Above):
    """``lower_bound`` or above."""

    def check(self, value: Tensor) -> Tensor:
        return self.lower_bound <= value


class _LessThan(_Below):
    """Below ``upper_bound``."""

    def check(self, value: Tensor) -> Tensor:
        return value < self.upper_bound


class _Interval(_Between):
    """From ``lower_bound`` to ``upper_bound``, with both."""

    def check(self, value: Tensor) -> Tensor:
        return (self.lower_bound <= value) & (value <= self.upper_bound)


class _HalfOpenInterval(_Between):
    """From ``lower_bound`` on, below ``upper_bound``."""

    def check(self, value: Tensor) -> Tensor:
        return (self.lower_bound <= value) & (value < self.upper_bound)


def is_whole(value: Tensor) -> Tensor:
    """Whether each number is a whole one."""
    return value % 1 == 0


class _IntegerInterval(_Between):
    """Whole numbers from ``lower_bound`` to ``upper_bound``, with both."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return is_whole(value) & (self.lower_bound <= value) & (value <= self.upper_bound)


class _IntegerLessThan(_Below):
    """Whole numbers up to ``upper_bound``."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return is_whole(value) & (value <= self.upper_bound)


class _IntegerGreaterThan(_Above):
    """Whole numbers from ``lower_bound`` on."""

    is_discrete = True

    def check(self, value: Tensor) -> Tensor:
        return is_whole(value) & (value >= self.lower_bound)
