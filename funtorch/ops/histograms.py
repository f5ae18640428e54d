"""Counts of values in bins."""

from __future__ import annotations

import builtins
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.call import call
from ..core.handle import Handle
from ..errors import ArgumentTypeError, OpError, TracedValueError
from ..tensor import Tensor
from .declare import Array, Arrays, function, op
from .found_places import no_size
from .kept import kept
from .operands import is_floating, number, refuse, shown_as
from .return_types import TYPES


@op()
def histc(input: Array, bins=100, min=0, max=0):
    """How many elements fall in each of equal bins from min to max; others don't count.

    input (*) of floats; min = max = 0 means input's own extremes. z (bins,). Raises RuntimeError if min > max or bins < 1.
    """
    refuse("histc", input, "bc")
    if bins <= 0:
        raise OpError(f"torch.histc(): bins must be > 0, but got {bins}")
    if not (np.isfinite(min) and np.isfinite(max)):
        raise OpError(f"torch.histc(): range of [{min}, {max}] is not finite")
    if min > max:
        raise OpError(f"torch.histc(): max must be larger than min, but got min={min}, max={max}")
    if not input.size:
        return jnp.zeros(bins, input.dtype)
    x = input.reshape(-1)
    low: Any
    high: Any
    if min == max:
        low, high = jnp.min(x), jnp.max(x)
    else:
        low, high = number(min, x.dtype), number(max, x.dtype)
    low, high = jnp.where(low == high, low - 1, low), jnp.where(low == high, high + 1, high)
    place = _bin(x, low, high, bins)
    return jnp.zeros(bins, x.dtype).at[place].add(((x >= low) & (x <= high)).astype(x.dtype), mode="drop")


def _bin(x: Array, low: Array, high: Array, bins: int) -> Array:
    """The number of the equal bin of each element; the last bin is closed on both sides."""
    place = jnp.floor((x - low) * bins / (high - low)) if is_floating(x) else (x - low) * bins // (high - low)
    return jnp.clip(place, 0, bins - 1).astype(np.int64)


def _even_edges(x: Array, bins: int, limits: Any, name: str) -> Array:
    """Edges of equal bins between given limits, or between the values' extremes."""
    if bins <= 0:
        raise OpError(f"{name}(): bins must be > 0, but got {bins}")
    if limits is not None:
        low, high = limits
        if not (np.isfinite(low) and np.isfinite(high)):
            raise OpError(f"{name}(): range [{low}, {high}] is not finite")
        if low > high:
            raise OpError(f"{name}(): min should not exceed max, but got min={low}, max={high}")
        low, high = number(low, x.dtype), number(high, x.dtype)
    elif x.size:
        low, high = jnp.min(x), jnp.max(x)
    else:
        low = high = number(0.0, x.dtype)
    half = number(0.5, x.dtype)
    low, high = jnp.where(low == high, low - half, low), jnp.where(low == high, high + half, high)
    return jnp.linspace(low, high, bins + 1, dtype=x.dtype)


def _counted(points: Array, edges: Sequence[Array], weight: Array | None, density: bool) -> Array:
    """The weighted counts of points (N, D) in the grid of bins, as density if asked."""
    places, inside = [], jnp.ones(points.shape[0], bool)
    for d, edge in enumerate(edges):
        column = points[:, d]
        place = jnp.searchsorted(edge, column, side="right") - 1
        place = jnp.where(column == edge[-1], edge.size - 2, place)  # the last bin is closed
        inside = inside & (column >= edge[0]) & (column <= edge[-1])
        places.append(jnp.clip(place, 0, edge.size - 2))
    weights = jnp.ones(points.shape[0], points.dtype) if weight is None else weight.reshape(-1)
    counts = jnp.zeros([e.size - 1 for e in edges], points.dtype).at[tuple(places)].add(jnp.where(inside, weights, 0))
    if density:
        counts = counts / counts.sum()
        for d, edge in enumerate(edges):
            counts = counts / (edge[1:] - edge[:-1]).reshape((-1,) + (1,) * (len(edges) - d - 1))
    return counts


def _floats(x: Array, weight: Array | None, name: str) -> None:
    refuse(name, x, "bic")
    if weight is not None and (weight.shape != x.shape or weight.dtype != x.dtype):
        raise OpError(f"torch.{name}(): if weight tensor is provided it should have the same shape and dtype as the input tensor")


@shown_as("histogram")
@op(name="_histogram_evenly", method=False, result=TYPES["histogram"]._make)
def _histogram_evenly(input: Array, weight: Array | None = None, bins=100, range=None, density=False):
    """Counts in equal bins, and their edges."""
    _floats(input, weight, "histogram")
    edges = _even_edges(input, bins, range, "histogram")
    return _counted(input.reshape(-1, 1), [edges], weight, density), edges


@shown_as("histogram")
@op(name="_histogram_at", method=False, result=TYPES["histogram"]._make)
def _histogram_at(input: Array, bins: Array, weight: Array | None = None, density=False):
    """Counts in bins with given edges, and the edges."""
    _floats(input, weight, "histogram")
    if bins.ndim != 1 or bins.dtype != input.dtype:
        raise OpError("torch.histogram(): bins tensor should have one dimension and the dtype of input")
    return _counted(input.reshape(-1, 1), [bins], weight, density), bins


@function(method=True)
def histogram(input: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False, out: Any = None) -> Any:
    """Weighted counts of elements in bins, and the bins' edges.

    input (*) of floats; bins: their number, or their edges (n + 1,); range: (low, high) for a number; weight: like input;
    density: divide by the total and the bins' widths. Gives (hist (n,), bin_edges (n + 1,)). Raises RuntimeError.
    """
    if isinstance(bins, Handle):
        return _histogram_at(input, bins, weight, density, out=out)
    return _histogram_evenly(input, weight, bins, range, density, out=out)


@shown_as("histogramdd")
@op(name="_histogramdd", method=False, out=False)
def _histogramdd(input: Array, edges: Arrays, weight: Array | None = None, bins=(), range=None, density=False):
    """Counts in a grid, and the edges of each dimension: given ones, or those of equal bins."""
    refuse("histogramdd", input, "bic")
    points = input.reshape(-1, input.shape[-1])
    if not edges:
        limits = [None if range is None else range[2 * d : 2 * d + 2] for d in builtins.range(len(bins))]
        edges = [_even_edges(points[:, d], n, limits[d], "histogramdd") for d, n in enumerate(bins)]
    return _counted(points, edges, weight, density), *edges


@function(method=True)
def histogramdd(input: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    """Weighted counts of points in a grid of bins, and the edges of each dimension.

    input (..., D) of floats; bins: a number, one for each dimension, or a list of D edge Tensors; range: 2 D limits.
    Gives (hist of D dimensions, bin_edges: a tuple). Raises RuntimeError.
    """
    if input.dim() < 2:
        raise OpError("torch.histogramdd(): input tensor should have at least 2 dimensions")
    count = input.shape[-1]
    listed = [bins] * count if isinstance(bins, int) else list(bins)
    if len(listed) != count:
        raise OpError(f"torch.histogramdd(): expected {count} sequences of bins for the last dimension, got {len(listed)}")
    edges = listed if isinstance(listed[0], Handle) else []
    hist, *found = _histogramdd(input, edges, weight, () if edges else listed, range, density)
    return TYPES["histogramdd"](hist, tuple(found))


def _values(x: Any, name: str) -> np.ndarray:
    if not isinstance(x, Handle):
        raise ArgumentTypeError(f"{name}(): argument 'input' must be Tensor, not {type(x).__name__}")
    return x._host(f"{name}()")


@kept("bincount")
def _sized_counts(size: int) -> Any:
    def pure(x: Any, *weights: Any) -> Any:
        kind = np.int64 if not weights else (weights[0].dtype if weights[0].dtype == np.float32 else np.float64)
        at = jnp.where(x < 0, size, x)  # beyond the end, and so left out
        return jnp.zeros(size, kind).at[at].add(weights[0].astype(kind) if weights else 1, mode="drop")

    return pure


@function(method=True)
def bincount(input: Any, weights: Any = None, minlength: int = 0, *, size: int | None = None) -> Any:
    """How often each number occurs: z_n = sum of the weights (1) of the elements equal to n. input (N,) of integers from 0.

    z (max(input) + 1, or minlength if that's more), int64, or of the weights' type. Raises RuntimeError for other input.
    Differs from PyTorch: ``size``, for compiled code and vmap, gives z that length; numbers outside of it aren't counted.
    """
    if size is not None:
        return call(_sized_counts(size), (input,) if weights is None else (input, weights))
    try:
        x = _values(input, "bincount")
    except TracedValueError:
        raise no_size("bincount") from None
    if x.ndim != 1 or x.dtype.kind not in "iu" or (x < 0).any():
        raise OpError("bincount only supports 1-d non-negative integral inputs.")
    if minlength < 0:
        raise OpError("minlength should be >= 0")
    if weights is None:
        return Tensor._of_numpy(np.bincount(x, minlength=minlength).astype(np.int64))
    heavy = _values(weights, "bincount")
    if heavy.shape != x.shape:
        raise OpError("weights should be 1-d and have the same length as input")
    total = np.bincount(x, heavy.astype(np.float64), minlength)
    return Tensor._of_numpy(total.astype(heavy.dtype if heavy.dtype == np.float32 else np.float64))
