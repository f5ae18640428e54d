"""Reductions: sums, products and tests along dimensions. ``dim`` is one or several; none means all."""

from __future__ import annotations

import builtins
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.dims import wrap_dims
from ..core.selected import chosen
from ..dtypes import default, dtype
from ..errors import ArgumentTypeError, OpError
from . import registry
from .declare import Array, op
from .operands import in_float32, is_inexact, refuse, rounded_to, truth


def accumulated(x: Array, kind: dtype | None, rounds: bool = True) -> tuple[Array, Any]:
    """The array in the type in which it's summed, and the result's type: int64 for integers, float32 inside for halves.

    ``rounds``: whether the elements are rounded to a half type that is asked for.
    """
    result = kind.numpy if kind is not None else (x.dtype if is_inexact(x) else np.dtype(np.int64))
    wide = np.dtype(np.float32) if result.itemsize <= 2 and jnp.issubdtype(result, jnp.floating) else result
    if jnp.iscomplexobj(x) and not np.issubdtype(wide, np.complexfloating):
        x = x.real
    if kind is not None and wide != result and x.dtype != result and rounds:
        x = rounded_to(result, x.astype(wide))
    return (x != 0 if result.kind == "b" else x.astype(wide)), result


@op()
def sum(input: Array, dim=None, keepdim=False, *, dtype=None):
    """Sum along dimensions.

    Args:
        input: (*). Halves are added up in float32; integers and bools in int64.
        dim: one or several dimensions; None or () for all.
        keepdim: keep them, with size 1.
        dtype: the type to convert to first.

    Returns:
        input's shape without ``dim``.

    Raises:
        IndexError: a dimension is out of range.
        RuntimeError: a dimension appears twice.
    """
    x, result = accumulated(input, dtype)
    return jnp.sum(x, axis=wrap_dims(dim, x.ndim), keepdims=keepdim).astype(result)


@op()
def nansum(input: Array, dim=None, keepdim=False, *, dtype=None):
    """Sum along dimensions with NaN as 0. input (*), dim, keepdim, dtype: as in `sum`."""
    refuse("nansum", input, "c")
    x, result = accumulated(input, dtype)
    return jnp.sum(chosen(jnp.isnan(x), jnp.zeros((), x.dtype), x), axis=wrap_dims(dim, x.ndim), keepdims=keepdim).astype(result)


@op()
def prod(input: Array, dim=None, keepdim=False, *, dtype=None):
    """Product of all elements, or along one dimension. input (*); integers give int64. Raises IndexError."""
    if isinstance(dim, tuple):
        raise ArgumentTypeError(f"prod(): argument 'dim' must be int, not {dim}")
    x, result = accumulated(input, dtype)
    dims = None if dim is None else wrap_dims(dim, x.ndim)
    return jnp.prod(x, axis=dims, keepdims=keepdim and dim is not None).astype(result)


def _truth(x: Array, dim: Any, keepdim: bool, reduce: Any) -> Array:
    found = reduce(truth(x), axis=wrap_dims(dim, x.ndim), keepdims=keepdim)
    return found.astype(np.uint8) if x.dtype == np.uint8 else found


@op()
def all(input: Array, dim=None, keepdim=False):
    """Whether all elements along dimensions are other than 0. input (*), dim: as in `sum`; z of bools (uint8 for uint8)."""
    return _truth(input, dim, keepdim, jnp.all)


@op()
def any(input: Array, dim=None, keepdim=False):
    """Whether any element along dimensions is other than 0. input (*), dim: as in `sum`; z of bools (uint8 for uint8)."""
    return _truth(input, dim, keepdim, jnp.any)


@op(out=False)
def count_nonzero(input: Array, dim=None):
    """How many elements along dimensions are other than 0. input (*), dim: as in `sum`; z of int64."""
    return jnp.sum(truth(input), axis=wrap_dims(dim, input.ndim), dtype=np.int64)


@op(alias=("special.logsumexp",))
def logsumexp(input: Array, dim, keepdim=False):
    """Logarithm of the sum of exponentials along dimensions, without overflow. input (*), dim: as in `sum`."""
    x = input if is_inexact(input) else input.astype(default().numpy)
    return in_float32(_log_sum)(x, dims=wrap_dims(dim, x.ndim), keepdim=keepdim)


def _log_sum(x: Array, dims: tuple[int, ...], keepdim: bool) -> Array:
    if x.size == 0:
        return jnp.log(jnp.sum(jnp.exp(x), axis=dims, keepdims=keepdim))
    level = jax.lax.stop_gradient(jnp.max(x.real, axis=dims, keepdims=True))
    level = jnp.where(jnp.isfinite(level), level, 0)
    total = jnp.sum(jnp.exp(x - level), axis=dims, keepdims=keepdim)
    if not jnp.iscomplexobj(x):
        # A row of nothing but -inf carries no information: its gradient is 0, where log's own rule gives NaN.
        nothing = total == 0
        total = jnp.where(nothing, -jnp.inf, jnp.log(jnp.where(nothing, 1, total)))
    else:
        total = jnp.log(total)
    return total + (level if keepdim else jnp.squeeze(level, axis=dims))


def _sum_to_size(self: Any, *size: Any) -> Any:
    """Sum down to a size to which self can be broadcast back. size: ints or one sequence. Raises RuntimeError otherwise."""
    want = tuple(size[0]) if len(size) == 1 and not isinstance(size[0], int) else size
    have = tuple(self.shape)
    padded = (1,) * (len(have) - len(want)) + tuple(want)
    if len(want) > len(have) or not builtins.all(w in (1, h) for w, h in zip(padded, have, strict=True)):
        raise OpError(f"size {{{list(want)}}} is not expandable to size {{{list(have)}}}.")
    dims = [d for d, (w, h) in enumerate(zip(padded, have, strict=True)) if w == 1 and h != 1]
    if not want:
        return sum(self)
    return (sum(self, dims, keepdim=True) if dims else self).reshape(want)


registry.add_method("sum_to_size", _sum_to_size)
