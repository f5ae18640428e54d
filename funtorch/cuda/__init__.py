"""``funtorch.cuda``: JAX's GPUs under PyTorch's names. Where there is none, ``is_available()`` is False and counts are 0.

Differs from PyTorch: JAX orders work by what it reads and writes, so streams say nothing and cost nothing.
"""

from __future__ import annotations

from typing import Any

from .devices import (
    can_device_access_peer,
    current_device,
    device,
    device_count,
    device_of,
    get_arch_list,
    get_device_capability,
    get_device_name,
    get_device_properties,
    init,
    ipc_collect,
    is_available,
    is_bf16_supported,
    is_initialized,
    is_tf32_supported,
    set_device,
    synchronize,
)
from .memory import (
    OutOfMemoryError,
    empty_cache,
    max_memory_allocated,
    max_memory_cached,
    max_memory_reserved,
    mem_get_info,
    memory_allocated,
    memory_cached,
    memory_reserved,
    memory_stats,
    memory_summary,
    reset_accumulated_memory_stats,
    reset_max_memory_allocated,
    reset_max_memory_cached,
    reset_peak_memory_stats,
    set_per_process_memory_fraction,
)
from .random import (
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from .streams import (
    Event,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    is_current_stream_capturing,
    set_stream,
    stream,
)

__all__ = [
    "can_device_access_peer", "current_device", "device", "device_count", "device_of", "get_arch_list", "get_device_capability",
    "get_device_name", "get_device_properties", "init", "ipc_collect", "is_available", "is_bf16_supported", "is_initialized",
    "is_tf32_supported", "set_device", "synchronize",
    "OutOfMemoryError", "empty_cache", "max_memory_allocated", "max_memory_cached", "max_memory_reserved", "mem_get_info",
    "memory_allocated", "memory_cached", "memory_reserved", "memory_stats", "memory_summary", "reset_accumulated_memory_stats",
    "reset_max_memory_allocated", "reset_max_memory_cached", "reset_peak_memory_stats", "set_per_process_memory_fraction",
    "get_rng_state", "get_rng_state_all", "initial_seed", "manual_seed", "manual_seed_all", "seed", "seed_all", "set_rng_state",
    "set_rng_state_all",
    "Event", "Stream", "StreamContext", "current_stream", "default_stream", "is_current_stream_capturing", "set_stream", "stream",
]  # fmt: skip


def __getattr__(name: str) -> Any:
    if name.endswith("Tensor"):
        from ..legacy_types import CUDA_TYPES

        if name in CUDA_TYPES:
            return CUDA_TYPES[name]
    if name == "default_generators":
        from ..core.generators import default_generator

        return (default_generator,) * device_count()
    if name in ("amp", "nvtx"):
        import importlib

        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
