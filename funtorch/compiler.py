"""``funtorch.compiler``: what there is to ask and to set about `funtorch.compile`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .assertions import check
from .core import recorder
from .core.state import state
from .transforms.buckets import mark_dynamic
from .transforms.compiling import compile, explain, reset
from .transforms.counting import counters
from .transforms.entries import settings

__all__ = [
    "check",
    "compile",
    "counters",
    "disable",
    "explain",
    "is_compiling",
    "is_dynamo_compiling",
    "mark_dynamic",
    "reset",
    "set_enabled",
    "settings",
]


def is_compiling() -> bool:
    """Whether the code that asks is being traced into a program."""
    watcher = state.recorder
    while watcher is not None and not isinstance(watcher, recorder.Tracing):
        watcher = watcher.before
    return watcher is not None


is_dynamo_compiling = is_compiling


def set_enabled(on: bool) -> None:
    """Whether compiled functions run compiled (True) or eagerly, everywhere."""
    settings.enabled = bool(on)


def disable(fn: Any = None, recursive: bool = True) -> Any:
    """Keep a function out of programs: whatever calls it stays eager."""
    if fn is None:
        return functools.partial(disable, recursive=recursive)
    return _kept_eager(fn)


def _kept_eager(fn: Callable) -> Callable:
    @functools.wraps(fn)
    def eager(*args: Any, **kwargs: Any) -> Any:
        recorder.refuse(f"it calls {getattr(fn, '__name__', 'a function')}, which compiler.disable keeps out of programs")
        return fn(*args, **kwargs)

    return eager
