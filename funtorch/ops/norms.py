"""Norms of the elements along dimensions, distances, and rescaling to a norm."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.dims import wrap_dim, wrap_dims
from ..dtypes import FROM_NUMPY, promote_types
from ..dtypes import dtype as DType
from ..errors import OpError
from .declare import Array, function, op
from .moments import root
from .operands import KINDS, in_float32, is_inexact, refuse, shown_as


def sum_of_squares(x: Array, dims: tuple[int, ...], keepdim: bool) -> Array:
    """sum |x|^2."""
    square = x.real * x.real + x.imag * x.imag if jnp.iscomplexobj(x) else x * x
    return jnp.sum(square, axis=dims, keepdims=keepdim)


def vector_norm(x: Array, p: float, dims: tuple[int, ...], keepdim: bool) -> Array:
    """(sum |x|^p)^(1/p); its gradient is 0 where it is 0."""
    if p == 2:
        return root(sum_of_squares(x, dims, keepdim))
    size = _modulus(x)
    if p == 0:
        return jnp.sum((size != 0).astype(size.dtype), axis=dims, keepdims=keepdim)
    if p == 1:
        return jnp.sum(size, axis=dims, keepdims=keepdim)
    if math.isinf(p):
        return (jnp.max if p > 0 else jnp.min)(size, axis=dims, keepdims=keepdim)
    # The power of an element that is 0 has an infinite slope for p < 1: it counts as 0.
    zero = (size == 0) & (p > 0)
    total = jnp.sum(jnp.where(zero, 0, jnp.where(zero, 1, size) ** p), axis=dims, keepdims=keepdim)
    empty = total == 0
    return jnp.where(empty, 0 if p > 0 else jnp.inf, jnp.where(empty, 1, total) ** (1 / p))


def _modulus(x: Array) -> Array:
    """|x| whose gradient at 0 is 0."""
    if jnp.iscomplexobj(x):
        return root(x.real * x.real + x.imag * x.imag)
    return x * jnp.sign(x)


def squared_norm(p: Any, dim: Any, keepdim: bool, dtype: Any) -> Callable | None:
    """The function below the root of a norm of order 2; None for other orders."""
    if p not in (2, "fro"):
        return None

    def squared(x: Array) -> Array:
        x = x if dtype is None else x.astype(dtype.numpy)
        return in_float32(lambda v: sum_of_squares(v, wrap_dims(dim, x.ndim), keepdim))(x)

    return squared


def _check_dtype(found: DType, wanted: DType) -> None:
    """Raise RuntimeError for a type in which a norm's argument can't be written as it is."""
    name, kind = "linalg.vector_norm: ", KINDS.get(found.name, found.name)
    if found.is_complex != wanted.is_complex:
        must = "complex for complex" if found.is_complex else "real for real"
        raise OpError(f"{name}dtype should be {must} inputs, but got {KINDS.get(wanted.name, wanted.name)}")
    if promote_types(found, wanted) is not wanted:
        raise OpError(
            f"{name}the dtype of the input ({kind}) should be convertible without narrowing to the specified dtype "
            f"({KINDS.get(wanted.name, wanted.name)})"
        )


@shown_as("linalg_vector_norm")
@op(name="_norm", method=False, squared=squared_norm)
def _norm(input: Array, p, dim, keepdim, dtype):
    """Norm of order p along dimensions."""
    if dtype is not None:
        _check_dtype(FROM_NUMPY[np.dtype(input.dtype)], dtype)
    x = input if dtype is None else input.astype(dtype.numpy)
    if not is_inexact(x):
        raise OpError(f"norm(): the desired output dtype should be either floating point or complex. Got {x.dtype} instead.")
    dims = wrap_dims(dim, x.ndim)
    return in_float32(lambda v: vector_norm(v, float(p), dims, keepdim))(x)


@shown_as("nuclear_norm")
@op(name="_nuclear_norm", method=False)
def _nuclear_norm(input: Array, dim, keepdim):
    """Sum of the singular values of the matrices in two dimensions."""
    dims = wrap_dims(dim, input.ndim)
    if len(dims) != 2:
        raise OpError(f"nuclear_norm(): expected 2 dimensions, got {len(dims)}")
    matrices = jnp.moveaxis(input, dims, (-2, -1))
    total = jnp.linalg.svd(matrices, compute_uv=False).sum(-1)
    return jnp.expand_dims(total, sorted(dims)) if keepdim else total


@function(method=True)
def norm(input: Any, p: Any = "fro", dim: Any = None, keepdim: bool = False, out: Any = None, dtype: Any = None) -> Any:
    """Norm of the elements along dimensions: (sum |x|^p)^(1/p).

    Args:
        input: (*) of floats.
        p: the order: a number, inf, -inf, "fro" (2) or "nuc" (the sum of the singular values over two dimensions).
        dim: one, several or all dimensions; keepdim: keep them, with size 1.
        dtype: the type to convert to first.

    Returns:
        input's shape without ``dim``, real. Its gradient is 0 where it is 0.

    Raises:
        RuntimeError: integers, or an unknown order.
    """
    if p == "nuc":
        return _nuclear_norm(input, dim, keepdim, out=out)
    if isinstance(p, str) and p != "fro":
        raise OpError(f"norm(): unsupported order {p!r}: a number, 'fro' or 'nuc' is expected")
    return _norm(input, 2.0 if p in (None, "fro") else p, dim, keepdim, dtype, out=out)


@function()
def frobenius_norm(input: Any, dim: Any = (), keepdim: bool = False, *, out: Any = None) -> Any:
    """Square root of the sum of squares along dimensions. input (*) of floats. Raises RuntimeError for integers."""
    return _norm(input, 2.0, dim, keepdim, None, out=out)


@function()
def nuclear_norm(input: Any, dim: Any = (-2, -1), keepdim: bool = False, *, out: Any = None) -> Any:
    """Sum of the singular values of the matrices in two dimensions. input (*, M, N) of floats. Raises RuntimeError otherwise."""
    return _nuclear_norm(input, dim, keepdim, out=out)


def _squared_distance(p: Any) -> Callable | None:
    if p != 2:
        return None
    return lambda input, other: in_float32(lambda v: sum_of_squares(v, tuple(range(v.ndim)), False))(input - other)


@op(out=False, squared=_squared_distance)
def dist(input: Array, other: Array, p=2):
    """Norm of order p of x - y. input (*), other (*): broadcast together; z ()."""
    gap = input - other
    if not is_inexact(gap):
        raise OpError(f"dist(): expected floating point or complex input, got {gap.dtype}")
    return in_float32(lambda v: vector_norm(v, float(p), tuple(range(v.ndim)), False))(gap)


@op(inplace=True)
def renorm(input: Array, p, dim, maxnorm):
    """Each slice along ``dim`` scaled down to norm ``maxnorm`` if its norm of order p is above it.

    input (*) of 2 dimensions or more. Raises RuntimeError if p <= 0, maxnorm < 0 or input has fewer dimensions.
    """
    refuse("renorm", input, "bi")
    if input.ndim < 2:
        raise OpError(f"renorm: input needs at least 2 dimensions, got {input.ndim} dimensions")
    if isinstance(p, complex) or p <= 0:
        raise OpError(f"renorm: non-positive-norm not supported, got p={p}")
    if maxnorm < 0:
        raise OpError(f"renorm: expected maxnorm to be >= 0 but got {maxnorm}")
    kept = wrap_dim(dim, input.ndim)
    dims = tuple(d for d in range(input.ndim) if d != kept)
    return in_float32(lambda x: _scaled_down(x, float(p), dims, maxnorm))(input)


def _scaled_down(x: Array, p: float, dims: tuple[int, ...], maxnorm: float) -> Array:
    size = vector_norm(x, p, dims, True)
    # PyTorch's 1e-7 keeps the division safe.
    return x * jnp.where(size > maxnorm, maxnorm / (size + 1e-7), 1).astype(x.dtype)
