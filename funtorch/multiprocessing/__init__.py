"""``funtorch.multiprocessing``: the standard library's multiprocessing under PyTorch's names, and `spawn`.

Differs from PyTorch: a Tensor sent to another process arrives as a copy. Where JAX has started, the method "fork" can
leave the child without JAX's threads: "spawn" or "forkserver" start it anew.
"""

from __future__ import annotations

import multiprocessing as _multiprocessing

from ..errors import ArgumentValueError as _ArgumentValueError
from .spawn import (
    ENV_VAR_PARALLEL_START,
    ProcessContext,
    ProcessExitedException,
    ProcessRaisedException,
    SpawnContext,
    spawn,
    start_processes,
)

globals().update({name: getattr(_multiprocessing, name) for name in _multiprocessing.__all__ if name != "reducer"})

__all__ = [
    *(name for name in _multiprocessing.__all__ if name != "reducer"), "ENV_VAR_PARALLEL_START", "ProcessContext",
    "ProcessExitedException", "ProcessRaisedException", "SpawnContext", "get_all_sharing_strategies", "get_sharing_strategy",
    "set_sharing_strategy", "spawn", "start_processes",
]  # fmt: skip

_strategy = ["file_descriptor"]


def get_all_sharing_strategies() -> set[str]:
    """The names that PyTorch knows for ways to share a Tensor's memory."""
    return {"file_descriptor", "file_system"}


def get_sharing_strategy() -> str:
    """The name that was set last, "file_descriptor" at first."""
    return _strategy[0]


def set_sharing_strategy(new_strategy: str) -> None:
    """Keep a name, without further effect: Tensors are copied to other processes. Raises ValueError for an unknown one."""
    if new_strategy not in get_all_sharing_strategies():
        raise _ArgumentValueError(
            f"set_sharing_strategy({new_strategy!r}): expected one of {sorted(get_all_sharing_strategies())}"
        )
    _strategy[0] = new_strategy
