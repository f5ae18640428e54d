"""Streams and events. JAX runs work in the order of its data, so a stream is only a name; an event tells the time on the host."""

from __future__ import annotations

import time
from typing import Any

from .. import streams
from ..devices import device as Device  # noqa: N812
from .devices import GPUS


class Stream(streams.Stream):
    """A name for a queue of work, all of which is one here. Raises RuntimeError where there is no GPU.

    ``with stream:`` makes it the current one.
    """

    def __init__(self, device: Any = None, priority: int = 0) -> None:
        self.device_index = GPUS.index(device)
        super().__init__(Device("cuda", self.device_index), priority=priority)
        self._before: list[Stream] = []

    def __enter__(self) -> Stream:
        self._before.append(current_stream(self.device_index))
        set_stream(self)
        return self

    def __exit__(self, *exc: object) -> None:
        set_stream(self._before.pop())

    def synchronize(self) -> None:
        """Wait until the GPU has done all that it was given."""
        GPUS.synchronize(self.device_index)

    def record_event(self, event: streams.Event | None = None) -> streams.Event:
        """Record an event, a new one unless given, and return it."""
        event = Event(enable_timing=True) if event is None else event
        event.record(self)
        return event


class Event(streams.Event):
    """A moment: ``start.record(); ...; end.record(); start.elapsed_time(end)``. Raises RuntimeError where there is no GPU."""

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        super().__init__(Device("cuda", GPUS.index()), enable_timing=enable_timing)

    def record(self, stream: Stream | None = None) -> None:
        """Note the time at which the GPU has done all that it was given so far; an event that keeps no time needs no waiting."""
        if self.enable_timing:
            GPUS.synchronize(None if stream is None else stream.device_index)
        self.moment = time.perf_counter()

    def synchronize(self) -> None:
        """Wait until the GPU has done all that it was given."""
        GPUS.synchronize()


class StreamContext:
    """``with torch.cuda.stream(s):``. None changes nothing, as in PyTorch."""

    def __init__(self, stream: Stream | None) -> None:
        self.stream = stream

    def __enter__(self) -> None:
        if self.stream is not None:
            self.stream.__enter__()

    def __exit__(self, *exc: object) -> None:
        if self.stream is not None:
            self.stream.__exit__()


stream = StreamContext
_default: dict[int, Stream] = {}
_current: dict[int, Stream] = {}


def default_stream(device: Any = None) -> Stream:
    """The stream that a GPU starts with. Raises RuntimeError where there is no GPU."""
    index = GPUS.index(device)
    if index not in _default:
        _default[index] = Stream(index)
    return _default[index]


def current_stream(device: Any = None) -> Stream:
    """The stream that was set last. Raises RuntimeError where there is no GPU."""
    return _current.get(GPUS.index(device)) or default_stream(device)


def set_stream(stream: Stream | None) -> None:
    """Make a stream the current one of its GPU; None changes nothing."""
    if stream is not None:
        _current[stream.device_index] = stream


def is_current_stream_capturing() -> bool:
    """False: nothing is captured."""
    return False
