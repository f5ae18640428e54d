"""PyTorch's address of the functions of ``torch``, from which layers that people changed call the recurrent ones."""

# ruff: noqa: N999  the path is PyTorch's

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .ops import registry


def __getattr__(name: str) -> Callable[..., Any]:
    found = registry.names("torch").get(name)
    if found is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return found
