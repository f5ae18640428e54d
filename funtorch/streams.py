"""Streams and events of any kind of device. JAX orders work by its data, so that they say little and cost nothing."""

from __future__ import annotations

import time
from typing import Any

import jax
import jax.numpy as jnp

from . import devices
from .devices import device as Device  # noqa: N812
from .errors import OpError

__all__ = ["Event", "Stream"]


def finish(where: Device) -> None:
    """Wait until a device has done all that it was given: it works in order, so the end of one more thing is enough."""
    jax.block_until_ready(jnp.add(jax.device_put(0, devices.jax_device(where)), 1))


class Stream:
    """A name for a queue of work, all of which is one here.

    Args:
        device: whose; the CPU unless given.
        priority: kept, without effect.

    Raises:
        RuntimeError: there is no such device.
    """

    def __init__(self, device: Any = None, *, priority: int = 0) -> None:
        self.device = Device("cpu" if device is None else device)
        devices.jax_device(self.device)
        self.priority = priority

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *exc: object) -> None:
        return None

    def __repr__(self) -> str:
        return f"torch.Stream device_type={self.device.type}, device_index={self.device.index}"

    def synchronize(self) -> None:
        """Wait until the device has done all that it was given."""
        finish(self.device)

    def query(self) -> bool:
        """Whether all work is done: True, after waiting for it."""
        self.synchronize()
        return True

    def wait_stream(self, stream: Any) -> None:
        """Nothing: what reads a result waits for it."""

    def wait_event(self, event: Any) -> None:
        """Nothing: what reads a result waits for it."""

    def record_event(self, event: Event | None = None) -> Event:
        """Record an event, a new one unless given, and return it."""
        event = Event(self.device, enable_timing=True) if event is None else event
        event.record(self)
        return event


class Event:
    """A moment: ``start.record(); ...; end.record(); start.elapsed_time(end)``.

    Args:
        device: whose; the CPU unless given.
        enable_timing: whether `elapsed_time` may be asked.
        blocking, interprocess: accepted, without effect.

    Raises:
        RuntimeError: there is no such device.
    """

    def __init__(
        self, device: Any = None, *, enable_timing: bool = False, blocking: bool = False, interprocess: bool = False
    ) -> None:
        self.device = Device("cpu" if device is None else device)
        devices.jax_device(self.device)
        self.enable_timing = enable_timing
        self.moment: float | None = None

    def record(self, stream: Any = None) -> None:
        """Note the time at which the device has done all that it was given so far."""
        if self.enable_timing:
            finish(self.device)
        self.moment = time.perf_counter()

    def elapsed_time(self, end_event: Event) -> float:
        """The milliseconds from this event to another one. Raises RuntimeError if one was not recorded, or keeps no time."""
        if not (self.enable_timing and end_event.enable_timing):
            raise OpError("elapsed_time(): both events must be created with argument 'enable_timing=True'")
        if self.moment is None or end_event.moment is None:
            raise OpError("elapsed_time(): both events must be recorded before calculating elapsed time")
        return 1000 * (end_event.moment - self.moment)

    def synchronize(self) -> None:
        """Wait until the device has done all that it was given."""
        finish(self.device)

    def wait(self, stream: Any = None) -> None:
        """Nothing: what reads a result waits for it."""

    def query(self) -> bool:
        """Whether the event has happened: True, after waiting for it."""
        self.synchronize()
        return True


Event.__module__ = Stream.__module__ = "funtorch"  # how they are printed
