"""``funtorch.compiler``: what there is to ask and to set about `funtorch.compile`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .assertions import check
from .core import retracing
from .core import watcher as watching
from .core.state import state
from .transforms.buckets import mark_dynamic
from .transforms.compiling import compile, explain, reset
from .transforms.counting import counters
from .transforms.entries import settings

__all__ = [
    "allow_in_graph",
    "assume_constant_result",
    "check",
    "compile",
    "counters",
    "cudagraph_mark_step_begin",
    "disable",
    "explain",
    "is_compiling",
    "is_dynamo_compiling",
    "is_exporting",
    "mark_dynamic",
    "reset",
    "set_enabled",
    "settings",
]


def is_compiling() -> bool:
    """Whether the code that asks is being traced into a program."""
    watcher = state.recorder
    while watcher is not None and not isinstance(watcher, retracing.Tracing):
        watcher = watcher.before
    return watcher is not None


is_dynamo_compiling = is_compiling


def is_exporting() -> bool:
    """False: a program that is exported is traced as any other."""
    return False


def cudagraph_mark_step_begin() -> None:
    """Nothing: memory is JAX's."""


def allow_in_graph(fn: Any) -> Any:
    """The function itself: every function may be traced."""
    return fn


def assume_constant_result(fn: Any) -> Any:
    """The function itself: what Python computes while it is traced is a constant of the program."""
    return fn


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
        watching.refuse(f"it calls {getattr(fn, '__name__', 'a function')}, which compiler.disable keeps out of programs")
        return fn(*args, **kwargs)

    return eager
