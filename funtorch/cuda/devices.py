"""Which GPUs there are, which is current, and what they are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from ..chips import Chips
from ..devices import current_index, set_current_index

GPUS = Chips("gpu", "cuda")

is_available = GPUS.is_available
device_count = GPUS.device_count
current_device = GPUS.current_device
set_device = GPUS.set_device
synchronize = GPUS.synchronize


@dataclass(frozen=True)
class DeviceProperties:
    """What `get_device_properties` tells of a GPU; memory in bytes, 0 for what JAX does not know."""

    name: str
    major: int
    minor: int
    total_memory: int
    multi_processor_count: int


def get_device_properties(device: Any = None) -> DeviceProperties:
    """Name, capability, memory that JAX may use, and number of cores of a GPU. Raises RuntimeError if it is not there."""
    chip = GPUS.chip(device)
    major, minor = _capability(chip)
    memory = GPUS.memory_stats(device).get("bytes_limit", 0)
    return DeviceProperties(chip.device_kind, major, minor, memory, getattr(chip, "core_count", 0))


def get_device_name(device: Any = None) -> str:
    """The name of a GPU. Raises RuntimeError if it is not there."""
    return GPUS.chip(device).device_kind


def get_device_capability(device: Any = None) -> tuple[int, int]:
    """The compute capability of a GPU, such as (9, 0). Raises RuntimeError if it is not there."""
    return _capability(GPUS.chip(device))


def _capability(chip: Any) -> tuple[int, int]:
    major, _, minor = str(getattr(chip, "compute_capability", "0.0")).partition(".")
    return (int(major), int(minor or 0)) if major.isdigit() else (0, 0)  # AMD's are names


def is_bf16_supported(including_emulation: bool = True) -> bool:
    """Whether the current GPU computes in bfloat16 (XLA emulates it where the chip does not)."""
    return is_available() and (including_emulation or get_device_capability() >= (8, 0))


def is_tf32_supported() -> bool:
    """Whether the current GPU has TF32 matrix products."""
    return is_available() and get_device_capability() >= (8, 0)


def is_initialized() -> bool:
    """Whether GPUs are in use: JAX starts them at import."""
    return is_available()


def init() -> None:
    """Nothing where there is a GPU, which JAX has started. Raises RuntimeError where there is none."""
    GPUS.index()


def ipc_collect() -> None:
    """Nothing: no memory is shared between processes. Raises RuntimeError where there is no GPU."""
    GPUS.index()


def get_arch_list() -> list[str]:
    """The architectures that XLA compiles for here: those of the GPUs there are."""
    return sorted({"sm_{}{}".format(*_capability(chip)) for chip in GPUS.all()})


def can_device_access_peer(device: Any, peer_device: Any) -> bool:
    """Whether two GPUs are seen by this process, in which case JAX copies between them. Raises RuntimeError if one is not there."""
    return GPUS.index(device) != GPUS.index(peer_device)


class device:  # noqa: N801
    """``with torch.cuda.device(i):`` makes GPU ``i`` the current one inside. A negative index or None changes nothing."""

    def __init__(self, device: Any) -> None:
        self.idx = -1 if device is None or device == -1 else GPUS.index(device)
        self.prev_idx = -1

    def __enter__(self) -> device:
        self.prev_idx = current_index("gpu")
        if self.idx >= 0:
            set_current_index("gpu", self.idx)
        return self

    def __exit__(self, *exc: object) -> None:
        set_current_index("gpu", self.prev_idx)


class device_of(device):  # noqa: N801
    """``with torch.cuda.device_of(x):`` makes the GPU of a Tensor current inside; nothing for one that is not on a GPU."""

    def __init__(self, obj: Any) -> None:
        super().__init__(obj.get_device() if obj.is_cuda else None)
