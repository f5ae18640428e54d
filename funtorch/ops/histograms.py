"""Counts of values in bins. The edges of histograms are found from the values, so these need concrete Tensors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.handle import Handle
from ..errors import ArgumentTypeError, OpError
from ..tensor import Tensor
from .assignment import into
from .declare import Array, function, op
from .operands import is_floating, number, refuse
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
    if min == max:
        low, high = jnp.min(x), jnp.max(x)
    else:
        low, high = number(min, x.dtype), number(max, x.dtype)
    low, high = jnp.where(low == high, low - 1, low), jnp.where(low == high, high + 1, high)
    place = _bin(x, low, high, bins)
    return jnp.zeros(bins, x.dtype).at[place].add(((x >= low) & (x <= high)).astype(x.dtype), mode="drop")


def _bin(x: Array, low: Array, high: Array, bins: int) -> Array:
    """The number of the equal bin of each element; the last bin is closed on both sides."""
    place = jnp.floor((x - low) / (high - low) * bins) if is_floating(x) else (x - low) * bins // (high - low)
    return jnp.clip(place, 0, bins - 1).astype(np.int64)


def _values(x: Any, name: str) -> np.ndarray:
    if not isinstance(x, Handle):
        raise ArgumentTypeError(f"{name}(): argument 'input' must be Tensor, not {type(x).__name__}")
    return x._host(f"{name}()")


def _edges(x: np.ndarray, bins: int, limits: Sequence[float] | None, name: str) -> np.ndarray:
    """Edges of equal bins between given limits, or between the values' extremes."""
    if bins <= 0:
        raise OpError(f"{name}(): bins must be > 0, but got {bins}")
    if limits is None:
        low, high = (x.min(), x.max()) if x.size else (0.0, 0.0)
    else:
        low, high = limits
    if not (np.isfinite(low) and np.isfinite(high)):
        raise OpError(f"{name}(): range [{low}, {high}] is not finite")
    if low > high:
        raise OpError(f"{name}(): min should not exceed max, but got min={low}, max={high}")
    if low == high:
        low, high = low - 0.5, high + 0.5
    return np.linspace(low, high, bins + 1, dtype=x.dtype)


def _counted(points: np.ndarray, edges: list[np.ndarray], weight: np.ndarray | None, density: bool) -> np.ndarray:
    """The weighted counts of points (N, D) in the grid of bins, as density if asked."""
    shape = tuple(len(e) - 1 for e in edges)
    places, inside = [], np.ones(len(points), bool)
    for column, edge in zip(points.T, edges, strict=True):
        place = np.searchsorted(edge, column, side="right") - 1
        place = np.where(column == edge[-1], len(edge) - 2, place)
        inside &= (column >= edge[0]) & (column <= edge[-1])
        places.append(np.clip(place, 0, len(edge) - 2))
    counts = np.zeros(shape, points.dtype)
    weights = np.ones(len(points), points.dtype) if weight is None else weight.reshape(-1)
    np.add.at(counts, tuple(p[inside] for p in places), weights[inside])
    if density:
        volume = 1.0
        for axis, edge in enumerate(edges):
            volume = volume * np.diff(edge).reshape((-1,) + (1,) * (len(edges) - axis - 1))
        counts = counts / counts.sum() / volume
    return counts.astype(points.dtype)


@function(method=True)
def histogram(input: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False, out: Any = None) -> Any:
    """Weighted counts of elements in bins, and the bins' edges.

    input (*) of floats; bins: their number, or their edges (n + 1,); range: (low, high) for a number; weight: like input;
    density: divide by the total and the bins' widths. Gives (hist (n,), bin_edges (n + 1,)). Raises RuntimeError.
    """
    x = _values(input, "histogram")
    if isinstance(bins, Handle):
        edges = _values(bins, "histogram")
        if edges.ndim != 1 or edges.dtype != x.dtype:
            raise OpError("torch.histogram(): bins tensor should have one dimension and the dtype of input")
    else:
        edges = _edges(x, bins, range, "histogram")
    weights = None if weight is None else _values(weight, "histogram")
    if weights is not None and weights.shape != x.shape:
        raise OpError("torch.histogram(): if weight tensor is provided it should have the same shape as the input tensor")
    counts = _counted(x.reshape(-1, 1), [edges], weights, density)
    found = TYPES["histogram"](Tensor._of_numpy(counts), Tensor._of_numpy(edges))
    return found if out is None else into(out, found, "histogram")


@function(method=True)
def histogramdd(input: Any, bins: Any, *, range: Any = None, weight: Any = None, density: bool = False) -> Any:
    """Weighted counts of points in a grid of bins, and the edges of each dimension.

    input (..., D) of floats; bins: a number, one for each dimension, or a list of D edge Tensors; range: 2 D limits.
    Gives (hist of D dimensions, bin_edges: a tuple). Raises RuntimeError.
    """
    x = _values(input, "histogramdd")
    if x.ndim < 2:
        raise OpError("torch.histogramdd(): input tensor should have at least 2 dimensions")
    points, count = x.reshape(-1, x.shape[-1]), x.shape[-1]
    numbers = [bins] * count if isinstance(bins, int) else list(bins)
    if len(numbers) != count:
        raise OpError(f"torch.histogramdd(): expected {count} sequences of bins for the last dimension, got {len(numbers)}")
    edges = []
    for d, each in enumerate(numbers):
        limits = None if range is None else range[2 * d : 2 * d + 2]
        edges.append(
            _values(each, "histogramdd") if isinstance(each, Handle) else _edges(points[:, d], each, limits, "histogramdd")
        )
    counts = _counted(points, edges, None if weight is None else _values(weight, "histogramdd"), density)
    return TYPES["histogramdd"](Tensor._of_numpy(counts), tuple(Tensor._of_numpy(e) for e in edges))


@function(method=True)
def bincount(input: Any, weights: Any = None, minlength: int = 0) -> Any:
    """How often each number occurs: z_n = sum of the weights (1) of the elements equal to n. input (N,) of integers from 0.

    z (max(input) + 1, or minlength if that's more), int64, or of the weights' type. Raises RuntimeError for other input.
    """
    x = _values(input, "bincount")
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
