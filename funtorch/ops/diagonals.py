"""Diagonals and triangles of matrices, and the matrices that they make."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.call import call
from ..core.dims import wrap_dim
from ..core.handle import value_of
from ..core.promotion import result_type
from ..core.selected import choosing
from ..dtypes import as_dtype
from ..errors import ArgumentTypeError, OpError
from ..tensor import Tensor
from . import registry
from .arguments import sequence_argument
from .assignment import cast
from .declare import Array, function, op
from .kept import kept, viewing
from .placing import place as placed

Sizes = tuple[int, ...]


def _plane(ndim: int, dim1: int, dim2: int) -> tuple[int, int]:
    """The two dimensions of the matrices, from the front. Raises RuntimeError if they are one."""
    a, b = wrap_dim(dim1, ndim), wrap_dim(dim2, ndim)
    if a == b:
        raise OpError(f"diagonal dimensions cannot be identical {dim1}, {dim2}")
    return a, b


def _length(rows: int, columns: int, offset: int) -> int:
    return max(min(rows, columns - offset) if offset >= 0 else min(rows + offset, columns), 0)


def _diagonal_layout(shape: Sizes, strides: Sizes, at: int, offset: int, dim1: int, dim2: int) -> tuple:
    length = _length(shape[dim1], shape[dim2], offset)
    if length:
        at += offset * strides[dim2] if offset >= 0 else -offset * strides[dim1]
    rest = [d for d in range(len(shape)) if d not in (dim1, dim2)]
    return (*(shape[d] for d in rest), length), (*(strides[d] for d in rest), strides[dim1] + strides[dim2]), at


@viewing("diagonal", None, _diagonal_layout)
def _diagonal(x: Any, offset: int, dim1: int, dim2: int) -> Any:
    length = _length(x.shape[dim1], x.shape[dim2], offset)
    at = np.arange(length)
    moved = jnp.moveaxis(x, (dim1, dim2), (0, 1))
    return jnp.moveaxis(moved[at + max(-offset, 0), at + max(offset, 0)], 0, -1)


@function(method=True)
def diagonal(input: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """The diagonals of the matrices in dimensions ``dim1`` and ``dim2``, as a view whose last dimension runs along them.

    Args:
        input: (*), two dimensions at least.
        offset: which diagonal: 0 the main one, positive ones above it.
        dim1, dim2: the dimensions of the matrices.

    Raises:
        RuntimeError: if ``dim1`` and ``dim2`` are one dimension.

    >>> torch.arange(4).view(2, 2).diagonal()
    tensor([0, 3])
    """
    return _diagonal(input, int(offset), *_plane(len(value_of(input).shape), dim1, dim2))


def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Write a number on the main diagonal, in place; with ``wrap``, a tall matrix gets further diagonals below.

    Raises:
        RuntimeError: for fewer than two dimensions, or more of unequal sizes.

    >>> torch.zeros(2, 2).fill_diagonal_(1)
    tensor([[1., 0.],
            [0., 1.]])
    """
    shape = tuple(value_of(self).shape)
    if len(shape) < 2:
        raise OpError("dimensions must larger than 1")
    if len(shape) > 2 and len(set(shape)) > 1:
        raise OpError("all dimensions of input must be of equal length")
    mask = np.zeros(shape, bool)
    np.fill_diagonal(mask, True, wrap=wrap)
    return self.masked_fill_(Tensor._of_numpy(mask).to(self.device), fill_value)


registry.add_method("fill_diagonal_", fill_diagonal_)


@function(method=True)
def diagonal_scatter(input: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1) -> Tensor:
    """A copy of ``input`` with the values of ``src`` on a diagonal. Raises RuntimeError if its shape is not the diagonal's."""
    from .strided import written

    return written(input, src, lambda x: diagonal(x, offset, dim1, dim2))


@op()
def diag_embed(input: Array, offset=0, dim1=-2, dim2=-1):
    """Matrices with the last dimension of x on their diagonal, zeros elsewhere. input (*, n), z (*, n + |k|, n + |k|)."""
    a, b = _plane(input.ndim + 1, dim1, dim2)
    n = input.shape[-1]
    at = np.arange(n)
    size = n + abs(offset)
    made = jnp.zeros((*input.shape[:-1], size, size), input.dtype)
    made = made.at[..., at + max(-offset, 0), at + max(offset, 0)].set(input)
    return jnp.moveaxis(made, (-2, -1), (a, b))


@function(method=True)
def diag(input: Tensor, diagonal: int = 0, *, out: Any = None) -> Tensor:
    """The diagonal of a matrix, or the matrix with a vector on its diagonal. Raises RuntimeError for other dimensions."""
    from .assignment import into

    ndim = len(value_of(input).shape)
    if ndim not in (1, 2):
        raise OpError(f"diag(): Supports 1D or 2D tensors. Got {ndim}D")
    found = diag_embed(input, diagonal) if ndim == 1 else _diagonal(input, diagonal, 0, 1).clone()
    return found if out is None else into(out, found, "diag")


@function(method=True)
def diagflat(input: Tensor, offset: int = 0) -> Tensor:
    """The matrix with all elements of x on its diagonal."""
    return diag_embed(input.reshape(-1), offset)


@op()
def trace(input: Array):
    """The sum of a matrix's diagonal. input (n, m), z (); integers give int64."""
    if input.ndim != 2:
        raise OpError(f"trace: expected a matrix, but got tensor with dim {input.ndim}")
    kind = np.int64 if input.dtype.kind in "iub" else input.dtype
    return jnp.trace(input).astype(kind)


def _triangle(name: str, x: Array, diagonal: int, keep: Any) -> Array:
    if x.ndim < 2:
        raise OpError(f"{name}: input tensor must have at least 2 dimensions")
    return choosing(lambda x: keep(x, diagonal), x)


@op(inplace=True)
def tril(input: Array, diagonal=0):
    """The matrices with zeros above the given diagonal. input (*, n, m), z the same."""
    return _triangle("tril", input, diagonal, jnp.tril)


@op(inplace=True)
def triu(input: Array, diagonal=0):
    """The matrices with zeros below the given diagonal. input (*, n, m), z the same."""
    return _triangle("triu", input, diagonal, jnp.triu)


def _triangle_indices(name: str, find: Any) -> None:
    def indices(row: int, col: int, offset: int = 0, *, dtype: Any = None, device: Any = None, layout: Any = None) -> Tensor:
        if row < 0 or col < 0:
            raise OpError(f"{name}(): row and col must be non-negative, got row={row}, col={col}")
        found = np.stack(find(row, offset, col)) if row and col else np.zeros((2, 0), np.int64)
        kind = np.int64 if dtype is None else as_dtype(dtype).numpy
        return placed(found.astype(kind), device)

    indices.__name__ = indices.__qualname__ = name
    indices.__doc__ = f"The places of the elements that `{name[:4]}` keeps of a (row, col) matrix: (2, n), rows and columns."
    function(name=name)(indices)


_triangle_indices("tril_indices", np.tril_indices)
_triangle_indices("triu_indices", np.triu_indices)


@kept("block_diag")
def _block_diag() -> Any:
    def pure(*xs: Any) -> Any:
        blocks = [jnp.atleast_2d(x) for x in xs]
        made = jnp.zeros((sum(b.shape[0] for b in blocks), sum(b.shape[1] for b in blocks)), blocks[0].dtype)
        row = column = 0
        for block in blocks:
            made = made.at[row : row + block.shape[0], column : column + block.shape[1]].set(block)
            row, column = row + block.shape[0], column + block.shape[1]
        return made

    return pure


@function()
def block_diag(*tensors: Any) -> Tensor:
    """The matrix with the given matrices along its diagonal; vectors are rows. Raises RuntimeError for more dimensions."""
    given = sequence_argument(tensors, "block_diag", "tensors", 1)
    if not given:
        raise ArgumentTypeError("block_diag(): expected at least one Tensor")
    for number, x in enumerate(given):
        if x.dim() > 2:
            raise OpError(
                f"torch.block_diag: Input tensors must have 2 or fewer dimensions. Input {number} has {x.dim()} dimensions"
            )
    common = result_type(given)
    return call(_block_diag(), [cast(x, common) for x in given])


@op(method=False)
def vander(x: Array, N=None, increasing=False):  # noqa: N803
    """The Vandermonde matrix: column j holds x to the power N-1-j, or j if ``increasing``. x (n), z (n, N)."""
    if x.ndim != 1:
        raise OpError("x must be a one-dimensional tensor.")
    columns = x.shape[0] if N is None else N
    kind = np.int64 if x.dtype.kind in "iub" else x.dtype
    powers = np.arange(columns) if increasing else np.arange(columns)[::-1]
    steps = jnp.broadcast_to(x.astype(kind)[:, None], (x.shape[0], max(columns - 1, 0)))
    ladder = jnp.concatenate([jnp.ones((x.shape[0], 1), kind), jnp.cumprod(steps, axis=1)], 1)
    return ladder[:, powers]
