"""``funtorch.accelerator``: the GPUs or TPUs that JAX sees, whichever there are, under one set of names."""

from __future__ import annotations

from typing import Any

from . import devices
from .chips import Chips
from .devices import device as Device  # noqa: N812
from .errors import NoChipError
from .streams import Stream

__all__ = [
    "current_accelerator", "current_device_idx", "current_device_index", "current_stream", "device_count", "device_index",
    "empty_cache", "empty_host_cache", "get_memory_info", "is_available", "max_memory_allocated", "max_memory_reserved",
    "memory_allocated", "memory_reserved", "memory_stats", "reset_accumulated_memory_stats", "reset_peak_memory_stats",
    "set_device_idx", "set_device_index", "set_stream", "synchronize",
]  # fmt: skip

_streams: dict[int, Stream] = {}  # those that were set, by the index of their device
_KINDS = (Chips("gpu", "cuda"), Chips("tpu", "tpu"))


def _found() -> Chips | None:
    return next((kind for kind in _KINDS if kind.is_available()), None)


def _needed() -> Chips:
    found = _found()
    if found is None:
        raise NoChipError("Cannot access accelerator device when none is available.")
    return found


def is_available() -> bool:
    """Whether JAX sees a GPU or a TPU."""
    return _found() is not None


def device_count() -> int:
    """How many there are."""
    found = _found()
    return 0 if found is None else found.device_count()


def current_accelerator(check_available: bool = False) -> Device | None:
    """The kind of accelerator that is there, as a device without an index; None where there is none."""
    found = _found()
    return None if found is None else Device(found.name)


def current_device_index() -> int:
    """The index of the current accelerator. Raises RuntimeError where there is none."""
    return _needed().current_device()


def set_device_index(device: Any, /) -> None:
    """Make an accelerator the current one. Raises RuntimeError if it is not there."""
    _needed().set_device(device)


current_device_idx = current_device_index
set_device_idx = set_device_index


def synchronize(device: Any = None, /) -> None:
    """Wait until an accelerator has done all that it was given. Raises RuntimeError if it is not there."""
    _needed().synchronize(device)


class device_index:  # noqa: N801
    """``with torch.accelerator.device_index(i):`` makes accelerator ``i`` the current one inside; None changes nothing."""

    def __init__(self, device: int | None, /) -> None:
        self.idx = device
        self.before = 0

    def __enter__(self) -> None:
        if self.idx is not None:
            self.before = current_device_index()
            set_device_index(self.idx)

    def __exit__(self, *exc: object) -> None:
        if self.idx is not None:
            devices.set_current_index(_needed().platform, self.before)


def current_stream(device: Any = None, /) -> Stream:
    """The current stream of an accelerator, which is only a name. Raises RuntimeError if it is not there."""
    kind = _needed()
    index = kind.index(device)
    return _streams.get(index) or Stream(Device(kind.name, index))


def set_stream(stream: Stream, /) -> None:
    """Make a stream the current one of its device. Raises RuntimeError where there is no accelerator."""
    _streams[_needed().index(stream.device)] = stream


def empty_cache() -> None:
    """Nothing: JAX keeps its pool, and gives freed memory to whatever asks next."""


def empty_host_cache() -> None:
    """Nothing, likewise. Raises RuntimeError where there is no accelerator."""
    _needed()


def memory_stats(device_index: Any = None, /) -> dict[str, int]:
    """What JAX counts of an accelerator's memory, in bytes."""
    return _needed().memory_stats(device_index)


def memory_allocated(device_index: Any = None, /) -> int:
    """The bytes in use."""
    return _needed().memory_allocated(device_index)


def max_memory_allocated(device_index: Any = None, /) -> int:
    """The most bytes that were in use since the start of the process."""
    return _needed().max_memory_allocated(device_index)


def memory_reserved(device_index: Any = None, /) -> int:
    """The bytes that JAX has taken from the accelerator."""
    return _needed().memory_reserved(device_index)


def max_memory_reserved(device_index: Any = None, /) -> int:
    """The most bytes that JAX has taken from the accelerator."""
    return _needed().max_memory_reserved(device_index)


def get_memory_info(device_index: Any = None, /) -> tuple[int, int]:
    """The bytes that are free and all there are, of those that JAX may use."""
    return _needed().mem_get_info(device_index)


def reset_accumulated_memory_stats(device_index: Any = None, /) -> None:
    """Warn that JAX's counts can't be reset."""
    _needed().reset_peak_memory_stats(device_index)


def reset_peak_memory_stats(device_index: Any = None, /) -> None:
    """Warn that JAX's peak can't be reset."""
    _needed().reset_peak_memory_stats(device_index)
