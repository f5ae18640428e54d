"""What is raised for parts that don't fit together."""

from __future__ import annotations

from ..errors import ArgumentValueError

__all__ = ["AssertedError"]


class AssertedError(ArgumentValueError, AssertionError):
    """PyTorch raises AssertionError in this place, and ValueError for the like of it in others."""
