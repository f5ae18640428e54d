"""``funtorch.xpu``: there is none. What asks for one raises RuntimeError."""

from __future__ import annotations

from .absent import AbsentKind

_kind = AbsentKind("xpu")

is_available = _kind.is_available
device_count = _kind.device_count
manual_seed = _kind.seeded
is_bf16_supported = is_initialized = _kind.is_available
manual_seed_all = _kind.seeded
memory_allocated = max_memory_allocated = memory_reserved = max_memory_reserved = _kind.device_count
synchronize = current_device = set_device = get_device_name = get_device_properties = mem_get_info = _kind.needs_one
get_rng_state = set_rng_state = get_rng_state_all = set_rng_state_all = current_stream = reset_peak_memory_stats = _kind.needs_one


def empty_cache() -> None:
    """Nothing, as in PyTorch."""
