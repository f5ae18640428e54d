"""Medians, quantiles and other order statistics along a dimension."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.dims import wrap_dim
from ..errors import OpError, OutOfBoundsError
from .declare import Array, function, op
from .operands import is_floating, refuse, shown_as
from .return_types import TYPES


def _along(x: Array, dim: int, name: str) -> tuple[Array, int]:
    """The array with at least one dimension, and the number of ``dim``. Raises IndexError if there's nothing along it."""
    axis = wrap_dim(dim, x.ndim)
    x = x.reshape(1) if not x.ndim else x
    if x.shape[axis] == 0:
        raise OutOfBoundsError(f"{name}(): Expected reduction dim {axis} to have non-zero size.")
    return x, axis


def _picked(x: Array, places: Array, axis: int, keepdim: bool, scalar: bool) -> tuple[Array, Array]:
    """The elements at ``places`` (with one place along ``axis``): the gradient goes there."""
    values = jnp.take_along_axis(x, places, axis=axis)
    if not keepdim or scalar:
        values, places = values.squeeze(axis), places.squeeze(axis)
    return values, places.astype(np.int64)


def _order(x: Array, axis: int) -> Array:
    """Indices that sort along an axis, NaN last."""
    return jnp.argsort(jax.lax.stop_gradient(x), axis=axis, stable=True)


@op(result=TYPES["kthvalue"]._make)
def kthvalue(input: Array, k, dim=-1, keepdim=False):
    """The k-th smallest element along a dimension, and its index. input (*), k from 1. Raises RuntimeError for k out of range."""
    refuse("kthvalue", input, "bc")
    scalar = not input.ndim
    axis = wrap_dim(dim, input.ndim)
    x = input.reshape(1) if scalar else input
    if not 1 <= k <= x.shape[axis]:
        raise OpError(f"kthvalue(): selected number k out of range for dimension {axis}")
    places = jax.lax.slice_in_dim(_order(x, axis), k - 1, k, axis=axis)
    return _picked(x, places, axis, keepdim, scalar)


def _median_place(x: Array, axis: int, ignore_nan: bool) -> Array:
    """Index of the lower median along an axis; of the first NaN if there is one and it isn't ignored."""
    order = _order(x, axis)
    size = x.shape[axis]
    if not is_floating(x):
        return jax.lax.slice_in_dim(order, (size - 1) // 2, (size - 1) // 2 + 1, axis=axis)
    nan = jnp.isnan(x)
    numbers = size - jnp.sum(nan, axis=axis, keepdims=True)
    middle = jnp.maximum(numbers - 1, 0) // 2
    place = jnp.take_along_axis(order, middle, axis=axis)
    if ignore_nan:
        return place
    return jnp.where(numbers < size, jnp.argmax(nan, axis=axis, keepdims=True), place)


def _median_along(x: Array, dim: int, keepdim: bool, name: str, ignore_nan: bool) -> tuple[Array, Array]:
    refuse(name, x, "bc")
    scalar = not x.ndim
    x, axis = _along(x, dim, name)
    return _picked(x, _median_place(x, axis, ignore_nan), axis, keepdim, scalar)


def _median_all(x: Array, name: str, ignore_nan: bool) -> Array:
    refuse(name, x, "bc")
    flat = x.reshape(-1)
    if not flat.size:
        return jnp.full((), jnp.nan if is_floating(x) else jnp.iinfo(x.dtype).min, x.dtype)
    value = jax.lax.stop_gradient(flat[_median_place(flat, 0, ignore_nan)[0]])
    # Equal elements share the gradient evenly.
    equal = (flat == value) | (jnp.isnan(flat) & jnp.isnan(value)) if is_floating(x) else flat == value
    share = jnp.where(equal, flat, 0)
    if not is_floating(x):
        return value
    mean = jnp.sum(share - jax.lax.stop_gradient(share)) / jnp.sum(equal).astype(x.dtype)
    return jnp.where(jnp.isnan(value), value, value + mean)


@shown_as("median")
@op(name="_median_along", method=False, result=TYPES["median"]._make)
def _median_dim(input: Array, dim, keepdim=False):
    """Lower median along a dimension, and its index."""
    return _median_along(input, dim, keepdim, "median", False)


@shown_as("nanmedian")
@op(name="_nanmedian_along", method=False, result=TYPES["nanmedian"]._make)
def _nanmedian_dim(input: Array, dim, keepdim=False):
    """Lower median of the elements that aren't NaN along a dimension, and its index."""
    return _median_along(input, dim, keepdim, "nanmedian", True)


@shown_as("median")
@op(name="_median_all", method=False)
def _median_whole(input: Array):
    """Lower median of all elements."""
    return _median_all(input, "median", False)


@shown_as("nanmedian")
@op(name="_nanmedian_all", method=False)
def _nanmedian_whole(input: Array):
    """Lower median of all elements that aren't NaN."""
    return _median_all(input, "nanmedian", True)


@function(method=True)
def median(input: Any, dim: int | None = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """Median, the lower of two: of all elements, or along ``dim`` with its index; NaN if there is one. input (*).

    Raises IndexError for a dimension out of range or without elements.
    """
    return _median_whole(input, out=out) if dim is None else _median_dim(input, dim, keepdim, out=out)


@function(method=True)
def nanmedian(input: Any, dim: int | None = None, keepdim: bool = False, *, out: Any = None) -> Any:
    """Median, the lower of two, of the elements that aren't NaN: of all, or along ``dim`` with its index.

    input (*). Raises IndexError for a dimension out of range or without elements.
    """
    return _nanmedian_whole(input, out=out) if dim is None else _nanmedian_dim(input, dim, keepdim, out=out)


@op(result=TYPES["mode"]._make)
def mode(input: Array, dim=-1, keepdim=False):
    """Most frequent element along a dimension, the smallest among equals, and an index of it. input (*). Raises IndexError."""
    refuse("mode", input, "c")
    scalar = not input.ndim
    x, axis = _along(input, dim, "mode")
    order = _order(x, axis)
    ordered = jnp.take_along_axis(jax.lax.stop_gradient(x), order, axis=axis)
    number = jax.lax.broadcasted_iota(np.int64, x.shape, axis)
    changes = jnp.concatenate([jnp.ones(_one(x.shape, axis), bool), _steps(ordered, axis)], axis=axis)
    start = jax.lax.cummax(jnp.where(changes, number, 0), axis=axis)
    # The last of a run of equals is its length away from its start; the first longest run wins.
    best = jnp.argmax(number - start, axis=axis, keepdims=True)
    return _picked(x, jnp.take_along_axis(order, best, axis=axis), axis, keepdim, scalar)


def _one(shape: tuple[int, ...], axis: int) -> tuple[int, ...]:
    return (*shape[:axis], 1, *shape[axis + 1 :])


def _steps(x: Array, axis: int) -> Array:
    """Where an element differs from the one before it."""
    size = x.shape[axis]
    return jax.lax.slice_in_dim(x, 1, size, axis=axis) != jax.lax.slice_in_dim(x, 0, size - 1, axis=axis)
