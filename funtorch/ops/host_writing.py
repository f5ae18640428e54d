"""Elements written into an array of the host's memory that only one Tensor holds: no copy of the rest.

Arrays are immutable to everyone who shares them; whoever shares one holds a reference to it (a view by NumPy, the tape,
another Tensor), so that the count of references says whether anybody would notice.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.engine import CONCRETE, mode_in_force
from ..core.handle import Handle, make, value_of
from ..core.shared_memory import memory_of
from ..core.state import state
from .windows import NEW, WHOLE, Steps


def _references(handle: Handle) -> int:
    return sys.getrefcount(handle._payload)


_ALONE = _references(make(np.zeros(1)))


def may_write(target: Handle, value: Any, pickers: Sequence[Any]) -> bool:
    """Whether a write into ``target`` can be NumPy's; not on the tape, batched, traced, recorded, or through a view."""
    if target._base is not None or state.levels or state.recorder is not None or mode_in_force() == "kernel":
        return False
    if state.grad and (target._requires or (isinstance(value, Handle) and value._requires)):
        return False
    others = [x for x in (value, *pickers) if isinstance(x, Handle)]
    return type(target._payload) in CONCRETE and all(type(x._payload) in CONCRETE for x in others)


def _is_plain(payload: Any) -> bool:
    return type(payload) is np.ndarray and payload.flags.owndata and payload.flags.writeable


def writable(target: Handle) -> np.ndarray:
    """The array of ``target`` to write into: its own, or a copy that becomes its own if somebody else holds that.

    Memory that it shares with NumPy is written itself.
    """
    if target._source is not None:
        memory = memory_of(target)
        if memory.array.flags.writeable:
            memory.noted(target)
            return memory.array
        value_of(target)
        target._source = None
    if not _is_plain(target._payload) or _references(target) > _ALONE:
        target._payload = np.array(target._payload, order="C")
    target._writes += 1
    return target._payload


def host_value(value: Any) -> np.ndarray:
    """A Tensor's values, or an array as it is."""
    return np.asarray(value._payload) if isinstance(value, Handle) else value


def host_window(array: np.ndarray, steps: Steps, places: Sequence[Any]) -> np.ndarray:
    """The window of an array, as a view by NumPy."""
    given = iter(places)
    index: list[Any] = []
    for step in steps:
        if step == NEW:
            index.append(None)
        elif step == WHOLE:
            index.append(slice(None))
        else:
            start = int(next(given))
            length, stride = (None, 1) if isinstance(step, str) else step
            index.append(start if length is None else slice(start, start + length * stride, stride))
    return array[(*index, ...)]  # with an ellipsis NumPy gives a view even of one element
