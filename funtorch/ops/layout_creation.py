"""Tensors made with an order of their elements in memory: only what ``stride()`` says of them shows it."""

from __future__ import annotations

from typing import Any

from ..errors import OpError
from ..layouts import strided
from ..tensor import Tensor
from .creation import empty
from .declare import function
from .placing import size_of
from .strided import as_strided


@function()
def empty_strided(
    size: Any, stride: Any, *, dtype: Any = None, layout: Any = strided, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A Tensor of a size with given strides, whose values nobody should read: here, zeros.

    Args:
        size, stride: as many numbers each; strides are in elements.
        dtype, device, requires_grad: as in `empty`.

    Raises:
        RuntimeError: another number of strides, or a negative one.

    >>> torch.empty_strided((2, 3), (1, 2)).stride()
    (1, 2)
    """
    sizes, steps = size_of((size,), "empty_strided"), tuple(stride)
    if len(sizes) != len(steps):
        raise OpError(f"dimensionality of sizes ({len(sizes)}) must match dimensionality of strides ({len(steps)})")
    if any(step < 0 for step in steps):
        raise OpError(f"empty_strided(): strides must not be negative, got sizes={list(sizes)} and strides={list(steps)}")
    reach = 0 if 0 in sizes else 1 + sum((n - 1) * step for n, step in zip(sizes, steps, strict=True))
    made = as_strided(empty(reach, dtype=dtype, device=device), sizes, steps)
    return made.detach().requires_grad_() if requires_grad else made


@function(method=True)
def new_empty_strided(
    self: Tensor, size: Any, stride: Any, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:  # fmt: skip
    """`empty_strided` with this Tensor's dtype and device, unless others are given."""
    kind, where = self.dtype if dtype is None else dtype, self.device if device is None else device
    return empty_strided(size, stride, dtype=kind, device=where, requires_grad=requires_grad)


@function()
def empty_permuted(
    size: Any, physical_layout: Any, *, dtype: Any = None, layout: Any = strided, device: Any = None, requires_grad: bool = False,
    pin_memory: bool = False,
) -> Tensor:  # fmt: skip
    """A Tensor of a size, dense in memory, with its dimensions in the order ``physical_layout``, outermost first.

    Raises:
        RuntimeError: an order that does not name each dimension once.

    >>> torch.empty_permuted((2, 3, 5), (0, 2, 1)).stride()
    (15, 1, 3)
    """
    sizes, order = size_of((size,), "empty_permuted"), tuple(physical_layout)
    if len(order) != len(sizes):
        raise OpError(
            f"Number of dimensions in size does not match the length of the physical_layout; got {list(sizes)} and {order}"
        )
    for place, dim in enumerate(order):
        if not 0 <= dim < len(sizes):
            raise OpError(
                f"Dimension out of range (expected to be between 0 and {len(sizes) - 1}, but got {dim} at index {place})"
            )
        if dim in order[:place]:
            raise OpError(f"empty_permuted(): Duplicate dim not allowed: {order}")
    made = empty([sizes[dim] for dim in order], dtype=dtype, device=device)
    made = made.permute([order.index(dim) for dim in range(len(order))]) if order else made
    return made.detach().requires_grad_() if requires_grad else made
