"""What a Tensor is, asked by functions: each is a property or method of Tensor."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor
from . import registry
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


@function(name="detach_")
def detach_(input: Tensor) -> Tensor:
    """Let a Tensor forget its history. Raises RuntimeError for a view."""
    return input.detach_()


@function()
def get_device(input: Tensor) -> int:
    """The index of a Tensor's device, -1 for the CPU."""
    return input.get_device()


@function(method=True)
def is_distributed(input: Tensor) -> bool:
    """False: a Tensor is whole in one process."""
    return False


@function(method=True)
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two Tensors have the same shape."""
    return input.shape == other.shape


def is_set_to(self: Tensor, tensor: Tensor) -> bool:
    """Whether two Tensors show the same elements in the same layout."""
    return self.data_ptr() == tensor.data_ptr() and self.shape == tensor.shape and self.stride() == tensor.stride()


def dim_order(self: Tensor) -> tuple[int, ...]:
    """The dimensions from the outermost in memory to the innermost."""
    strides = self.stride()
    return tuple(sorted(range(len(strides)), key=lambda d: -strides[d]))


registry.add_method("is_set_to", is_set_to)
registry.add_method("dim_order", dim_order)
registry.add_method("const_data_ptr", Tensor.data_ptr)


@function()
def is_storage(obj: Any) -> bool:
    """Whether ``obj`` is a storage: there are none here."""
    return False


@function()
def is_inference(input: Tensor) -> bool:
    """Whether the Tensor was made in inference mode."""
    return input.is_inference()
