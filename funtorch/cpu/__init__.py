"""``funtorch.cpu``: the CPU as a device among others, so that code for any of them finds its functions."""

from __future__ import annotations

import contextlib
import os
import platform
from typing import Any

from ..devices import device as _Device
from ..streams import Event as _Event
from ..streams import Stream as _Stream
from ..streams import finish as _finish
from . import amp

__all__ = [
    "Event", "Stream", "StreamContext", "amp", "current_device", "current_stream", "device_count", "get_capabilities", "is_available",
    "is_initialized", "set_device", "stream", "synchronize",
]  # fmt: skip


class Stream(_Stream):
    """A name for the CPU's queue of work. ``priority`` is kept, without effect."""

    def __init__(self, priority: int = -1) -> None:
        super().__init__("cpu", priority=priority)


class Event(_Event):
    """A moment of the CPU's work; it keeps no time."""

    def __init__(self) -> None:
        super().__init__("cpu")


class StreamContext(contextlib.nullcontext):
    """``with torch.cpu.stream(s):`` changes nothing: there is one."""

    def __init__(self, stream: Any) -> None:
        super().__init__()
        self.stream = stream


_the_stream = Stream()


def stream(stream: Any) -> StreamContext:
    """A block in which a stream is the current one."""
    return StreamContext(stream)


def current_stream(device: Any = None) -> Stream:
    """The only one."""
    return _the_stream


def current_device() -> str:
    """ "cpu"."""
    return "cpu"


def set_device(device: Any) -> None:
    """Nothing: there is one CPU."""


def device_count() -> int:
    """1."""
    return 1


def is_available() -> bool:
    """True."""
    return True


is_initialized = is_available


def synchronize(device: Any = None) -> None:
    """Wait until the CPU has done all that it was given: JAX works there in the background too."""
    _finish(_Device("cpu"))


def get_capabilities() -> dict[str, Any]:
    """What the CPU is: its architecture and how many logical cores this process sees."""
    return {"architecture": platform.machine(), "num_logical_cores": os.cpu_count(), "cpu_name": platform.processor()}
