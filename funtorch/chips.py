"""The accelerator chips that JAX sees: how many, which is current, what they are, their memory, and waiting for them."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from . import devices
from .cautions import caution
from .devices import device
from .errors import ArgumentValueError, NoChipError

NO_RESET = (
    "JAX keeps the peak of a device's memory since the start of the process and has no way to reset it: max_memory_allocated() "
    "will go on counting from there"
)


class Chips:
    """The chips of one kind. Every method that needs one raises NoChipError where there is none.

    Args:
        platform: JAX's name of the kind, "gpu" or "tpu".
        name: PyTorch's, "cuda" or "tpu".
    """

    def __init__(self, platform: str, name: str) -> None:
        self.platform, self.name = platform, name

    def all(self) -> list[jax.Device]:
        """Every chip of this kind."""
        return devices.devices_of(self.platform)

    def is_available(self) -> bool:
        """Whether there is a chip of this kind."""
        return bool(self.all())

    def device_count(self) -> int:
        """How many there are."""
        return len(self.all())

    def index(self, which: Any = None) -> int:
        """The index that an int, a string, a device, or None (the current one) stands for."""
        found = len(self.all())
        if not found:
            raise NoChipError(
                f"there is no {self.name} device here: JAX sees only {', '.join(sorted({d.platform for d in jax.devices()}))}"
            )
        if isinstance(which, str):
            which = device(which)
        if isinstance(which, device):
            if which.type not in (self.name, self.platform):
                raise ArgumentValueError(f"expected a {self.name} device, but got: {which}")
            which = which.index
        index = devices.current_index(self.platform) if which is None else int(which)
        if not 0 <= index < found:
            raise NoChipError(f"invalid device ordinal: {self.name}:{index}, there are {found}")
        return index

    def chip(self, which: Any = None) -> jax.Device:
        """The JAX device of an index, a string, a device, or None (the current one)."""
        return self.all()[self.index(which)]

    def current_device(self) -> int:
        """The index of the chip that a device without an index stands for."""
        return self.index()

    def set_device(self, device: Any) -> None:
        """Say which chip a device without an index stands for."""
        devices.set_current_index(self.platform, self.index(device))

    def synchronize(self, device: Any = None) -> None:
        """Wait until a chip has done all that it was given: a chip works in order, so the end of one more thing is enough."""
        jax.block_until_ready(jnp.add(jax.device_put(0, self.chip(device)), 1))

    # Memory

    def memory_stats(self, device: Any = None) -> dict[str, int]:
        """What JAX counts of a chip's memory, in bytes: nothing where there is no chip."""
        return dict(self.chip(device).memory_stats() or {}) if self.all() else {}

    def memory_allocated(self, device: Any = None) -> int:
        """The bytes in use."""
        return self.memory_stats(device).get("bytes_in_use", 0)

    def max_memory_allocated(self, device: Any = None) -> int:
        """The most bytes that were in use since the start of the process."""
        return self.memory_stats(device).get("peak_bytes_in_use", 0)

    def memory_reserved(self, device: Any = None) -> int:
        """The bytes that JAX has taken from the chip, used or not."""
        found = self.memory_stats(device)
        return found.get("pool_bytes", found.get("bytes_reserved", found.get("bytes_in_use", 0)))

    def max_memory_reserved(self, device: Any = None) -> int:
        """The most bytes that JAX has taken from the chip."""
        found = self.memory_stats(device)
        return found.get("peak_pool_bytes", self.memory_reserved(device))

    def mem_get_info(self, device: Any = None) -> tuple[int, int]:
        """The bytes that are free and all there are, of those that JAX may use."""
        self.index(device)
        found = self.memory_stats(device)
        limit = found.get("bytes_limit", 0)
        return limit - found.get("bytes_in_use", 0), limit

    def reset_peak_memory_stats(self, device: Any = None) -> None:
        """Warn that JAX's peak can't be reset."""
        self.index(device)
        caution(NO_RESET)

    def empty_cache(self) -> None:
        """Nothing: JAX keeps its pool, and gives freed memory to whatever asks next."""
