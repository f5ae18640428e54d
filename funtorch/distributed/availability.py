"""Which backends there are. Each name is accepted for a world of one process; none carries data between several."""

from __future__ import annotations

import os
from typing import Any

from ..devices import device as Device  # noqa: N812

__all__ = [
    "get_default_backend_for_device", "is_available", "is_backend_available", "is_gloo_available", "is_mpi_available",
    "is_nccl_available", "is_torchelastic_launched", "is_ucc_available", "is_xccl_available",
]  # fmt: skip

_BACKENDS = {"cpu": "gloo", "cuda": "nccl", "tpu": "xla", "xpu": "xccl", "meta": "fake"}


def is_available() -> bool:
    """True: a world of one process can be made."""
    return True


def is_gloo_available() -> bool:
    """True: the name "gloo" is accepted, for one process."""
    return True


def is_nccl_available() -> bool:
    """Whether JAX sees a GPU: the name "nccl" is accepted, for one process."""
    from ..devices import devices_of

    return bool(devices_of("gpu"))


def is_mpi_available() -> bool:
    """False."""
    return False


is_ucc_available = is_xccl_available = is_mpi_available


def is_backend_available(backend: str) -> bool:
    """Whether there is a backend of this name."""
    return {"gloo": is_gloo_available, "nccl": is_nccl_available}.get(backend.lower(), is_mpi_available)()


def is_torchelastic_launched() -> bool:
    """Whether PyTorch's launcher started this process: it leaves a variable in the environment."""
    return os.environ.get("TORCHELASTIC_RUN_ID") is not None


def get_default_backend_for_device(device: Any) -> str:
    """The backend for a device's kind.

    Args:
        device: a device or its name.

    Returns:
        "gloo" for the CPU, "nccl" for GPUs.
    """
    return _BACKENDS[Device(device).type]
