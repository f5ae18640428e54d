"""``funtorch.random``: the state of the global generator."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from .core.generators import (
    default_generator,
    get_rng_state,
    initial_seed,
    manual_seed,
    seed,
    set_rng_state,
    thread_safe_generator,
)
from .devices import device

__all__ = [
    "default_generator", "fork_rng", "get_rng_state", "initial_seed", "manual_seed", "seed", "set_rng_state",
    "thread_safe_generator",
]  # fmt: skip


@contextlib.contextmanager
def fork_rng(devices: Any = None, enabled: bool = True, device_type: str = "cuda") -> Iterator[None]:
    """Give the global generator its present state back at the end.

    Args:
        devices: of which the state is kept too: on all of them the numbers are the global generator's, so there's no more to keep.
        enabled: if false, nothing is given back.
        device_type: the type of ``devices``; on "meta" nothing is drawn.

    Raises:
        RuntimeError: ``device_type`` is none.
    """
    kind = device(device_type).type
    if not enabled or kind == "meta":
        yield
        return
    state = get_rng_state()
    try:
        yield
    finally:
        set_rng_state(state)
