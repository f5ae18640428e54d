"""Norms of vectors and matrices in namespace linalg, condition numbers, and small products there."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.dims import wrap_dim, wrap_dims
from ..errors import ArgumentTypeError, OpError
from . import diagonals
from .declare import Array, function, op
from .matrices import check_float, check_matrices, handed, value_as
from .norms import _modulus, squared_norm
from .norms import vector_norm as _vector_norm
from .operands import in_float32, is_inexact, kind_of
from .solvers import inv_ex
from .spectra import singular_values


def _converted(name: str, x: Array, dtype: Any) -> Array:
    """``x`` in ``dtype``, which may be wider alone. Raises RuntimeError."""
    check_float(name, x, low=True)
    if dtype is None:
        return x
    wanted = dtype.numpy
    like = jnp.zeros((), wanted)
    if not is_inexact(like):
        raise OpError(f"{name}: dtype should be floating point or complex, but got {kind_of(like)}")
    if jnp.iscomplexobj(x) != jnp.iscomplexobj(like):
        kinds = ("complex", "complex") if jnp.iscomplexobj(x) else ("real", "real")
        raise OpError(f"{name}: dtype should be {kinds[0]} for {kinds[1]} inputs, but got {kind_of(like)}")
    if jnp.promote_types(x.dtype, wanted) != wanted:
        raise OpError(
            f"{name}: the dtype of the input ({kind_of(x)}) should be convertible without narrowing to the specified dtype ({kind_of(like)})"
        )
    return x.astype(wanted)


@op(namespace="linalg", squared=squared_norm)
def vector_norm(x: Array, ord=2, dim=None, keepdim=False, *, dtype=None):
    """(sum |x|^p)^(1/p) over dimensions; its gradient is 0 where it is 0.

    Args:
        x: (*) of floats.
        ord: p: a number, inf (the largest) or -inf (the least), 0 (how many aren't 0).
        dim: one or several dimensions, all if None; keepdim: keep them, with size 1.
        dtype: the type to convert to first, not a narrower one.

    Returns:
        x's shape without ``dim``, real.

    Raises:
        RuntimeError: integers, a narrower dtype, or no elements for an order without a neutral one. TypeError: another ord.
    """
    if isinstance(ord, str):
        raise ArgumentTypeError("linalg_vector_norm(): argument 'ord' (position 2) must be Number, not str")
    x = _converted("linalg.vector_norm", x, dtype)
    dims = wrap_dims(dim, x.ndim)
    p = float(ord)
    if (p < 0 or math.isinf(p)) and any(not x.shape[d] for d in dims):
        if dim is None or dim == ():
            problem = "on an empty tensor because the operation does not have an identity"
        else:
            problem = f"on the dimension {next(d for d in dims if not x.shape[d])} because this dimension is empty and the operation does not have an identity"
        raise OpError(f"linalg.vector_norm cannot compute the {ord:g} norm {problem}")
    return in_float32(lambda v: _vector_norm(v, p, dims, keepdim))(x)


def _extreme(x: Array, axis: int, largest: bool) -> Array:
    """The largest or the least element along an axis, which is kept; 0 is the largest of none."""
    if largest and not x.shape[axis]:
        return jnp.zeros([1 if d == axis % x.ndim else n for d, n in enumerate(x.shape)], x.dtype)
    return (jnp.max if largest else jnp.min)(x, axis=axis, keepdims=True)


def _matrix_norm_of(x: Array, order: Any, keepdim: bool, dims: tuple[int, int]) -> Array:
    """The norm of the matrices in dimensions ``dims``."""
    if order == "fro":
        return _vector_norm(x, 2.0, dims, keepdim)
    if order in (2, -2, "nuc"):
        sizes = singular_values(jnp.moveaxis(x, dims, (-2, -1)))
        found = sizes.sum(-1) if order == "nuc" else _extreme(sizes, -1, order > 0)[..., 0]
        return jnp.expand_dims(found, sorted(dims)) if keepdim else found
    summed, taken = dims if abs(order) == 1 else dims[::-1]
    sums = jnp.sum(_modulus(x), axis=summed, keepdims=True)
    found = _extreme(sums, taken, order > 0)
    return found if keepdim else jnp.squeeze(found, dims)


def _check_matrix_norm(a: Array, order: Any, dim: Any) -> tuple[int, int]:
    name = "linalg.matrix_norm"
    check_matrices(name, a)
    if order not in (1, -1, 2, -2, math.inf, -math.inf, "fro", "nuc"):
        raise OpError(f"{name}: Order {order} not supported.")
    dims = (dim,) if isinstance(dim, int) else tuple(dim)
    if len(dims) != 2:
        raise OpError(f"{name}: dim must be a 2-tuple. Got {', '.join(map(str, dims))}")
    first, second = (wrap_dim(d, a.ndim) for d in dims)
    if first == second:
        raise OpError(f"{name}: dims must be different. Got ({dims[0]}, {dims[1]})")
    return first, second


def _squared_matrix_norm(order: Any, dim: Any, keepdim: bool, dtype: Any) -> Callable | None:
    return squared_norm("fro", dim, keepdim, dtype) if order == "fro" else None


@op(namespace="linalg", squared=_squared_matrix_norm)
def matrix_norm(A: Array, ord="fro", dim=(-2, -1), keepdim=False, *, dtype=None):  # noqa: N803
    """The norm of matrices.

    Args:
        A: (*, m, n) of floats.
        ord: "fro", "nuc" (the sum of the singular values), 2, -2 (the largest and least of them), 1, -1 (the largest and least sum of a
            column's moduli), inf, -inf (of a row's).
        dim: the matrices' two dimensions; keepdim: keep them, with size 1.
        dtype: the type to convert to first, not a narrower one.

    Returns:
        A's shape without ``dim``, real.

    Raises:
        RuntimeError: another order, integers, or a narrower dtype.
    """
    dims = _check_matrix_norm(A, ord, dim)
    x = _converted("linalg.matrix_norm", A, dtype)
    if ord in (2, -2, "nuc"):
        check_float("linalg.svd", x)
    return in_float32(lambda v: _matrix_norm_of(v, ord, keepdim, dims))(x)


@function("linalg")
def norm(input: Any, ord: Any = None, dim: Any = None, keepdim: bool = False, *, out: Any = None, dtype: Any = None) -> Any:
    """`vector_norm` or `matrix_norm`.

    Args:
        input: (*) of floats.
        ord: the order, as there; None is 2 or "fro".
        dim: one dimension for vectors, two for matrices; None: all elements are one vector, or where ``ord`` is given
            the input is one vector or matrix.
        keepdim, dtype: as there.

    Raises:
        RuntimeError: another order, number of dimensions or dtype.
    """
    dims = None if dim is None else (dim,) if isinstance(dim, int) else tuple(dim)
    rank = value_as("linalg.norm", input, "input").ndim
    if ord is not None and dims is not None and len(dims) not in (1, 2):
        raise OpError(f"linalg.norm: If dim is specified, it must be of length 1 or 2. Got {list(dims)}")
    if ord is not None and dims is None and rank not in (1, 2):
        raise OpError(f"linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got {rank}D.")
    if ord is not None and (isinstance(ord, str) or (len(dims) if dims is not None else rank) == 2):
        return matrix_norm(
            input,
            ord,
            (0, 1) if dims is None and rank == 2 else (-2, -1) if dims is None else dims,
            keepdim,
            dtype=dtype,
            out=out,
        )
    return vector_norm(input, 2 if ord is None else ord, dims, keepdim, dtype=dtype, out=out)


@function("linalg")
def cond(A: Any, p: Any = None, *, out: Any = None) -> Any:  # noqa: N803
    """The condition number |A| |A^-1|, inf for singular matrices.

    Args:
        A: (*, m, n); square unless p is None, 2 or -2.
        p: the order of `matrix_norm`; None is 2.

    Returns:
        (*), real.

    Raises:
        RuntimeError: other than such matrices of floats, or an unknown order.
    """
    shape = tuple(value_as("cond", A).shape)
    if len(shape) < 2:
        raise OpError("linalg.cond: The input tensor must have at least 2 dimensions.")
    if p in (None, 2, -2):
        return handed(_spectral_cond(A, p == -2), out, "cond")
    check_matrices(f"linalg.cond(ord={p})", value_as("cond", A), square=True)
    if 0 in shape[-2:]:
        return handed(A.new_zeros(shape[:-2]).real, out, "cond")
    inverse, info = inv_ex(A)
    found = matrix_norm(A, p) * matrix_norm(inverse, p)
    return handed(found.where(info == 0, found.new_full((), math.inf)), out, "cond")


@op(namespace="linalg", name="_spectral_cond", out=False)
def _spectral_cond(A: Array, smallest):  # noqa: N803
    """The largest singular value over the smallest one, or the inverse of it."""
    check_matrices("linalg.svd", A)
    check_float("linalg.svd", A)
    sizes = singular_values(A)
    if not sizes.shape[-1]:
        return jnp.zeros(sizes.shape[:-1], sizes.dtype)
    return sizes[..., -1] / sizes[..., 0] if smallest else sizes[..., 0] / sizes[..., -1]


@op(namespace="linalg")
def vecdot(x: Array, y: Array, *, dim=-1):
    """The sum of conj(x) y along a dimension. x (*), y (*): broadcast together. Raises RuntimeError for integers' bool, or other shapes."""
    kind = jnp.promote_types(x.dtype, y.dtype)
    x, y = jnp.broadcast_arrays(x.astype(kind), y.astype(kind))
    axis = wrap_dim(dim, x.ndim)
    return in_float32(lambda a, b: jnp.sum(jnp.conj(a) * b, axis=axis, dtype=a.dtype))(x, y)


@op(namespace="linalg", name="cross")
def _linalg_cross(input: Array, other: Array, *, dim=-1):
    """Cross product of vectors along a dimension of size 3. input (*), other (*): broadcast together.

    Raises RuntimeError if the dimension isn't of size 3 or the shapes don't fit.
    """
    x, y = input, other
    if x.ndim != y.ndim:
        raise OpError("linalg.cross: inputs must have the same number of dimensions.")
    axis = wrap_dim(dim, x.ndim)
    if x.shape[axis] != 3 or y.shape[axis] != 3:
        raise OpError(f"linalg.cross: inputs dimension {dim} must have length 3. Got {x.shape[axis]} and {y.shape[axis]}")
    kind = jnp.promote_types(x.dtype, y.dtype)
    a, b = (jnp.moveaxis(v, axis, 0) for v in jnp.broadcast_arrays(x.astype(kind), y.astype(kind)))
    parts = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    return jnp.stack(parts, axis=axis)


@op(namespace="linalg", name="vander", out=False)
def _linalg_vander(x: Array, *, N=None):  # noqa: N803
    """Vandermonde matrices: column j holds x to the power j. x (*, n), z (*, n, N). Raises RuntimeError if N < 2."""
    x = jnp.atleast_1d(x)
    columns = x.shape[-1] if N is None else N
    if columns <= 1:
        raise OpError("N must be greater than 1.")
    kind = np.dtype(np.int64) if x.dtype.kind in "iub" else x.dtype
    steps = jnp.broadcast_to(x.astype(kind)[..., None], (*x.shape, columns - 1))
    return jnp.concatenate([jnp.ones((*x.shape, 1), kind), jnp.cumprod(steps, axis=-1)], -1)


@function("linalg", name="diagonal")
def _linalg_diagonal(A: Any, *, offset: int = 0, dim1: int = -2, dim2: int = -1) -> Any:  # noqa: N803
    """`torch.diagonal` of the last two dimensions: a view. A (*, m, n), z (*, k)."""
    return diagonals.diagonal(A, offset, dim1, dim2)
