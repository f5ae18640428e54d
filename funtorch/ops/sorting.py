"""Order along a dimension: sort, argsort, topk, msort. NaN counts as the largest value; equal elements keep their order."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from ..core.call import call
from ..core.dims import wrap_dim
from ..core.handle import value_of
from ..errors import OpError
from ..tensor import Tensor
from .assignment import into
from .declare import function
from .kept import kept
from .return_types import sort as Sorted
from .return_types import topk as Topped


def _check_order(name: str, x: Any) -> None:
    if value_of(x).dtype.kind == "c":
        raise OpError(f"{name} does not support complex dtypes on CPU")


def _ordered(x: Any, dim: int, descending: bool) -> Any:
    return jnp.argsort(x, axis=dim, stable=True, descending=descending)


@kept("sort")
def _sort(dim: int, descending: bool) -> Any:
    def pure(x: Any) -> tuple:
        if x.ndim == 0:
            return x, jnp.zeros((), jnp.int64)
        places = _ordered(lax.stop_gradient(x), dim, descending)
        return jnp.take_along_axis(x, places, axis=dim), places.astype(jnp.int64)

    return pure


@function(method=True)
def sort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False, *, out: Any = None) -> Any:
    """The elements in order along ``dim``, and the places where they were.

    Args:
        input: (*), real.
        dim: the dimension.
        descending: whether the largest comes first.
        stable: accepted for compatibility; equal elements always keep their order.
        out: a pair of Tensors for the result.

    Returns:
        named tuple (values, indices), both like input, the indices int64.

    Raises:
        RuntimeError: for a complex input.

    >>> torch.tensor([3, 1, 2]).sort().indices
    tensor([1, 2, 0])
    """
    if isinstance(dim, bool):  # called as sort(descending)
        descending, dim = dim, -1
    _check_order("Sort", input)
    found = Sorted(*call(_sort(wrap_dim(dim, input.dim()), bool(descending)), (input,)))
    return found if out is None else into(out, found, "sort")


@function(method=True)
def argsort(input: Tensor, dim: int = -1, descending: bool = False, stable: bool = False) -> Tensor:
    """The places of the elements in order along ``dim``: int64, like input."""
    return sort(input, dim, descending, stable)[1]


@function(method=True)
def msort(input: Tensor, *, out: Any = None) -> Tensor:
    """The elements in order along the first dimension."""
    found = sort(input, 0)[0]
    return found if out is None else into(out, found, "msort")


@kept("topk")
def _topk(k: int, dim: int, largest: bool) -> Any:
    def pure(x: Any) -> tuple:
        if x.ndim == 0:
            return (x, jnp.zeros((), jnp.int64)) if k else (x.reshape(1)[:0], jnp.zeros(0, jnp.int64))
        places = jnp.moveaxis(lax.top_k(jnp.moveaxis(_key(lax.stop_gradient(x), largest), dim, -1), k)[1], -1, dim)
        return jnp.take_along_axis(x, places, axis=dim), places.astype(jnp.int64)

    return pure


def _key(x: Any, largest: bool) -> Any:
    """What to take the largest of: integers in the order of x's elements, so that NaN stands above infinity."""
    if x.dtype.kind == "b":
        x = x.astype(jnp.int8)
    if not jnp.issubdtype(x.dtype, jnp.floating):
        return x if largest else ~x
    whole = {2: jnp.int16, 4: jnp.int32, 8: jnp.int64}[x.dtype.itemsize]
    bits = lax.bitcast_convert_type(jnp.where(jnp.isnan(x), jnp.array(jnp.nan, x.dtype), x + 0), whole)
    bits = jnp.where(bits < 0, jnp.iinfo(whole).max ^ bits, bits)
    return bits if largest else ~bits


@function(method=True)
def topk(input: Tensor, k: int, dim: int = -1, largest: bool = True, sorted: bool = True, *, out: Any = None) -> Any:
    """The ``k`` largest (or smallest) elements along ``dim`` in order, and their places.

    Args:
        input: (*), real.
        k: how many.
        dim: the dimension.
        largest: whether to take the largest.
        sorted: accepted for compatibility; the result is always in order.
        out: a pair of Tensors for the result.

    Returns:
        named tuple (values, indices), of size k along ``dim``.

    Raises:
        RuntimeError: if there are fewer than ``k`` elements, or they are complex.

    >>> torch.tensor([3.0, 1.0, 2.0]).topk(2).values
    tensor([3., 2.])
    """
    _check_order("topk", input)
    at = wrap_dim(dim, input.dim())
    if not 0 <= k <= (input.shape[at] if input.dim() else 1):
        raise OpError("selected index k out of range")
    found = Topped(*call(_topk(int(k), at, bool(largest)), (input,)))
    return found if out is None else into(out, found, "topk")
