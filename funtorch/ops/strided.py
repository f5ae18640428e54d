"""Views by strides: as_strided, unfold, and the out-of-place writes into a view of a copy (select_scatter and kin)."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.dims import wrap_dim
from ..core.handle import value_of
from ..core.strides import layout
from ..errors import OpError
from ..tensor import Tensor
from . import registry
from .assignment import cast, into
from .conversion import clone
from .declare import function
from .filling import copy_
from .kept import viewing
from .splitting import select

Sizes = tuple[int, ...]


def _places(size: Sizes, stride: Sizes, offset: int) -> np.ndarray:
    """The flat place of each element."""
    if 0 in size:
        return np.empty(size, np.int64)
    at = np.full((1,) * len(size), offset)
    for d, (n, step) in enumerate(zip(size, stride, strict=True)):
        at = at + (np.arange(n) * step).reshape([n if e == d else 1 for e in range(len(size))])
    return at


@viewing("as_strided", None, lambda shape, strides, at, size, stride, offset: (size, stride, offset))
def _as_strided(x: Any, size: Sizes, stride: Sizes, offset: int) -> Any:
    return x.reshape(-1)[_places(size, stride, offset)]


@function(method=True)
def as_strided(input: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A view of the storage of ``input`` with the given sizes, strides and offset, in elements.

    Raises:
        RuntimeError: if they reach beyond the storage.

    >>> torch.arange(6).as_strided((2, 2), (3, 1))
    tensor([[0, 1],
            [3, 4]])
    """
    size, stride = tuple(size), tuple(stride)
    if len(size) != len(stride):
        raise OpError(f"mismatch in length of strides and shape: as_strided with size {list(size)} and stride {list(stride)}")
    value_of(input)
    offset = layout(input)[1] if storage_offset is None else storage_offset
    base = input._base
    root = (
        input if base is None else base if base.dtype is input.dtype else base.view(input.dtype)
    )  # the storage as input sees it
    last = offset + sum((n - 1) * step for n, step in zip(size, stride, strict=True))
    if any(step < 0 for step in stride):
        raise OpError(f"as_strided: Negative strides are not supported at the moment, got strides: {list(stride)}")
    if 0 not in size and (last >= root.numel() or offset < 0):
        width = root.element_size()
        raise OpError(
            f"setStorage: sizes {list(size)}, strides {list(stride)}, storage offset {offset}, and itemsize {width} requiring a "
            f"storage size of {(last + 1) * width} are out of bounds for storage of size {root.numel() * width}"
        )
    view = _as_strided(root, size, stride, offset)
    view._detached = view._detached or input._detached
    return view


def _unfold_layout(shape: Sizes, strides: Sizes, offset: int, dim: int, size: int, step: int) -> tuple:
    if not shape:
        return (size,), (1,), offset
    count = (shape[dim] - size) // step + 1
    return (
        (*shape[:dim], count, *shape[dim + 1 :], size),
        (*strides[:dim], strides[dim] * step, *strides[dim + 1 :], strides[dim]),
        offset,
    )


@viewing("unfold", None, _unfold_layout)
def _unfold(x: Any, dim: int, size: int, step: int) -> Any:
    if not x.ndim:
        return x.reshape(1)[:size]
    starts = np.arange(0, x.shape[dim] - size + 1, step)
    return jnp.moveaxis(jnp.take(x, starts[:, None] + np.arange(size), axis=dim), dim + 1, -1)


def unfold(self: Tensor, dimension: int, size: int, step: int) -> Tensor:
    """All windows of ``size`` elements along a dimension, ``step`` apart, as a view; a new last dimension runs inside them.

    Raises:
        RuntimeError: if ``size`` exceeds the dimension's, or ``step`` is not positive.

    >>> torch.arange(4).unfold(0, 2, 1)
    tensor([[0, 1],
            [1, 2],
            [2, 3]])
    """
    shape = value_of(self).shape
    at = wrap_dim(dimension, len(shape))
    have = shape[at] if shape else 1
    if size < 0:
        raise OpError(f"size is {size} but must be >= 0")
    if size > have:
        raise OpError(f"maximum size for tensor at dimension {at} is {have} but size is {size}")
    if step <= 0:
        raise OpError(f"step is {step} but must be > 0")
    return _unfold(self, at, size, step)


registry.add_method("unfold", unfold)


@function(method=True)
def slice_inverse(
    input: Tensor, src: Tensor, dim: int = 0, start: int | None = None, end: int | None = None, step: int = 1
) -> Tensor:
    """A view of the storage of ``input`` as ``src`` lies in its own: what ``input`` is a slice of."""
    return as_strided(input, tuple(src.shape), src.stride(), src.storage_offset())


def written(input: Tensor, src: Tensor, view: Callable) -> Tensor:
    """A copy of ``input`` in which ``view`` of it holds ``src``. Raises RuntimeError if the shapes differ."""
    made = clone(input)
    seen = view(made)
    if tuple(seen.shape) != tuple(src.shape):
        raise OpError(
            f"expected src to have a size equal to the slice of self. src size = {list(src.shape)}, slice size = "
            f"{list(seen.shape)}"
        )
    copy_(seen, cast(src, input.dtype))
    return made


@function(method=True)
def select_scatter(input: Tensor, src: Tensor, dim: int, index: int) -> Tensor:
    """A copy of ``input`` with ``src`` at ``index`` of dimension ``dim``. Raises RuntimeError if its shape is another."""
    return written(input, src, lambda x: select(x, dim, index))


@function(method=True)
def slice_scatter(
    input: Tensor, src: Tensor, dim: int = 0, start: Any = None, end: Any = None, step: int = 1, *, out: Any = None
) -> Tensor:
    """A copy of ``input`` with ``src`` in a slice of dimension ``dim``. Raises RuntimeError if its shape is another."""
    at = wrap_dim(dim, input.dim())
    made = written(input, src, lambda x: x[(slice(None),) * at + (slice(start, end, step),)])
    return made if out is None else into(out, made, "slice_scatter")


@function(method=True)
def as_strided_scatter(input: Tensor, src: Tensor, size: Any, stride: Any, storage_offset: int | None = None) -> Tensor:
    """A copy of ``input`` with ``src`` where `as_strided` looks. Raises RuntimeError if its shape is another."""
    return written(input, src, lambda x: as_strided(x, size, stride, storage_offset))
