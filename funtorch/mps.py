"""``funtorch.mps``: there is none. What asks for one raises RuntimeError."""

from __future__ import annotations

from .absent import AbsentKind

_kind = AbsentKind("mps")

is_available = _kind.is_available
device_count = _kind.device_count
manual_seed = _kind.seeded
synchronize = empty_cache = current_allocated_memory = driver_allocated_memory = recommended_max_memory = _kind.needs_one
set_per_process_memory_fraction = get_rng_state = set_rng_state = _kind.needs_one
