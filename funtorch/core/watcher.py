"""Watching what a call of a function does: what all watchers share, and what other code tells them.

A watcher is active in a ``with`` block of its own. Ops, generators, optimisers and schedules tell the innermost one, which is
``state.recorder``, through the functions at the end; where nobody watches, these just do what is asked.
"""

from __future__ import annotations

import sys
import threading
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

from ..errors import FuntorchError
from . import handle as handles
from .handle import Handle
from .levels import Batched, Dual, inner_of
from .state import state, watched

PACKAGE = str(Path(__file__).parents[1])


class Disagreement(FuntorchError):
    """A trace met something that the recording did not."""


def user_place() -> str:
    """The file and line, outside of this package, that are running."""
    frame: Any = sys._getframe(1)
    while frame is not None and frame.f_code.co_filename.startswith((PACKAGE, "<op ")):
        frame = frame.f_back
    return "?" if frame is None else f"{frame.f_code.co_filename}:{frame.f_lineno}"


def single_value(tensor: Handle) -> Any:
    """The payload that Python sees of a Tensor: below levels that give it no more than a tangent. Mapped ones stay as they are."""
    payload = handles.value_of(tensor)
    while type(payload) is Dual or type(payload) is Batched and payload.axis is None:
        payload = handles.value_of(inner_of(payload))
    return payload


class Watcher:
    """Common to both: which Tensors were made inside, and being active."""

    # Whether JAX differentiates what runs here, so that what the tape does not record has to end its derivatives.
    cuts: Any = False
    # Whether draws come from a key of its own, so that as many may be drawn as the shapes say, whatever the values.
    keyed = False
    # Whether this runs a function on tracers, in the steps of a recording.
    traces = False
    # Whether ops are traced as XLA computes them best (`core.op.Op.suited`).
    suited = False

    def __init__(self) -> None:
        self.inside: dict[int, Any] = {}  # by id, a weak reference
        self.before: Any = None
        self.thread = threading.get_ident()

    def __enter__(self) -> Any:
        self.before = state.recorder
        state.recorder = self
        watched.append(None)
        handles.watchers.append(self.made)
        return self

    def __exit__(self, *exc: object) -> None:
        handles.watchers.pop()
        state.recorder = self.before
        watched.pop()

    def made(self, new: Handle) -> None:
        """A Tensor was made: it's not a cell."""
        if threading.get_ident() != self.thread:
            return
        key, inside = id(new), self.inside
        inside[key] = weakref.ref(new, lambda _: inside.pop(key, None))

    def is_outer(self, tensor: Handle) -> bool:
        """Whether a Tensor was there before."""
        return id(tensor) not in self.inside

    def by_values(self, name: str, values: Any, thunk: Callable) -> Any:
        """``thunk()``, which draws numbers whose law depends on ``values``."""
        return thunk()

    def check(self, passed: Any, error: type[Exception], message: str) -> bool:
        """Something is to be true; whether this sees to it that ``error(message)`` is raised if it is not."""
        return False


class Unwatched:
    """In a ``with`` block, what happens on this thread is not told to ``watcher``."""

    def __init__(self, watcher: Watcher) -> None:
        self.watcher = watcher

    def __enter__(self) -> None:
        state.recorder = self.watcher.before
        handles.watchers.remove(self.watcher.made)

    def __exit__(self, *exc: object) -> None:
        state.recorder = self.watcher
        handles.watchers.append(self.watcher.made)


def look_up(container: Any, path: tuple) -> Any:
    """``container[path[0]][path[1]]...``"""
    for key in path:
        container = container[key]
    return container


def number(container: Any, *path: Any) -> Any:
    """Read a hyperparameter ``container[path[0]]...``: in compiled code it is an input, so that a change is seen."""
    return look_up(container, path) if state.recorder is None else state.recorder.number(container, path)


def draw(source: Any, thunk: Callable, signature: tuple) -> Any:
    """Draw from a generator by ``thunk()``; in compiled code numbers are drawn on the host, in order, and are inputs."""
    return thunk() if state.recorder is None else state.recorder.draw(source, thunk, signature)


def effect(thunk: Callable, key: Any) -> None:
    """Change Python state by ``thunk()``: in compiled code once for each call, at its end. ``key`` says what it does."""
    if state.recorder is None:
        thunk()
    else:
        state.recorder.effect(thunk, key)


def refuse(why: str) -> None:
    """Say that code around here can't be part of a program, if somebody watches who would make one."""
    if state.recorder is not None:
        state.recorder.refuse(why)
