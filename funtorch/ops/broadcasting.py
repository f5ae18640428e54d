"""Tensors repeated along dimensions without a copy: expand, broadcast_to, broadcast_tensors, broadcast_shapes."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.handle import form_of
from ..errors import OpError
from ..size import Size
from ..tensor import Tensor
from . import registry
from .declare import function
from .kept import kept, viewing
from .reshaping import Sizes, sizes_of


def _expand_layout(shape: Sizes, strides: Sizes, offset: int, sizes: Sizes) -> tuple:
    new = len(sizes) - len(shape)
    if not shape:
        return sizes, (0,) * new, offset
    found = [0 if a == 1 and b != 1 else s for a, b, s in zip(shape, sizes[new:], strides, strict=True)]
    for size in reversed(sizes[:new]):  # a new dimension of size 1 gets the stride that a dense one would have
        found.insert(0, 0 if size != 1 else sizes[len(sizes) - len(found)] * found[0])
    return sizes, tuple(found), offset


@viewing("expand", None, _expand_layout)
def _expand(x: Any, sizes: Sizes) -> Any:
    return jnp.broadcast_to(x, sizes)


@kept("expand")
def fitted(sizes: Sizes) -> Any:
    """The Op that broadcasts an array to ``sizes``, not as a view."""
    return lambda x: jnp.broadcast_to(x, sizes)


def expanded(shape: Sizes, sizes: Sizes, name: str = "expand") -> Sizes:
    """The sizes of ``shape`` expanded to ``sizes``, in which -1 keeps a size. Raises RuntimeError where it can't be."""
    new = len(sizes) - len(shape)
    if new < 0:
        raise OpError(
            f"{name}(torch.FloatTensor{{{list(shape)}}}, size={list(sizes)}): the number of sizes provided ({len(sizes)}) must "
            f"be greater or equal to the number of dimensions in the tensor ({len(shape)})"
        )
    found = []
    for d, size in enumerate(sizes):
        have: Any = shape[d - new] if d >= new else None
        if size == -1 and have is None:
            raise OpError(f"The expanded size of the tensor ({size}) isn't allowed in a leading, non-existing dimension {d}")
        if have not in (None, 1, size) and size != -1:
            raise OpError(
                f"The expanded size of the tensor ({size}) must match the existing size ({have}) at non-singleton dimension "
                f"{d}.  Target sizes: {list(sizes)}.  Tensor sizes: {list(shape)}"
            )
        found.append(have if size == -1 else size)
    return tuple(found)


def expand(self: Tensor, *sizes: Any, size: Any = None, implicit: bool = False) -> Tensor:
    """A view in which dimensions of size 1, and new leading ones, are repeated without a copy; -1 keeps a size.

    Raises:
        RuntimeError: if a size other than 1 would have to change.

    >>> torch.zeros(3, 1).expand(2, -1, 4).shape
    torch.Size([2, 3, 4])
    """
    return _expand(self, expanded(tuple(form_of(self).shape), sizes_of(sizes, "expand", size)))


def _broadcast_to(self: Tensor, *sizes: Any, size: Any = None) -> Tensor:
    """`expand`, whose sizes must all be given. Raises RuntimeError if one other than 1 would have to change."""
    return expand(self, sizes_of(sizes, "broadcast_to", size))


def _expand_as(self: Tensor, other: Tensor) -> Tensor:
    """``expand`` to the shape of ``other``."""
    return expand(self, tuple(other.shape))


registry.add_method("expand", expand)
registry.add_method("expand_as", _expand_as)


@function()
def broadcast_to(input: Tensor, size: Any) -> Tensor:
    """``input.expand(size)``."""
    return expand(input, tuple(size))


registry.add_method("broadcast_to", _broadcast_to)


@function()
def broadcast_shapes(*shapes: Any) -> Size:
    """The shape that Tensors of these shapes broadcast to.

    Raises:
        RuntimeError: if they do not broadcast.

    >>> torch.broadcast_shapes((2, 1), (3,))
    torch.Size([2, 3])
    """
    sizes = [(operator.index(s),) if not isinstance(s, Sequence) else tuple(s) for s in shapes]
    try:
        return Size(np.broadcast_shapes(*sizes))
    except ValueError:
        raise OpError(
            f"Shape mismatch: objects cannot be broadcast to a single shape: {', '.join(str(list(s)) for s in sizes)}"
        ) from None


@function()
def broadcast_tensors(*tensors: Any) -> tuple[Tensor, ...]:
    """Views of the Tensors, expanded to the shape that they broadcast to. Raises RuntimeError if they do not."""
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    shapes = [tuple(x.shape) for x in tensors]
    try:
        size = np.broadcast_shapes(*shapes)
    except ValueError:
        raise OpError(mismatch(shapes)) from None
    return tuple(_expand(x, size) for x in tensors)


def mismatch(shapes: Sequence[Sizes]) -> str:
    """PyTorch's words for the first two shapes that do not broadcast."""
    for a in shapes:
        for b in shapes:
            for d, (m, n) in enumerate(zip(reversed(a), reversed(b), strict=False)):
                if m != n and 1 not in (m, n):
                    return (
                        f"The size of tensor a ({m}) must match the size of tensor b ({n}) at non-singleton dimension "
                        f"{max(len(a), len(b)) - 1 - d}"
                    )
    return f"shapes {shapes} do not broadcast"
