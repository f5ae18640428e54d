"""Sparse Tensors one after another, and slices of one by index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.call import call
from ..core.dims import wrap_dim
from ..core.foreign import is_foreign
from ..core.views import concrete
from ..errors import MissingError, OpError, TracedValueError
from ..ops.joining import cat as dense_cat
from . import kernels
from .conversion import NO_PLACES, _as_coo, coalesced, held, indices_of, known_places
from .structure import Coo
from .tensor import SparseTensor


def cat(tensors: Sequence[Any], dim: int) -> Any:
    """Sparse Tensors one after another along a sparse dimension."""
    if not all(map(is_foreign, tensors)):
        raise OpError("cat: Concatenating sparse tensors, but a dense tensor was found among them")
    parts = [_as_coo(held(t)) for t in tensors]
    if dim >= parts[0].sparse_dim:
        raise MissingError("cat: sparse Tensors along a dense dimension are not there")
    start, indices = 0, []
    for part in parts:
        shift = np.zeros((part.sparse_dim, 1), np.int64)
        shift[dim] = start
        indices.append(part.indices + indices_of(shift))
        start += part.shape[dim]
    shape = list(parts[0].shape)
    shape[dim] = start
    return SparseTensor.of(Coo(dense_cat(indices, 1), dense_cat([p.values for p in parts]), tuple(shape), False))


def stack(tensors: Sequence[Any], dim: int) -> Any:
    """Sparse Tensors of one size along a new sparse dimension."""
    return cat([t.unsqueeze(dim) for t in tensors], dim)


def index_select(input: Any, dim: int, index: Any) -> Any:
    """The slices along ``dim`` that ``index`` names."""
    found, chosen = coalesced(_as_coo(held(input))), concrete(index)
    dim = wrap_dim(dim, input.dim())
    if chosen is None:
        raise TracedValueError(NO_PLACES.format("index_select"))
    if dim >= found.sparse_dim:
        values = found.values.index_select(dim - found.sparse_dim + 1, index)
        shape = (*found.shape[:dim], chosen.size, *found.shape[dim + 1 :])
        return SparseTensor.of(Coo(found.indices, values, shape, True))
    places = known_places(found, "index_select")
    hit = places[dim][:, None] == chosen.reshape(-1)[None, :]
    which, new = np.nonzero(hit)
    places = places[:, which]
    places[dim] = new
    shape = (*found.shape[:dim], chosen.size, *found.shape[dim + 1 :])
    order = np.lexsort(places[::-1])
    values = call(kernels.taken(), (found.values, which[order]))
    return SparseTensor.of(Coo(indices_of(places[:, order]), values, shape, True))
