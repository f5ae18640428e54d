"""The order of an einsum's products: JAX finds it with opt_einsum."""

from __future__ import annotations

from types import ModuleType

enabled = True
strategy = "auto"


def is_available() -> bool:
    """True: JAX depends on it."""
    return True


def get_opt_einsum() -> ModuleType:
    """The package."""
    import opt_einsum

    return opt_einsum  # type: ignore[no-any-return]
