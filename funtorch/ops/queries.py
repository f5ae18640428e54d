"""What a Tensor is, asked by functions: each is a property or method of Tensor."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor
from .declare import function


@function()
def is_floating_point(input: Tensor) -> bool:
    """Whether the dtype is a floating-point one."""
    return input.dtype.is_floating_point


@function()
def is_complex(input: Tensor) -> bool:
    """Whether the dtype is complex."""
    return input.dtype.is_complex


@function()
def is_signed(input: Tensor) -> bool:
    """Whether the dtype has negative numbers."""
    return input.dtype.is_signed


@function()
def numel(input: Tensor) -> int:
    """The number of elements."""
    return input.numel()


@function()
def detach(input: Tensor) -> Tensor:
    """A view of the values, without history."""
    return input.detach()


@function()
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two Tensors have the same shape."""
    return input.shape == other.shape


@function()
def is_storage(obj: Any) -> bool:
    """Whether ``obj`` is a storage: there are none here."""
    return False


@function()
def is_inference(input: Tensor) -> bool:
    """Whether the Tensor was made in inference mode."""
    return input.is_inference()
