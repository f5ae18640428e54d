"""Assertions as functions, as PyTorch's own code has them. In compiled code they raise before any state has changed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .errors import ArgumentTypeError, ArgumentValueError, OpError, OutOfBoundsError
from .tensor import Tensor

UNTOLD = "Expected cond to be True, but got False."
SEVERAL = "Boolean value of Tensor with {} value is ambiguous"


def _assert(condition: Any, message: str) -> None:
    """Raise AssertionError with this message if the condition is false: a bool, or a Tensor of one element.

    Under ``vmap`` it has to hold in every lane. In a function that a loop or branch runs, and in compiled code, it is looked at
    when the loop or the program has run; nothing is changed by one in which it fails.
    """
    if isinstance(condition, Tensor):
        _require(_single(condition), AssertionError, message)
    elif not condition:
        raise AssertionError(message)


def _assert_async(input: Tensor, assert_msg: str | None = None) -> None:
    """Raise RuntimeError, with this message, if a Tensor of one element is zero. It is looked at where `_assert` would do so."""
    _require(_single(input), OpError, assert_msg or "Expected Tensor with single nonzero value, but got zero")


def check(cond: Any, message: str = UNTOLD) -> None:
    """Raise RuntimeError with this message if ``cond`` is false: a bool, or a Tensor of one element, looked at as by `_assert`.

    >>> import funtorch as torch
    >>> torch.compiler.check(torch.tensor(1) > 0, "it must be positive")
    """
    if isinstance(cond, Tensor):
        _require(_single(cond), OpError, message)
    elif not cond:
        raise OpError(message)


def _require(condition: Tensor, error: type[Exception], message: str) -> None:
    from .transforms.control_flow.checking import require  # which most programs never need

    require(condition, error, message)


def _single(condition: Tensor) -> Tensor:
    if condition.numel() != 1:
        raise OpError(SEVERAL.format("no" if condition.numel() == 0 else "more than one"))
    return condition


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
