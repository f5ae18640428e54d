"""Whether the parts of a sparse Tensor are checked against its size when it is made."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


class _Settings:
    checked = True


_settings = _Settings()


def checked(asked: bool | None) -> bool:
    """Whether to check: what the caller asked for, or what is in force."""
    return _settings.checked if asked is None else asked


class check_sparse_tensor_invariants:  # noqa: N801
    """Switches the checks on or off: as a function by `enable` and `disable`, in a ``with`` statement, or as a decorator.

    Differs from PyTorch: they are on from the start. They are left out where indices are traced or batched.

    >>> import funtorch as torch
    >>> with torch.sparse.check_sparse_tensor_invariants(False):
    ...     torch.sparse.check_sparse_tensor_invariants.is_enabled()
    False
    """

    def __init__(self, enable: bool = True) -> None:
        self.wanted = enable
        self.before: list[bool] = []

    @staticmethod
    def is_enabled() -> bool:
        """Whether the checks are on."""
        return _settings.checked

    @staticmethod
    def enable() -> None:
        """Switch the checks on."""
        _settings.checked = True

    @staticmethod
    def disable() -> None:
        """Switch the checks off."""
        _settings.checked = False

    def __enter__(self) -> None:
        self.before.append(_settings.checked)
        _settings.checked = self.wanted

    def __exit__(self, *exc: object) -> None:
        _settings.checked = self.before.pop()

    def __call__(self, function: Callable) -> Callable:
        @functools.wraps(function)
        def within(*args: Any, **kwargs: Any) -> Any:
            with type(self)(self.wanted):
                return function(*args, **kwargs)

        return within
