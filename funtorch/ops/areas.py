"""Differences of neighbours and areas under samples, along a dimension."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..core.dims import wrap_dim
from ..dtypes import default
from ..errors import OpError
from .declare import Array, op
from .operands import is_inexact


@op()
def diff(input: Array, n=1, dim=-1, prepend: Array | None = None, append: Array | None = None):
    """Differences of neighbours along a dimension, n times over: z_i = x_(i+1) - x_i; for bools, whether they differ.

    input (*) of one dimension or more; prepend, append: values to put before and after. Raises RuntimeError for a 0-dim input.
    """
    if not input.ndim:
        raise OpError("diff expects input to be at least one-dimensional")
    if n < 0:
        raise OpError(f"order must be non-negative but got {n}")
    axis = wrap_dim(dim, input.ndim)
    parts = [p for p in (prepend, input, append) if p is not None]
    x = jnp.concatenate(parts, axis=axis) if len(parts) > 1 else input
    for _ in range(min(n, x.shape[axis])):
        later, earlier = _neighbours(x, axis)
        x = later != earlier if x.dtype == bool else later - earlier
    return x


def _neighbours(x: Array, axis: int) -> tuple[Array, Array]:
    """The array without its first and without its last element along an axis."""
    before = (slice(None),) * axis
    return x[(*before, slice(1, None))], x[(*before, slice(None, -1))]


def _strips(y: Array, x: Array | None, dx: Any, dim: int, name: str) -> tuple[Array, int]:
    """The areas of the trapezoids between neighbours."""
    axis = wrap_dim(dim, y.ndim)
    later, earlier = _neighbours(y, axis)
    pairs = later + earlier
    if x is None:
        if isinstance(dx, float) and not is_inexact(pairs):
            pairs = pairs.astype(default().numpy)
        return _halved(pairs * dx), axis
    if x.ndim == 1:
        if x.shape[0] != y.shape[axis]:
            raise OpError(f"{name}(): There must be one `x` value for each sample point: got {x.shape[0]} for {y.shape[axis]}")
        gaps = (x[1:] - x[:-1]).reshape((-1,) + (1,) * (y.ndim - axis - 1))
    else:
        if x.ndim and x.shape[min(axis + x.ndim - y.ndim, x.ndim - 1)] != y.shape[axis]:
            raise OpError(f"{name}(): There must be one `x` value for each sample point")
        x = x.reshape((1,) * (y.ndim - x.ndim) + x.shape)
        later, earlier = _neighbours(x, wrap_dim(axis - y.ndim, x.ndim))
        gaps = later - earlier
    return _halved(pairs * gaps), axis


def _halved(areas: Array) -> Array:
    return (areas if is_inexact(areas) else areas.astype(default().numpy)) * 0.5


@op(alias=("trapz",), method=False, out=False)
def trapezoid(y: Array, x: Array | None = None, *, dx=1, dim=-1):
    """Area under samples by the trapezoidal rule, along a dimension.

    y (*), x: where the samples are, (n,) or like y; dx: their distance if x isn't given. z: y's shape without ``dim``.
    Raises RuntimeError if x has another number of samples, IndexError for a dimension out of range.
    """
    strips, axis = _strips(y, x, dx, dim, "trapezoid")
    return strips.sum(axis)


@op(method=False, out=False)
def cumulative_trapezoid(y: Array, x: Array | None = None, *, dx=1, dim=-1):
    """Running area under samples by the trapezoidal rule, along a dimension. y, x, dx: as in `trapezoid`; one sample fewer."""
    strips, axis = _strips(y, x, dx, dim, "cumulative_trapezoid")
    return jnp.cumsum(strips, axis=axis)
