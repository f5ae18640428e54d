"""The classes and functions that the user admits for ``load(weights_only=True)``, beside PyTorch's own."""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentTypeError

admitted_by_user: list[tuple[Any, str]] = []  # what `add_safe_globals` was given, each with its full name


def full_name(value: Any) -> str:
    """``module.name`` as a file has it. Raises TypeError for what has no name."""
    from . import names

    theirs = names.torch_name(value)
    if theirs is not None:
        return ".".join(theirs)
    module, name = getattr(value, "__module__", None), getattr(value, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(name, str):
        raise ArgumentTypeError(f"add_safe_globals(): {value!r} is neither a class nor a function")
    return f"{module}.{name}"


def add_safe_globals(safe_globals: list[Any]) -> None:
    """Let ``load(weights_only=True)`` use more classes and functions, from now on.

    Args:
        safe_globals: classes and functions; or pairs of one with the full name that files have for it.

    Raises:
        TypeError: one of them is neither.
    """
    admitted_by_user.extend(_entry(value) for value in safe_globals)


def _entry(value: Any) -> tuple[Any, str]:
    if isinstance(value, tuple):
        if len(value) != 2 or not isinstance(value[1], str):
            raise ArgumentTypeError("add_safe_globals(): a pair must be (class or function, its full name)")
        return value
    return value, full_name(value)


def get_safe_globals() -> list[Any]:
    """What was admitted by `add_safe_globals`, in that order."""
    return [value if full_name_or_none(value) == name else (value, name) for value, name in admitted_by_user]


def full_name_or_none(value: Any) -> str | None:
    """`full_name`, or None for what has none."""
    try:
        return full_name(value)
    except ArgumentTypeError:
        return None


def clear_safe_globals() -> None:
    """Admit none of them any more."""
    admitted_by_user.clear()


class safe_globals:  # noqa: N801  # PyTorch's name
    """A context in which ``load(weights_only=True)`` uses more classes and functions.

    >>> import datetime, io, funtorch as torch
    >>> file = io.BytesIO(); torch.save(datetime.timedelta(1), file)
    >>> with torch.serialization.safe_globals([datetime.timedelta]):
    ...     torch.load(io.BytesIO(file.getvalue()))
    datetime.timedelta(days=1)
    """

    def __init__(self, safe_globals: list[Any]) -> None:
        self.given = safe_globals
        self.before: list[tuple[Any, str]] = []

    def __enter__(self) -> None:
        self.before = list(admitted_by_user)
        add_safe_globals(self.given)

    def __exit__(self, *error: object) -> None:
        admitted_by_user[:] = self.before
