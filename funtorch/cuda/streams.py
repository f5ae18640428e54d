"""Streams and events. JAX runs work in the order of its data, so a stream is only a name; an event tells the time on the host."""

from __future__ import annotations

import time
from typing import Any

from ..devices import device as Device  # noqa: N812
from ..errors import OpError
from .devices import GPUS


class Stream:
    """A name for a queue of work, all of which is one here. Raises RuntimeError where there is no GPU.

    ``with stream:`` makes it the current one.
    """

    def __init__(self, device: Any = None, priority: int = 0) -> None:
        self.device_index = GPUS.index(device)
        self.priority = priority
        self._before: list[Stream] = []

    @property
    def device(self) -> Device:
        """The GPU it belongs to."""
        return Device("cuda", self.device_index)

    def __enter__(self) -> Stream:
        self._before.append(current_stream(self.device_index))
        set_stream(self)
        return self

    def __exit__(self, *exc: object) -> None:
        set_stream(self._before.pop())

    def synchronize(self) -> None:
        """Wait until the GPU has done all that it was given."""
        GPUS.synchronize(self.device_index)

    def query(self) -> bool:
        """Whether all work is done: True, after waiting for it."""
        self.synchronize()
        return True

    def wait_stream(self, stream: Stream) -> None:
        """Nothing: what reads a result waits for it."""

    def wait_event(self, event: Event) -> None:
        """Nothing: what reads a result waits for it."""

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event, a new one unless given, and return it."""
        event = Event(enable_timing=True) if event is None else event
        event.record(self)
        return event


class Event:
    """A moment: ``start.record(); ...; end.record(); start.elapsed_time(end)``. Raises RuntimeError where there is no GPU."""

    def __init__(self, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False) -> None:
        GPUS.index()
        self.enable_timing = enable_timing
        self.moment: float | None = None

    def record(self, stream: Stream | None = None) -> None:
        """Note the time at which the GPU has done all that it was given so far; an event that keeps no time needs no waiting."""
        if self.enable_timing:
            GPUS.synchronize(None if stream is None else stream.device_index)
        self.moment = time.perf_counter()

    def elapsed_time(self, end_event: Event) -> float:
        """The milliseconds from this event to another one. Raises RuntimeError if one was not recorded, or keeps no time."""
        if not (self.enable_timing and end_event.enable_timing):
            raise OpError("elapsed_time(): both events must be created with argument 'enable_timing=True'")
        if self.moment is None or end_event.moment is None:
            raise OpError("elapsed_time(): both events must be recorded before calculating elapsed time")
        return 1000 * (end_event.moment - self.moment)

    def synchronize(self) -> None:
        """Wait until the GPU has done all that it was given."""
        GPUS.synchronize()

    def wait(self, stream: Stream | None = None) -> None:
        """Nothing: what reads a result waits for it."""

    def query(self) -> bool:
        """Whether the event has happened: True, after waiting for it."""
        self.synchronize()
        return True


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
