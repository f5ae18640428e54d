"""Distinct elements: unique, unique_consecutive. Their number depends on the values, so they run on the host."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.call import call
from ..core.dims import wrap_dim
from ..core.meta import is_meta
from ..core.views import concrete
from ..tensor import Tensor
from .declare import function
from .found_places import no_size
from .kept import kept


def _values(input: Any, name: str) -> np.ndarray:
    if concrete(input) is None and not is_meta(input):
        raise no_size(name)
    return input._host(f"{name}()")


def _results(values: np.ndarray, inverse: np.ndarray | None, counts: np.ndarray | None) -> Any:
    found = [values, *(r.astype(np.int64) for r in (inverse, counts) if r is not None)]
    tensors = tuple(Tensor._of_numpy(np.ascontiguousarray(r)) for r in found)
    return tensors[0] if len(tensors) == 1 else tensors


def _starts(slices: np.ndarray) -> np.ndarray:
    """Whether each row differs from the one before it."""
    new = np.ones(len(slices), bool)
    if len(slices) > 1:
        new[1:] = (slices[1:] != slices[:-1]).any(tuple(range(1, slices.ndim)))
    return new


def _runs(slices: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """The first row of each run of equal rows, the run of each row, and the runs' lengths."""
    new = _starts(slices)
    inverse = np.cumsum(new) - 1
    return slices[new], inverse, np.bincount(inverse, minlength=int(new.sum())) if len(slices) else np.zeros(0, np.int64)


def _order(rows: np.ndarray) -> np.ndarray:
    """The order of rows by their elements, the first counting most."""
    flat = rows.reshape(len(rows), math.prod(rows.shape[1:]))
    return np.lexsort(flat.T[::-1]) if flat.shape[1] else np.arange(len(rows))


def _axis(input: Any, dim: int | None) -> int | None:
    return None if dim is None else wrap_dim(dim, input.dim())


def _asked(found: tuple, return_inverse: bool, return_counts: bool) -> Any:
    """Of the elements, the inverse and the counts those that were asked for."""
    kept_ones = (found[0], *found[1:2] * return_inverse, *found[2:] * return_counts)
    return kept_ones[0] if len(kept_ones) == 1 else kept_ones


@kept("unique")
def _sized(size: int, fill_value: Any, axis: int | None) -> Any:
    def pure(x: Any) -> tuple:
        found, inverse, counts = jnp.unique(
            x, return_inverse=True, return_counts=True, axis=axis, equal_nan=False, size=size, fill_value=fill_value
        )
        return found, inverse.reshape(x.shape if axis is None else -1).astype(np.int64), counts.astype(np.int64)

    return pure


@kept("unique_consecutive")
def _sized_runs(size: int, fill_value: Any, axis: int | None) -> Any:
    def pure(x: Any) -> tuple:
        rows = x.reshape(-1) if axis is None else jnp.moveaxis(x, axis, 0)
        new = (rows[1:] != rows[:-1]).any(tuple(range(1, rows.ndim)))
        run = jnp.concatenate([jnp.zeros(min(len(rows), 1), np.int64), jnp.cumsum(new)])
        counts = jnp.zeros(size, np.int64).at[run].add(1, mode="drop")
        empty = jnp.full((size, *rows.shape[1:]), 0 if fill_value is None else fill_value, x.dtype)
        found = empty.at[run].set(rows, mode="drop")
        return (found, run.reshape(x.shape), counts) if axis is None else (jnp.moveaxis(found, 0, axis), run, counts)

    return pure


@function(method=True)
def unique(
    input: Tensor,
    sorted: bool = True,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """The distinct elements, or the distinct slices along ``dim``, in order.

    Args:
        input: (*).
        sorted: accepted for compatibility; the result is always in order.
        return_inverse: whether to give the place of each element in the result.
        return_counts: whether to give how often each occurs.
        dim: the dimension whose slices are compared; None compares elements.
        size: the number of results, for compiled code and vmap: what is over is left out, what is missing is filled up.
        fill_value: what fills them up; the smallest element unless given.

    Differs from PyTorch: ``size`` and ``fill_value`` are funtorch's own.

    Returns:
        the distinct elements (n), and what else was asked for (int64), as a tuple. Each NaN is distinct.

    Raises:
        RuntimeError: if the values are batched or traced.

    >>> torch.tensor([3, 1, 3]).unique()
    tensor([1, 3])
    """
    if size is not None:
        return _asked(call(_sized(size, fill_value, _axis(input, dim)), (input,)), return_inverse, return_counts)
    values = _values(input, "unique")
    rows = values.reshape(-1) if dim is None else np.moveaxis(values, wrap_dim(dim, values.ndim), 0)
    order = np.argsort(rows, kind="stable") if dim is None else _order(rows)
    found, runs, counts = _runs(rows[order])
    inverse: np.ndarray = np.empty(len(rows), np.int64)
    inverse[order] = runs
    if dim is None:
        inverse = inverse.reshape(values.shape)
    else:
        found = np.moveaxis(found, 0, wrap_dim(dim, values.ndim))
    return _results(found, inverse if return_inverse else None, counts if return_counts else None)


@function(method=True)
def unique_consecutive(
    input: Tensor,
    return_inverse: bool = False,
    return_counts: bool = False,
    dim: int | None = None,
    *,
    size: int | None = None,
    fill_value: Any = None,
) -> Any:
    """The first element of each run of equal elements, or of equal slices along ``dim``; arguments as for `unique`.

    ``fill_value`` is 0 unless given.

    >>> torch.tensor([1, 1, 2, 1]).unique_consecutive()
    tensor([1, 2, 1])
    """
    if size is not None:
        return _asked(call(_sized_runs(size, fill_value, _axis(input, dim)), (input,)), return_inverse, return_counts)
    values = _values(input, "unique_consecutive")
    rows = values.reshape(-1) if dim is None else np.moveaxis(values, wrap_dim(dim, values.ndim), 0)
    found, inverse, counts = _runs(rows)
    if dim is None:
        inverse = inverse.reshape(values.shape)
    else:
        found = np.moveaxis(found, 0, wrap_dim(dim, values.ndim))
    return _results(found, inverse if return_inverse else None, counts if return_counts else None)
