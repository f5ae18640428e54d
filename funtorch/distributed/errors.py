"""The exceptions of process groups: what PyTorch raises where processes can't be reached or don't agree."""

from __future__ import annotations

from ..errors import OpError

__all__ = ["DistBackendError", "DistError", "DistNetworkError", "DistStoreError"]


class DistError(OpError):
    """Base of the others, a RuntimeError."""


class DistBackendError(DistError):
    """A backend failed."""


class DistNetworkError(DistError):
    """A connection failed."""


class DistStoreError(DistError):
    """A store failed."""
