"""Parts of sparse Tensors: x[index], and dimensions of size 1 that come and go."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.call import call
from ..core.dims import wrap_dim
from ..core.handle import Handle
from ..errors import MissingError, OutOfBoundsError
from . import kernels
from .conversion import _as_coo, coalesced, held, indices_of, known_places
from .joining import index_select
from .structure import Coo
from .tensor import SparseTensor

NO_INDEX = "x[index] of a sparse Tensor: numbers, slices and one-dimensional lists and Tensors are there, not {}"


def _spread(index: Any, ndim: int) -> list[Any]:
    """One entry for each dimension."""
    parts = list(index) if isinstance(index, tuple) else [index]
    for part in parts:
        if part is None or isinstance(part, bool):
            raise MissingError(NO_INDEX.format(part))
    at = next((i for i, part in enumerate(parts) if part is Ellipsis), None)
    if at is not None:
        parts[at : at + 1] = [slice(None)] * (ndim - len(parts) + 1)
    if len(parts) > ndim:
        raise OutOfBoundsError(f"too many indices for tensor of dimension {ndim}")
    return parts + [slice(None)] * (ndim - len(parts))


def getitem(self: Any, index: Any) -> Any:
    """The part that ``index`` names: sparse, or dense where numbers stand for all sparse dimensions."""
    x = self
    for dim, part in reversed(list(enumerate(_spread(index, self.dim())))):
        size = self.shape[dim]
        if isinstance(part, slice):
            if part != slice(None):
                x = index_select(x, dim, indices_of(np.arange(size)[part]))
        elif isinstance(part, (int, np.integer)) or (isinstance(part, Handle) and part.dim() == 0 and part.dtype.name != "bool"):
            x = select(x, dim, int(part))
        elif isinstance(part, (list, np.ndarray, Handle)):
            chosen = part if isinstance(part, Handle) else indices_of(np.asarray(part))
            if chosen.dim() != 1 or chosen.dtype.name not in ("int64", "int32"):
                raise MissingError(NO_INDEX.format(f"a Tensor of {chosen.dtype} with {chosen.dim()} dimensions"))
            x = index_select(x, dim, chosen)
        else:
            raise MissingError(NO_INDEX.format(type(part).__name__))
    return x


def select(self: Any, dim: int, index: int) -> Any:
    """The slice ``index`` along ``dim``. Raises IndexError for one out of range."""
    if not self._foreign:
        return self[(slice(None),) * wrap_dim(dim, self.dim()) + (index,)]
    found = coalesced(_as_coo(held(self)))
    dim, size = wrap_dim(dim, self.dim()), self.shape[dim]
    if not -size <= index < size:
        raise OutOfBoundsError(f"select(): index {index} out of range for tensor of size {list(self.shape)} at dimension {dim}")
    shape = (*found.shape[:dim], *found.shape[dim + 1 :])
    if dim >= found.sparse_dim:
        values = found.values.select(dim - found.sparse_dim + 1, index)
        return SparseTensor.of(Coo(found.indices, values, shape, True))
    places = known_places(found, "select")
    which = np.flatnonzero(places[dim] == index % size)
    values = call(kernels.taken(), (found.values, which))
    if found.sparse_dim == 1:
        return values.sum(0)
    return SparseTensor.of(Coo(indices_of(np.delete(places[:, which], dim, 0)), values, shape, True))


def unsqueeze(self: Any, dim: int) -> Any:
    """With a new dimension of size 1 at ``dim``: a sparse one, unless it stands behind dense ones."""
    found = _as_coo(held(self))
    shape = (*found.shape[:dim], 1, *found.shape[dim:])
    if dim > found.sparse_dim:
        return SparseTensor.of(Coo(found.indices, found.values.unsqueeze(dim - found.sparse_dim + 1), shape, found.coalesced))
    places = call(kernels.with_zeros(dim), (found.indices,))
    return SparseTensor.of(Coo(places, found.values, shape, found.coalesced))


def squeeze(self: Any, stay: tuple[int, ...]) -> Any:
    """Without dimensions of size 1: those of ``stay`` are left. Raises RuntimeError where no sparse one would be."""
    found = _as_coo(held(self))
    split = found.sparse_dim
    kept = [d for d in stay if d < split]
    if not kept:
        raise MissingError("squeeze: a sparse Tensor without sparse dimensions is not there")
    values = found.values.reshape(found.nnz, *[found.shape[d] for d in stay if d >= split])
    places = call(kernels.taken(), (found.indices, np.array(kept)))
    return SparseTensor.of(Coo(places, values, tuple(found.shape[d] for d in stay), found.coalesced))
