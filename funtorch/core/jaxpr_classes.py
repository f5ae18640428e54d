"""JAX's classes of traced programs, from its public ``jax.extend.core``: imported when first asked for, as that takes 50 ms."""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    from jax.extend import core

    found = globals()[name] = getattr(core, name)
    return found
