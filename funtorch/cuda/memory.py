"""The memory of the GPUs, as JAX's allocator counts it; 0 where there is none."""

from __future__ import annotations

import warnings
from typing import Any

import jax

from .devices import GPUS

OutOfMemoryError = jax.errors.JaxRuntimeError  # what JAX raises (RESOURCE_EXHAUSTED), a RuntimeError as PyTorch's is

empty_cache = GPUS.empty_cache
mem_get_info = GPUS.mem_get_info
memory_allocated = GPUS.memory_allocated
max_memory_allocated = GPUS.max_memory_allocated
memory_reserved = memory_cached = GPUS.memory_reserved
max_memory_reserved = max_memory_cached = GPUS.max_memory_reserved
memory_stats = GPUS.memory_stats
reset_peak_memory_stats = reset_max_memory_allocated = reset_max_memory_cached = GPUS.reset_peak_memory_stats
reset_accumulated_memory_stats = GPUS.reset_peak_memory_stats


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """What JAX counts of a GPU's memory, a line each. Raises RuntimeError if the GPU is not there."""
    index = GPUS.index(device)
    rows = sorted(GPUS.memory_stats(index).items())
    return "\n".join([f"memory of cuda:{index}, in bytes", *(f"{name:<28}{value:>20,}" for name, value in rows)])


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Warn that JAX reads its share of the memory from XLA_PYTHON_CLIENT_MEM_FRACTION when it starts."""
    GPUS.index(device)
    warnings.warn(
        f"the memory fraction {fraction} can only be set before JAX starts: XLA_PYTHON_CLIENT_MEM_FRACTION={fraction}",
        stacklevel=2,
    )
