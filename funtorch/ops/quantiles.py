"""Quantiles along a dimension."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.dims import wrap_dim
from ..core.handle import Handle
from ..errors import OpError
from .declare import Array, function, op
from .given_data import tensor
from .operands import seen, shown_as

METHODS = ("linear", "lower", "higher", "midpoint", "nearest")


@shown_as("quantile")
@op(name="_quantile", method=False)
def _quantile(input: Array, q: Array, dim, keepdim, interpolation, ignore_nan):
    """Quantiles q along a dimension; they stand along axis 0 if q has a dimension."""
    if dim is None:
        x, axis = input.reshape(-1), 0
    else:
        axis = wrap_dim(dim, input.ndim)
        x = input.reshape(1) if not input.ndim else input
    if x.shape[axis] == 0:
        raise OpError("quantile() input tensor must be non-empty")
    ordered = jnp.sort(jnp.moveaxis(x, axis, -1), axis=-1)
    size = ordered.shape[-1]
    nan = jnp.isnan(ordered)
    last = (size - 1 - nan.sum(-1) if ignore_nan else jnp.full(ordered.shape[:-1], size - 1)).astype(x.dtype)
    rank = jax.lax.stop_gradient(jnp.maximum(q[..., *(None,) * last.ndim] * last, 0))
    values = _interpolated(jnp.broadcast_to(ordered, (*q.shape, *ordered.shape)), rank, interpolation)
    if not ignore_nan:
        values = jnp.where(nan.any(-1), jnp.nan, values).astype(x.dtype)
    if not keepdim:
        return values
    if dim is None:
        return values.reshape(*q.shape, *(1,) * input.ndim)
    return jnp.expand_dims(values, q.ndim + axis) if input.ndim else values


def _interpolated(ordered: Array, rank: Array, method: str) -> Array:
    """The elements at fractional ranks of sorted arrays."""

    def at(places: Array) -> Array:
        return jnp.take_along_axis(ordered, places.astype(np.int64)[..., None], axis=-1)[..., 0]

    below, above = jnp.floor(rank), jnp.ceil(rank)
    if method == "lower":
        return at(below)
    if method == "higher":
        return at(above)
    if method == "nearest":
        return at(jnp.round(rank))
    low, high = at(below), at(above)
    weight = 0.5 if method == "midpoint" else rank - below
    mixed = low + (high - low) * weight
    # Between two equal infinities the difference is NaN.
    return jnp.where(jnp.isinf(low) & (low == high), low, mixed)


def _declare(name: str, ignore_nan: bool, doc: str) -> Any:
    def quantiles(
        input: Any, q: Any, dim: int | None = None, keepdim: bool = False, *, interpolation: str = "linear", out: Any = None
    ) -> Any:
        if not input.is_floating_point() or input.dtype.itemsize < 4:
            raise OpError(f"{name}() input tensor must be either float or double dtype")
        if interpolation not in METHODS:
            raise OpError(f"{name}() interpolation must be one of {', '.join(METHODS)}, but got {interpolation}")
        q = _levels(q, input, name)
        return _quantile(input, q, dim, keepdim, interpolation, ignore_nan, out=out)

    quantiles.__name__ = quantiles.__qualname__ = name
    quantiles.__doc__ = doc + (
        "\n\n    input (*) of float32 or float64; q: a number in [0, 1] or a Tensor of them, which then stand along the first"
        "\n    dimension; dim: all elements if not given; interpolation: linear, lower, higher, midpoint or nearest."
        "\n    Raises RuntimeError for other types and for q out of range.\n    "
    )
    return function(name=name, method=True)(quantiles)


def _levels(q: Any, input: Any, name: str) -> Any:
    if not isinstance(q, Handle):
        if not 0 <= q <= 1:
            raise OpError(f"{name}() q must be in the range [0, 1] but got {q}")
        return tensor(q, dtype=input.dtype)
    if q.dim() > 1:
        raise OpError(f"{name}() q must be a scalar or 1D tensor")
    if q.dtype != input.dtype:
        raise OpError(f"{name}() q tensor must be same dtype as the input tensor")
    values = seen(q)
    if values is not None and not ((values >= 0) & (values <= 1)).all():
        raise OpError(f"{name}() q values must be in the range [0, 1]")
    return q


quantile = _declare("quantile", False, "Quantiles of all elements or along a dimension; NaN where there is a NaN.")
nanquantile = _declare("nanquantile", True, "Quantiles of the elements that aren't NaN, of all or along a dimension.")
