"""The pure functions on places and values from which everything sparse is made. ``places`` (D, nnz), ``values`` (nnz, *)."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..ops.kept import kept
from .structure import Shape

Array = Any


def _wide(x: Array) -> Array:
    """Halves are added up in float32."""
    return x.astype(np.float32) if x.dtype.itemsize <= 2 and jnp.issubdtype(x.dtype, jnp.floating) else x


def _at(places: Array) -> tuple:
    return tuple(places[i] for i in range(places.shape[0]))


@kept("to_dense")
def dense(shape: Shape) -> Any:
    """(places, values) -> the whole array; values at one place are added up."""

    def fill(places: Array, values: Array) -> Array:
        if not places.shape[0]:
            return values.sum(0).astype(values.dtype)
        base = jnp.zeros(shape, _wide(values).dtype)
        spot = base.at[_at(places)]
        return spot.max(values) if values.dtype == bool else spot.add(_wide(values)).astype(values.dtype)

    return fill


@kept("sparse_mask")
def gathered() -> Any:
    """(whole array, places) -> its elements at the places."""
    return lambda x, places: x[_at(places)]


@kept("add")
def added() -> Any:
    """(whole array, places, values) -> the array with the values added at their places."""
    return lambda x, places, values: x.at[_at(places)].add(values.astype(x.dtype))


@kept("coalesce")
def merged(count: int) -> Any:
    """(values, number of the group of each) -> the sum of each of ``count`` groups."""

    def merge(values: Array, group: Array) -> Array:
        if values.dtype == bool:
            return jnp.zeros((count, *values.shape[1:]), bool).at[group].max(values)
        base = jnp.zeros((count, *values.shape[1:]), _wide(values).dtype)
        return base.at[group].add(_wide(values)).astype(values.dtype)

    return merge


@kept("index_select")
def taken() -> Any:
    """(values, which) -> those of the values."""
    return lambda values, which: values[which]


@kept("mm")
def product(rows: int, row: int = 0) -> Any:
    """(places, values, matrix (K, M)) -> the sparse matrix (rows, K) times it; ``row`` 1: its transpose (rows, K)."""

    def multiply(places: Array, values: Array, matrix: Array) -> Array:
        parts = _wide(values)[:, None] * _wide(matrix)[places[1 - row]]
        return jnp.zeros((rows, matrix.shape[1]), parts.dtype).at[places[row]].add(parts).astype(matrix.dtype)

    return multiply


@kept("bmm")
def batch_product(rows: int) -> Any:
    """(places, values, matrices (B, K, M)) -> the sparse matrices (B, rows, K) times them."""

    def multiply(places: Array, values: Array, matrices: Array) -> Array:
        batch, row, column = places
        parts = _wide(values)[:, None] * _wide(matrices)[batch, column]
        base = jnp.zeros((matrices.shape[0], rows, matrices.shape[2]), parts.dtype)
        return base.at[batch, row].add(parts).astype(matrices.dtype)

    return multiply


@kept("mm")
def pair_product(count: int) -> Any:
    """(values of both, numbers of those that meet, group of each pair) -> the values of the product of two sparse matrices."""

    def multiply(a: Array, b: Array, first: Array, second: Array, group: Array) -> Array:
        parts = _wide(a)[first] * _wide(b)[second]
        return jnp.zeros(count, parts.dtype).at[group].add(parts).astype(a.dtype)

    return multiply


@kept("sampled_addmm")
def sampled(alpha: Any, beta: Any) -> Any:
    """(places, values, A (N, K), B (K, M)) -> beta values + alpha (AB) at the places."""

    def multiply(places: Array, values: Array, a: Array, b: Array) -> Array:
        # Not einsum: its derivative in complex numbers is the same, and this fuses.
        parts = (_wide(a)[places[0]] * _wide(b).T[places[1]]).sum(-1)
        kept_values = jnp.zeros_like(parts) if beta == 0 else jnp.asarray(beta, parts.dtype) * _wide(values)
        return (kept_values + jnp.asarray(alpha, parts.dtype) * parts).astype(values.dtype)

    return multiply


@kept("sparse_softmax")
def softmax(count: int, logarithm: bool) -> Any:
    """(values, group of each) -> softmax (or its logarithm) within each of ``count`` groups."""

    def normalise(values: Array, group: Array) -> Array:
        x = _wide(values)
        top = jnp.full((count, *x.shape[1:]), -np.inf, x.dtype).at[group].max(jax.lax.stop_gradient(x))
        shifted = x - jnp.where(jnp.isfinite(top), top, 0)[group]
        total = jnp.zeros((count, *x.shape[1:]), x.dtype).at[group].add(jnp.exp(shifted))[group]
        return (shifted - jnp.log(total) if logarithm else jnp.exp(shifted) / total).astype(values.dtype)

    return normalise


@kept("unsqueeze")
def with_zeros(dim: int) -> Any:
    """places -> the same with one more dimension, in which they are all 0."""
    return lambda places: jnp.insert(places, dim, 0, axis=0)
