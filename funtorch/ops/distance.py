"""Distances and similarities of vectors, and vectors scaled to length 1."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.dims import wrap_dim, wrap_dims
from ..errors import ArgumentValueError, OpError
from . import registry
from .activation import floating
from .declare import Array, Operand, function, op
from .loss_reduction import broadcast
from .norms import sum_of_squares, vector_norm
from .operands import in_float32, is_floating, is_inexact, kind_of

MODES = ("use_mm_for_euclid_dist_if_necessary", "use_mm_for_euclid_dist", "donot_use_mm_for_euclid_dist")


@op(namespace="nn.functional")
def normalize(input: Array, p=2.0, dim=1, eps=1e-12):
    """Vectors along a dimension divided by their norm: z = x / max(||x||_p, eps).

    Args:
        input: (*) of floats.
        p: the order of the norm.
        dim: one or several dimensions.
        eps: the least divisor.

    Raises:
        IndexError: a dimension out of range.
        RuntimeError: integers.
    """
    if not is_inexact(input):
        raise OpError(f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {kind_of(input)}")
    dims = wrap_dims(dim, input.ndim)

    def scaled(x: Array) -> Array:
        size = vector_norm(x, float(p), dims, True)
        return x / jnp.where(size < eps, np.asarray(eps, size.dtype), size)

    return in_float32(scaled)(input)


@op(promote="arith", alias=("nn.functional.cosine_similarity",), method=False, out=False)
def cosine_similarity(x1: Operand, x2: Operand, dim=1, eps=1e-8):
    """Cosine of the angle between vectors along a dimension: z = x . y / (max(||x||, eps) max(||y||, eps)).

    Args:
        x1, x2: (*) of floats, broadcast together.
        dim: the dimension.
        eps: the least length.

    Returns:
        (*) without ``dim``.

    Raises:
        RuntimeError: integers, or sizes that can't be broadcast.
    """
    if not is_inexact(x1):
        raise OpError(f"expected common dtype to be floating point, yet common dtype is {kind_of(x1)}")
    x, y = broadcast(x1, x2)
    axis = wrap_dim(dim, x.ndim)

    def similarity(x: Array, y: Array) -> Array:
        dims = (axis,) if x.ndim else ()

        def unit(v: Array) -> Array:
            size = vector_norm(v, 2.0, dims, True)
            # The floor is not differentiated: below it the gradient of the norm passes, as in PyTorch.
            return v / (size + jax.lax.stop_gradient(jnp.maximum(size, eps) - size))

        return jnp.sum(unit(x) * unit(y), axis=dims)

    return in_float32(similarity)(x, y)


@op(promote="arith", alias=("nn.functional.pairwise_distance",), method=False, out=False)
def pairwise_distance(x1: Operand, x2: Operand, p=2.0, eps=1e-6, keepdim=False):
    """Norm of the difference of vectors along the last dimension: z = ||x - y + eps||_p.

    Args:
        x1, x2: (*, D), broadcast together.
        p: the order of the norm.
        eps: keeps the gradient finite for equal vectors.
        keepdim: keep the last dimension, with size 1.

    Returns:
        (*).
    """
    x, y = map(floating, broadcast(x1, x2))
    axes = (x.ndim - 1,) if x.ndim else ()
    return in_float32(lambda x, y: vector_norm(x - y + np.asarray(eps, x.dtype), float(p), axes, keepdim))(x, y)


def _distance(gap: Array, p: float) -> Array:
    """Norm over the last axis; for p = inf, each of the largest elements gets the whole gradient, as in PyTorch."""
    if p != np.inf:
        return vector_norm(gap, p, (gap.ndim - 1,), False)
    size = gap * jnp.sign(gap)
    top = jax.lax.stop_gradient(jnp.max(size, axis=-1, keepdims=True))
    rest = size - jax.lax.stop_gradient(size)
    return top[..., 0] + jnp.sum(jnp.where(size == top, rest, 0), axis=-1)


def _pairs(x: Array) -> Array:
    """The differences of rows i < j."""
    first, second = np.triu_indices(x.shape[0], 1)
    return x[first] - x[second]


def _squared_pdist(p: Any) -> Callable | None:
    return in_float32(lambda x: sum_of_squares(_pairs(x), (1,), False)) if p == 2 else None


@op(namespace="nn.functional", out=False, squared=_squared_pdist)
def pdist(input: Array, p=2):
    """Distances of all pairs of rows: z = ||x_i - x_j||_p for i < j.

    Args:
        input: (N, D) of floats.
        p: the order of the norm, not negative.

    Returns:
        (N (N - 1) / 2). Its gradient is 0 for equal rows.

    Raises:
        RuntimeError: another rank, integers, or a negative p.
    """
    if input.ndim != 2:
        raise OpError(f"pdist only supports 2D tensors, got: {input.ndim}D")
    if not is_floating(input):
        raise OpError("pdist only supports floating-point dtypes")
    if p < 0:
        raise OpError("pdist only supports non-negative p values")
    if not input.shape[1]:
        return jnp.zeros(_pairs(input).shape[0], input.dtype)
    return in_float32(lambda x: _distance(_pairs(x), float(p)))(input)


registry.add("torch", "pdist", pdist)


def _gaps(x: Array, y: Array) -> Array:
    """The differences of all rows of one matrix from all rows of another."""
    return x[..., :, None, :] - y[..., None, :, :]


def _squared_cdist(p: Any) -> Callable | None:
    return in_float32(lambda x, y: sum_of_squares(_gaps(x, y), (-1,), False)) if p == 2 else None


@op(name="_cdist", method=False, out=False, squared=_squared_cdist)
def _cdist(x1: Array, x2: Array, p):
    """Distances of all rows of one matrix from all rows of another."""
    if not x1.shape[-1]:
        batch = np.broadcast_shapes(x1.shape[:-2], x2.shape[:-2])
        return jnp.zeros((*batch, x1.shape[-2], x2.shape[-2]), x1.dtype)
    return in_float32(lambda x, y: _distance(_gaps(x, y), p))(x1, x2)


@function()
def cdist(x1: Any, x2: Any, p: float = 2.0, compute_mode: str | None = None) -> Any:
    """Distances of all rows of one matrix from all rows of another: z_ij = ||x_i - y_j||_p.

    Args:
        x1: (*, N, D) of floats.
        x2: (*, M, D), of the same type.
        p: the order of the norm, not negative.
        compute_mode: has no effect: the differences are always computed, which is exact.

    Returns:
        (*, N, M). Its gradient is 0 for equal rows.

    Raises:
        RuntimeError: sizes or types that don't fit, or a negative p.
        ValueError: an unknown ``compute_mode``.
    """
    if compute_mode is not None and compute_mode not in MODES:
        raise ArgumentValueError(f"{compute_mode} is not a valid value for compute_mode")
    for name, x in (("X1", x1), ("X2", x2)):
        if not x.dtype.is_floating_point:
            raise OpError(f"cdist only supports floating-point dtypes, {name} got: {kind_of(x._payload)}")
        if x.dim() < 2:
            raise OpError(f"cdist only supports at least 2D tensors, {name} got: {x.dim()}D")
    if x1.dtype != x2.dtype:
        raise OpError(f"expected scalar type {kind_of(x1._payload)} but found {kind_of(x2._payload)}")
    if x1.shape[-1] != x2.shape[-1]:
        raise OpError(f"X1 and X2 must have the same number of columns. X1: {x1.shape[-1]} X2: {x2.shape[-1]}")
    for back in range(3, min(x1.dim(), x2.dim()) + 1):
        a, b = x1.shape[-back], x2.shape[-back]
        if a != b and 1 not in (a, b):
            at = max(x1.dim(), x2.dim()) - back
            raise OpError(f"The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton dimension {at}")
    if p < 0:
        raise OpError("cdist only supports non-negative p values")
    return _cdist(x1, x2, float(p))
