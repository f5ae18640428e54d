"""Views with the dimensions in another order, or expanded: transpose, permute, movedim, expand, broadcast_to."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.call import call
from ..core.dims import wrap_dim
from ..core.handle import value_of
from ..errors import OpError
from ..size import Size
from ..tensor import Tensor
from . import registry
from .declare import function
from .kept import kept, viewing
from .reshaping import Sizes, sizes_of


def _permute_layout(shape: Sizes, strides: Sizes, offset: int, dims: Sizes) -> tuple:
    return tuple(shape[d] for d in dims), tuple(strides[d] for d in dims), offset


def _unpermute(base: Any, value: Any, dims: Sizes) -> Any:
    return jnp.transpose(value, np.argsort(dims))


@viewing("permute", _unpermute, _permute_layout)
def _permute(x: Any, dims: Sizes) -> Any:
    return jnp.transpose(x, dims)


@viewing("transpose", _unpermute, _permute_layout)
def _swap(x: Any, dims: Sizes) -> Any:
    return jnp.transpose(x, dims)


@viewing("t", _unpermute, _permute_layout)
def _turn(x: Any, dims: Sizes) -> Any:
    return jnp.transpose(x, dims)


@function(method=True)
def permute(input: Tensor, *dims: Any) -> Tensor:
    """A view with the dimensions in the order ``dims``.

    Raises:
        RuntimeError: if ``dims`` does not name each dimension once.

    >>> torch.zeros(2, 3, 4).permute(2, 0, 1).shape
    torch.Size([4, 2, 3])
    """
    asked = sizes_of(dims, "permute")
    ndim = len(value_of(input).shape)
    if len(asked) != ndim:
        raise OpError(
            "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired ordering "
            f"of dimensions i.e. input.dim() = {ndim} is not equal to len(dims) = {len(asked)}"
        )
    order = tuple(wrap_dim(d, ndim) for d in asked)
    if len(set(order)) != ndim:
        raise OpError("permute(): duplicate dims are not allowed.")
    return _permute(input, order)


def swapped(ndim: int, dim0: int, dim1: int) -> Sizes:
    """The order of dimensions in which two have changed places. Raises IndexError for one out of range."""
    a, b = wrap_dim(dim0, ndim), wrap_dim(dim1, ndim)
    order = list(range(ndim))
    if ndim:
        order[a], order[b] = b, a
    return tuple(order)


@function(alias=("swapaxes", "swapdims"), method=True)
def transpose(input: Tensor, dim0: int, dim1: int) -> Tensor:
    """A view in which two dimensions have changed places.

    Raises:
        IndexError: if one is out of range.

    >>> torch.zeros(2, 3).transpose(0, 1).shape
    torch.Size([3, 2])
    """
    return _swap(input, swapped(len(value_of(input).shape), dim0, dim1))


@function(method=True)
def t(input: Tensor) -> Tensor:
    """The transpose of a matrix, as a view; a Tensor of fewer dimensions as it is.

    Raises:
        RuntimeError: for more than two dimensions.
    """
    ndim = len(value_of(input).shape)
    if ndim > 2:
        raise OpError(f"t() expects a tensor with <= 2 dimensions, but self is {ndim}D")
    return _turn(input, tuple(reversed(range(ndim))))


def _reversed(self: Tensor) -> Tensor:
    return _permute(self, tuple(reversed(range(len(value_of(self).shape)))))


def _matrix_transposed(self: Tensor) -> Tensor:
    ndim = len(value_of(self).shape)
    if ndim == 1:
        raise OpError("tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return _swap(self, swapped(ndim, -2, -1)) if ndim else self


@kept("conj")
def _conjugated() -> Any:
    return jnp.conj


@function(method=True)
def adjoint(input: Tensor) -> Tensor:
    """The conjugate transpose of each matrix: a view for real dtypes, a copy for complex ones."""
    turned = transpose(input, -2, -1)
    return call(_conjugated(), (turned,)) if turned.is_complex() else turned


def _conjugate_transposed(self: Tensor) -> Tensor:
    ndim = len(value_of(self).shape)
    if ndim not in (0, 2):
        raise OpError(f"tensor.H is only supported on matrices (2-D tensors). Got {ndim}-D tensor.")
    if ndim:
        return adjoint(self)
    return call(_conjugated(), (self,)) if self.is_complex() else self


def _batch_conjugate_transposed(self: Tensor) -> Tensor:
    ndim = len(value_of(self).shape)
    if ndim == 1:
        raise OpError("tensor.mH is only supported on matrices or batches of matrices. Got 1-D tensor.")
    return adjoint(self) if ndim else _conjugate_transposed(self)


Tensor.T = property(_reversed)
Tensor.mT = property(_matrix_transposed)
Tensor.H = property(_conjugate_transposed)
Tensor.mH = property(_batch_conjugate_transposed)


@function(alias=("moveaxis",), method=True)
def movedim(input: Tensor, source: Any, destination: Any) -> Tensor:
    """A view with the dimensions ``source`` moved to ``destination``, the others in their old order.

    Raises:
        RuntimeError: if the two differ in length or repeat a dimension.

    >>> torch.zeros(2, 3, 4).movedim(0, -1).shape
    torch.Size([3, 4, 2])
    """
    ndim = len(value_of(input).shape)
    from_, to = ((d,) if isinstance(d, int) else tuple(d) for d in (source, destination))
    if len(from_) != len(to):
        raise OpError(
            f"movedim: Invalid source or destination dims: source ({list(from_)} dims) should contain the same number of "
            f"dims as destination ({list(to)} dims)"
        )
    from_, to = (tuple(wrap_dim(d, ndim) for d in dims) for dims in (from_, to))
    for name, dims in (("source", from_), ("destination", to)):
        if len(set(dims)) != len(dims):
            raise OpError(f"movedim: repeated dim in `{name}` ({list(dims)})")
    rest = iter(d for d in range(ndim) if d not in from_)
    target = dict(zip(to, from_, strict=True))
    return _permute(input, tuple(target[d] if d in target else next(rest) for d in range(ndim)))


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
        have = shape[d - new] if d >= new else None
        if size == -1 and have is None:
            raise OpError(f"The expanded size of the tensor ({size}) isn't allowed in a leading, non-existing dimension {d}")
        if have not in (None, 1, size) and size != -1:
            raise OpError(
                f"The expanded size of the tensor ({size}) must match the existing size ({have}) at non-singleton dimension "
                f"{d}.  Target sizes: {list(sizes)}.  Tensor sizes: {list(shape)}"
            )
        found.append(have if size == -1 else size)
    return tuple(found)


def expand(self: Tensor, *size: Any) -> Tensor:
    """A view in which dimensions of size 1, and new leading ones, are repeated without a copy; -1 keeps a size.

    Raises:
        RuntimeError: if a size other than 1 would have to change.

    >>> torch.zeros(3, 1).expand(2, -1, 4).shape
    torch.Size([2, 3, 4])
    """
    return _expand(self, expanded(tuple(value_of(self).shape), sizes_of(size, "expand")))


registry.add_method("expand", expand)
registry.add_method("expand_as", lambda self, other: expand(self, tuple(other.shape)))


@function(method=True)
def broadcast_to(input: Tensor, size: Any) -> Tensor:
    """``input.expand(size)``."""
    return expand(input, tuple(size))


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
