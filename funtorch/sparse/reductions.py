"""Sums and softmax over the places that a sparse Tensor has."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.call import call
from ..core.dims import wrap_dim, wrap_dims
from ..core.foreign import is_foreign
from ..dtypes import as_dtype
from ..errors import MissingError
from ..ops.assignment import cast
from . import kernels
from .conversion import _as_coo, coalesced, compressed, flat, held, known_places
from .structure import Coo
from .tensor import SparseTensor


def sum(input: Any, dim: Any = None, dtype: Any = None) -> Any:  # noqa: A001
    """Sum of a sparse Tensor's elements, along dimensions.

    Args:
        input: (*), sparse.
        dim: one or several dimensions; None for all.
        dtype: the type to convert to first.

    Returns:
        A sparse Tensor without ``dim``; a dense one if no sparse dimension is left.

    Raises:
        IndexError: a dimension is out of range.

    >>> import funtorch as torch
    >>> torch.sparse.sum(torch.eye(3).to_sparse())
    tensor(3.)
    """
    if not is_foreign(input):
        return input.sum(dim, dtype=dtype)
    found = held(input)
    values = found.values if dtype is None else cast(found.values, as_dtype(dtype))
    if dim is None or dim == ():
        return values.sum()
    kind, found = found.layout, _as_coo(found.with_values(values))
    dims = wrap_dims(dim, len(found.shape)) or ()
    split = found.sparse_dim
    inside = [d - split + 1 for d in dims if d >= split]
    kept = [d for d in range(split) if d not in dims]
    values = found.values
    if not kept:
        return values.sum([0, *inside])
    values = values.sum(inside) if inside else values
    shape = tuple(n for d, n in enumerate(found.shape) if d not in dims)
    places = found.indices if len(kept) == split else call(kernels.taken(), (found.indices, np.array(kept)))
    made = SparseTensor.of(coalesced(Coo(places, values, shape, found.coalesced and len(kept) == split)))
    return made if kind.name == "sparse_coo" or len(shape) != 2 else compressed(made, kind)


def _normalised(input: Any, dim: int, dtype: Any, logarithm: bool, name: str) -> Any:
    if not is_foreign(input):
        raise MissingError(f"{name}: expected a sparse Tensor, got layout {input.layout!r}")
    found = coalesced(_as_coo(held(input)))
    dim = wrap_dim(dim, len(found.shape))
    values = found.values if dtype is None else cast(found.values, as_dtype(dtype))
    split = found.sparse_dim
    if dim >= split:
        along = dim - split + 1
        return SparseTensor.of(found.with_values(values.log_softmax(along) if logarithm else values.softmax(along)))
    places = known_places(found, name)
    others = [d for d in range(split) if d != dim]
    numbers = flat(places[others], tuple(found.shape[d] for d in others))
    unique, group = np.unique(numbers, return_inverse=True)
    op = kernels.softmax(len(unique), logarithm)
    return SparseTensor.of(found.with_values(call(op, (values, group.reshape(-1)))))


def softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """Softmax along ``dim`` over the elements that have a place; the others count as minus infinity.

    Args:
        input: (*), sparse.
        dim: the dimension; dtype: the type to convert to first.

    Returns:
        A sparse Tensor of the same size.

    Raises:
        RuntimeError: a dense Tensor; IndexError: a dimension out of range.
    """
    return _normalised(input, dim, dtype, False, "sparse.softmax")


def log_softmax(input: Any, dim: int, *, dtype: Any = None) -> Any:
    """The logarithm of `softmax`. input (*), sparse; dim, dtype: as there."""
    return _normalised(input, dim, dtype, True, "sparse.log_softmax")
