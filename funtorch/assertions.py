"""Assertions as functions, as PyTorch's own code has them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import ArgumentTypeError, ArgumentValueError, OpError, OutOfBoundsError

UNTOLD = "Expected cond to be True, but got False."


def _assert(condition: Any, message: str) -> None:
    """Raise AssertionError with this message if the condition is false."""
    assert condition, message


def _raiser(name: str, kind: type[Exception]) -> Callable:
    def check(cond: bool, message: Callable[[], str] | None = None) -> None:
        if not isinstance(cond, bool):
            raise ArgumentTypeError(f"cond must be a bool, but got {type(cond)}")
        if not cond:
            raise kind(UNTOLD if message is None else str(message()))

    check.__name__ = check.__qualname__ = name
    check.__doc__ = f"Raise {kind.__bases__[-1].__name__}, with what ``message()`` gives, if ``cond`` is False."
    return check


_check = _raiser("_check", OpError)
_check_index = _raiser("_check_index", OutOfBoundsError)
_check_value = _raiser("_check_value", ArgumentValueError)
_check_type = _raiser("_check_type", ArgumentTypeError)
