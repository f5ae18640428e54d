"""Tensors to and from other libraries, without a copy where JAX can."""

from __future__ import annotations

from typing import Any

from ..ops import registry
from ..tensor import Tensor

__all__ = ["from_dlpack", "to_dlpack"]


def to_dlpack(tensor: Tensor) -> Any:
    """A DLPack capsule of a Tensor. Raises RuntimeError if it requires grad."""
    return tensor.__dlpack__()


def from_dlpack(ext_tensor: Any) -> Tensor:
    """A Tensor of what another library made: anything with ``__dlpack__``."""
    return registry.names("torch")["from_dlpack"](ext_tensor)
