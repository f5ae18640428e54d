"""The memory of the GPUs, as JAX's allocator counts it; 0 where there is none."""

from __future__ import annotations

from typing import Any

import jax

from ..cautions import caution
from .devices import GPUS

OutOfMemoryError = jax.errors.JaxRuntimeError  # what JAX raises (RESOURCE_EXHAUSTED), a RuntimeError as PyTorch's is

empty_cache = GPUS.empty_cache
mem_get_info = GPUS.mem_get_info
memory_allocated = GPUS.memory_allocated
max_memory_allocated = GPUS.max_memory_allocated
memory_reserved = GPUS.memory_reserved
max_memory_reserved = GPUS.max_memory_reserved
memory_stats = GPUS.memory_stats
reset_peak_memory_stats = GPUS.reset_peak_memory_stats
reset_accumulated_memory_stats = GPUS.reset_peak_memory_stats


def memory_summary(device: Any = None, abbreviated: bool = False) -> str:
    """What JAX counts of a GPU's memory, a line each. Raises RuntimeError if the GPU is not there."""
    index = GPUS.index(device)
    rows = sorted(GPUS.memory_stats(index).items())
    return "\n".join([f"memory of cuda:{index}, in bytes", *(f"{name:<28}{value:>20,}" for name, value in rows)])


def set_per_process_memory_fraction(fraction: float, device: Any = None) -> None:
    """Warn that JAX reads its share of the memory from XLA_PYTHON_CLIENT_MEM_FRACTION when it starts."""
    GPUS.index(device)
    caution(f"the memory fraction {fraction} can only be set before JAX starts: XLA_PYTHON_CLIENT_MEM_FRACTION={fraction}")


def _renamed(old: str, new: str, how: str) -> Any:
    now = globals()[new]

    def older(device: Any = None) -> Any:
        caution(how.format(f"torch.cuda.{old}", f"torch.cuda.{new}"), FutureWarning)
        return now(device)

    older.__name__ = older.__qualname__ = old
    older.__doc__ = f"`{new}`. Deprecated: it warns."
    return older


RENAMED = "`{0}` has been renamed to `{1}`"
RESETS = "{0} now calls {1}, which is about all peaks of memory."
memory_cached = _renamed("memory_cached", "memory_reserved", RENAMED)
max_memory_cached = _renamed("max_memory_cached", "max_memory_reserved", RENAMED)
reset_max_memory_allocated = _renamed("reset_max_memory_allocated", "reset_peak_memory_stats", RESETS)
reset_max_memory_cached = _renamed("reset_max_memory_cached", "reset_peak_memory_stats", RESETS)
