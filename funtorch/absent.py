"""Kinds of accelerator that JAX does not serve here (Apple's and Intel's): they say that they are not there."""

from __future__ import annotations

from typing import Any

from .errors import NoChipError


class AbsentKind:
    """The functions that public code asks of such a kind.

    Args:
        name: PyTorch's name of the kind.
    """

    def __init__(self, name: str) -> None:
        self.name = name

    def is_available(self) -> bool:
        """False."""
        return False

    def device_count(self) -> int:
        """0."""
        return 0

    def needs_one(self, *args: Any) -> Any:
        """Raises RuntimeError: there is none."""
        raise NoChipError(f'there is no {self.name} device here: funtorch runs on JAX\'s CPU, GPU ("cuda") and TPU ("tpu")')

    def seeded(self, seed: int = 0) -> None:
        """Nothing: there is nothing to seed."""
