"""What is in force on this thread: grad mode, open transform levels, the active recorder."""

from __future__ import annotations

import contextlib
import threading
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .levels import Level


class State(threading.local):
    """Per-thread switches. ``levels`` holds the open transforms, outermost first."""

    def __init__(self) -> None:
        self.grad = True
        self.inference = False
        self.anomaly = False
        self.anomaly_nan = True
        self.saved_hooks: Any = None  # (pack, unpack) for what nodes save
        self.no_saved_hooks: str | None = None
        self.levels: list[Level] = []
        self.recorder: Any = None
        self.profiler: Any = None  # what notes the time of each call, see `autograd.profiler`
        self.keeper: Any = None  # what keeps results for a second run, see `core.keeping`
        self.mapped = 0
        self.autocast: Any = None  # the automatic casts in force, see `core.casting`


state = State()
_nothing = contextlib.nullcontext()
# An entry for each open transform, recorder and profile of any thread: where it's empty, nobody has to look into ``state``.
watched: list[None] = []


def noted(name: str, owner: Any = None) -> contextlib.AbstractContextManager:
    """A block that has a name, with that of its owner's type, in the profile that is being made, if any."""
    if state.profiler is None:
        return _nothing
    return state.profiler.part(name if owner is None else name.format(type(owner).__name__))
