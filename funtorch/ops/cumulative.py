"""Running sums, products and extremes along a dimension; differences and areas."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.dims import wrap_dim
from .declare import Array, op
from .exponential import log_add
from .operands import in_float32, refuse
from .reduction import accumulated
from .return_types import TYPES


@op(inplace=True)
def cumsum(input: Array, dim, *, dtype=None):
    """Running sum along a dimension: z_i = x_1 + ... + x_i. input (*); integers give int64. Raises IndexError."""
    axis = wrap_dim(dim, input.ndim)
    x, result = accumulated(input, dtype)
    return (jnp.cumsum(x, axis=axis) if x.ndim else x).astype(result)


@op(inplace=True)
def cumprod(input: Array, dim, *, dtype=None):
    """Running product along a dimension: z_i = x_1 ... x_i. input (*); integers give int64. Raises IndexError."""
    axis = wrap_dim(dim, input.ndim)
    x, result = accumulated(input, dtype)
    return (jnp.cumprod(x, axis=axis) if x.ndim else x).astype(result)


@op()
def logcumsumexp(input: Array, dim):
    """Logarithm of the running sum of exponentials along a dimension. input (*) of floats. Raises IndexError."""
    refuse("logcumsumexp", input, "bi")
    axis = wrap_dim(dim, input.ndim)
    if not input.ndim:
        return input
    return in_float32(lambda x: _masked(jax.lax.associative_scan(log_add, x, axis=axis)))(input)


def _masked(z: Array) -> Array:
    """z, without a gradient where it is -inf: a prefix of nothing but -inf carries no information."""
    return z if jnp.iscomplexobj(z) else jnp.where(z == -jnp.inf, -jnp.inf, z)


def _running(x: Array, dim: int, name: str, beats: Any) -> tuple[Array, Array]:
    """The extreme so far and its index (the last one among equals); the gradient goes to the element at the index."""
    refuse(name, x, "c")
    axis = wrap_dim(dim, x.ndim)
    if not x.ndim:
        return x, jnp.zeros((), np.int64)
    numbers = jax.lax.broadcasted_iota(np.int64, x.shape, axis)

    def later(a: tuple, b: tuple) -> tuple:
        wins = beats(b[0], a[0])
        if jnp.issubdtype(x.dtype, jnp.floating):
            wins = jnp.isnan(b[0]) | (wins & ~jnp.isnan(a[0]))
        return jnp.where(wins, b[0], a[0]), jnp.where(wins, b[1], a[1])

    _, places = jax.lax.associative_scan(later, (jax.lax.stop_gradient(x), numbers), axis=axis)
    return jnp.take_along_axis(x, places, axis=axis), places


@op(result=TYPES["cummax"]._make)
def cummax(input: Array, dim):
    """Largest element so far along a dimension, and its index. input (*); gives (values, indices). Raises IndexError."""
    return _running(input, dim, "cummax", jnp.greater_equal)


@op(result=TYPES["cummin"]._make)
def cummin(input: Array, dim):
    """Smallest element so far along a dimension, and its index. input (*); gives (values, indices). Raises IndexError."""
    return _running(input, dim, "cummin", jnp.less_equal)
