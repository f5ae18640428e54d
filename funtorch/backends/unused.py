"""What the switches of libraries have in common that PyTorch calls and XLA does not: they are kept, and nothing heeds them."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import Any


class verbose:  # noqa: N801
    """``with torch.backends.mkl.verbose(level):`` a library that is not used has nothing to say."""

    def __init__(self, enable: int, *options: Any) -> None:
        self.enable = enable

    def __enter__(self) -> verbose:
        return self

    def __exit__(self, *exc: object) -> None:
        return None


def switch(module: dict[str, Any]) -> tuple[Callable[..., Any], Callable[..., Any]]:
    """``set_flags`` and ``flags`` for ``enabled`` of a module, given by its names."""

    def set_flags(_enabled: bool) -> tuple[bool]:
        """Set ``enabled``, and return what it was."""
        before: bool = module["enabled"]
        module["enabled"] = _enabled
        return (before,)

    @contextlib.contextmanager
    def flags(enabled: bool = False, *others: Any) -> Iterator[None]:
        """``enabled`` as given, inside; as it was, after."""
        before = set_flags(enabled)
        try:
            yield
        finally:
            set_flags(*before)

    return set_flags, flags
