"""Warnings where PyTorch warns: they point at the user's line, and some are given only once in a process."""

from __future__ import annotations

import sys
import warnings
from pathlib import Path
from typing import Any

__all__ = ["caution", "caution_once", "is_warn_always_enabled", "set_warn_always"]

PACKAGE = str(Path(__file__).parent)
_given: set[str] = set()
_always = False


def set_warn_always(b: bool) -> None:
    """Whether warnings that are given once in a process are given each time."""
    global _always
    _always = bool(b)


def is_warn_always_enabled() -> bool:
    """What `set_warn_always` was told; False at first."""
    return _always


def caution(text: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line of the caller's that is outside of this package."""
    level = 2
    frame: Any = sys._getframe(1)
    while frame is not None and (
        frame.f_code.co_filename.startswith((PACKAGE, "<op ")) or frame.f_globals.get("__name__", "").startswith("jax.")
    ):
        frame = frame.f_back
        level += 1
    warnings.warn(text, category, stacklevel=level)


def caution_once(text: str, category: type[Warning] = UserWarning, key: str | None = None) -> None:
    """`caution`, if no warning of that ``key`` (the text, unless given) was given before."""
    key = text if key is None else key
    if key not in _given or _always:
        _given.add(key)
        caution(text, category)
