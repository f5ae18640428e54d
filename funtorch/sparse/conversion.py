"""From dense to sparse and back, from one layout to another, and the parts that a sparse Tensor shows."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ..core.call import call
from ..core.engine import CONCRETE
from ..core.foreign import is_foreign
from ..core.handle import value_of
from ..core.levels import Dual
from ..core.meta import NO_DATA, is_meta
from ..core.views import alias, concrete
from ..dtypes import dtype
from ..errors import MissingError, OpError, TracedValueError
from ..layouts import layout, sparse_coo, sparse_csc, sparse_csr
from ..ops.assignment import cast
from ..tensor import Tensor
from . import kernels
from .structure import Compressed, Coo
from .tensor import UNCOALESCED, SparseTensor

NO_PLACES = (
    "{}: which elements are not zero is a matter of values, and these are traced or batched here. Do it outside the compiled or "
    "mapped function, or make the Tensor with sparse_coo_tensor."
)
ROWS = {sparse_csr: 0, sparse_csc: 1}  # which of a matrix's indices is compressed


def held(tensor: Any) -> Any:
    """The structure of a sparse Tensor."""
    return tensor._payload


def indices_of(values: np.ndarray) -> Tensor:
    """A Tensor of indices."""
    return Tensor._of_numpy(np.ascontiguousarray(values, np.int64))


def known_places(structure: Any, name: str) -> np.ndarray:
    """The places as a NumPy array. Raises RuntimeError where they are traced or batched."""
    found = concrete(structure.places)
    if found is None:
        raise MissingError(f"{name}: {NO_DATA}") if is_meta(structure.places) else TracedValueError(NO_PLACES.format(name))
    return found


def flat(places: np.ndarray, shape: tuple) -> np.ndarray:
    """The number of each place, counted row by row."""
    number = np.zeros(places.shape[1], np.int64)
    for index, size in zip(places, shape, strict=False):
        number = number * size + index
    return number


def unflat(numbers: np.ndarray, shape: tuple) -> np.ndarray:
    """The places (len(shape), n) with these numbers."""
    found = np.unravel_index(numbers, shape) if math.prod(shape) or not numbers.size else ()
    return np.stack(found) if shape else np.zeros((0, numbers.size), np.int64)


def shared(values: Any) -> Any:
    """The values of one Tensor for another: a leaf's have to be at a place of their own on the tape."""
    return alias(values, detached=False) if values._requires and values._node is None else values


def elements_at(given: Any, structure: Any) -> Any:
    """The elements of a Tensor of the same size at the structure's places."""
    if is_foreign(given):
        other = held(given)
        if other.places is structure.places:
            return other.values
        given = to_dense(given)
    return call(kernels.gathered(), (given, structure.places))


def coalesced(structure: Any) -> Any:
    """The same sorted, with the values at one place added up."""
    if structure.coalesced:
        return structure
    places = known_places(structure, "coalesce()")
    sizes = structure.shape[: structure.sparse_dim]
    numbers = flat(places, sizes)
    if (numbers[1:] > numbers[:-1]).all():
        return Coo(structure.indices, shared(structure.values), structure.shape, True)
    unique, group = np.unique(numbers, return_inverse=True)
    values = call(kernels.merged(len(unique)), (structure.values, group.reshape(-1)))
    return Coo(indices_of(unflat(unique, sizes)), values, structure.shape, True)


def coalesce(self: Any) -> Any:
    """This Tensor with its places sorted, and the values at one place added up. Raises RuntimeError for other layouts."""
    _only_coo(self, "coalesce")
    found = coalesced(held(self))
    return self if found is held(self) else SparseTensor.of(found)


def is_coalesced(self: Any) -> bool:
    """Whether the places are sorted, and none comes twice."""
    _only_coo(self, "is_coalesced")
    return held(self).coalesced


def _coalesced_(self: Any, flag: bool) -> Any:
    """Say that this Tensor is coalesced, or not."""
    _only_coo(self, "_coalesced_")
    held(self).coalesced = bool(flag)
    return self


def _only_coo(self: Any, name: str) -> None:
    if self.layout is not sparse_coo:
        raise OpError(f"{name} expected sparse coordinate tensor layout but got {_shown(self.layout)}")


def _shown(kind: layout) -> str:
    return {"strided": "Strided", "sparse_coo": "Sparse"}.get(kind.name, kind.name.replace("sparse_", "Sparse").title())


def indices(self: Any) -> Any:
    """The places (S, nnz) of a coalesced Tensor. Raises RuntimeError if it is not."""
    if not is_foreign(self) or self.layout is not sparse_coo:
        raise OpError(f"indices expected sparse coordinate tensor layout but got {_shown(self.layout)}")
    if not held(self).coalesced:
        raise OpError(UNCOALESCED.format("indices"))
    return alias(held(self).indices, detached=False)


def values(self: Any) -> Any:
    """The values (nnz, *), through which gradients pass. Raises RuntimeError if it is not coalesced."""
    if not is_foreign(self):
        raise OpError(f"values expected sparse tensor layout but got {_shown(self.layout)}")
    if not held(self).coalesced:
        raise OpError(UNCOALESCED.format("values"))
    return alias(held(self).values, detached=False)


def _sparse_only(self: Any, name: str) -> Any:
    if not is_foreign(self):
        raise MissingError(f"Could not run 'aten::{name}' with arguments from the 'CPU' backend: it is for sparse Tensors")
    return held(self)


def _indices(self: Any) -> Any:
    """The places (S, nnz), coalesced or not."""
    _only_coo(self, "_indices") if is_foreign(self) else _sparse_only(self, "_indices")
    return held(self).indices.detach()


def _values(self: Any) -> Any:
    """The values (nnz, *), coalesced or not, without history."""
    return _sparse_only(self, "_values").values.detach()


def _nnz(self: Any) -> int:
    """How many values there are."""
    return _sparse_only(self, "_nnz").nnz


def sparse_dim(self: Any) -> int:
    """How many dimensions have places: 0 for a dense Tensor."""
    return held(self).sparse_dim if is_foreign(self) else 0


def dense_dim(self: Any) -> int:
    """How many dimensions each value has."""
    return self.dim() - sparse_dim(self)


def _index_of(name: str, kind: layout, compressed: bool) -> Any:
    words = "row" if kind is sparse_csr else "column"

    def index(self: Any) -> Any:
        if self.layout is not kind:
            raise OpError(f"{name} expected sparse {words} compressed tensor layout but got {_shown(self.layout)}")
        found = held(self)
        return (found.compressed if compressed else found.plain).detach()

    index.__name__ = index.__qualname__ = name
    index.__doc__ = f"The {'places where each ' + words + ' begins' if compressed else 'other index of each value'}."
    return index


crow_indices = _index_of("crow_indices", sparse_csr, True)
col_indices = _index_of("col_indices", sparse_csr, False)
ccol_indices = _index_of("ccol_indices", sparse_csc, True)
row_indices = _index_of("row_indices", sparse_csc, False)


def to_dense(self: Any, dtype: dtype | None = None, *, masked_grad: bool | None = None) -> Any:
    """All elements, as a strided Tensor; itself if it is one."""
    whole = self
    if is_foreign(self):
        found = held(self)
        whole = call(kernels.dense(tuple(found.shape)), (found.places, found.values))
    return whole if dtype is None else cast(whole, dtype)


def _known(x: Any) -> np.ndarray | None:
    """The values as a NumPy array, without their tangents; None where they are traced or batched."""
    payload = value_of(x)
    while type(payload) is Dual:
        payload = value_of(payload.primal)
    return np.asarray(payload) if type(payload) in CONCRETE else None


def _coo_of_dense(x: Any, dims: int) -> Coo:
    array = _known(x)
    if array is None:
        raise MissingError(f"to_sparse(): {NO_DATA}") if is_meta(x) else TracedValueError(NO_PLACES.format("to_sparse()"))
    there = array != 0
    if dims < array.ndim:
        there = there.any(tuple(range(dims, array.ndim)))
    places = indices_of(np.stack(np.nonzero(there)) if dims else np.zeros((0, int(array.any())), np.int64))
    shape = tuple(array.shape)
    if not dims:
        return Coo(places, x.unsqueeze(0)[: places.shape[1]], shape, True)
    return Coo(places, call(kernels.gathered(), (x, places)), shape, True)


def to_sparse_coo(self: Any) -> Any:
    """This Tensor in coordinate layout."""
    return to_sparse(self)


def to_sparse(
    self: Any, sparse_dims: int | None = None, *, layout: Any = None, blocksize: Any = None, dense_dim: int | None = None
) -> Any:
    """The elements that are not zero, with their places.

    Args:
        self: (*).
        sparse_dims: how many dimensions have places (default: all); the rest is dense.
        layout: ``sparse_coo`` (default), ``sparse_csr`` or ``sparse_csc``.
        blocksize, dense_dim: None: blocks, and dense dimensions behind compressed ones, are not there.

    Raises:
        RuntimeError: another number of dimensions, or values that are traced or batched.
    """
    if blocksize is not None or dense_dim:
        raise MissingError("to_sparse: layouts of blocks, and compressed ones with dense dimensions, are not there")
    if layout is not None and layout in ROWS:
        return compressed(self, layout)
    if layout is not None and layout is not sparse_coo:
        raise MissingError(f"to_sparse: conversion to {layout!r} is not there")
    if is_foreign(self):
        return SparseTensor.of(_as_coo(held(self)))
    ndim = len(value_of(self).shape)
    dims = ndim if sparse_dims is None else sparse_dims
    if not (0 < dims <= ndim or dims == ndim):
        raise OpError(f"sparse_dim argument for `to_sparse` must be in >0 and <={ndim}, got {dims}")
    return SparseTensor.of(_coo_of_dense(self, dims))


def _as_coo(structure: Any) -> Coo:
    if isinstance(structure, Coo):
        return structure
    return coalesced(Coo(structure.places, shared(structure.values), structure.shape, structure.layout is sparse_csr))


def compressed(self: Any, kind: layout, name: str = "to_sparse_csr") -> Any:
    """This matrix with its rows, or its columns, one after another."""
    if self.dim() != 2:
        raise OpError(f"{name}: {kind!r} is for matrices here, got a Tensor of size {list(self.shape)}")
    if self.layout is kind:
        return self
    coo = coalesced(_as_coo(held(self)) if is_foreign(self) else _coo_of_dense(self, 2))
    if coo.sparse_dim != 2:
        raise OpError(f"{name}: expected a Tensor without dense dimensions, got {coo.sparse_dim} sparse ones of 2")
    which = ROWS[kind]
    places, values = known_places(coo, name), shared(coo.values)
    if which:
        order = np.lexsort((places[0], places[1]))
        places, values = places[:, order], call(kernels.taken(), (values, order))
    begins = np.searchsorted(places[which], np.arange(coo.shape[which] + 1))
    parts = indices_of(begins), indices_of(places[1 - which])
    return SparseTensor.of(Compressed(kind, *parts, values, coo.shape))


def to_sparse_csr(self: Any, dense_dim: int | None = None) -> Any:
    """This matrix in compressed row layout. Raises RuntimeError for other than matrices."""
    return to_sparse(self, layout=sparse_csr, dense_dim=dense_dim)


def to_sparse_csc(self: Any, dense_dim: int | None = None) -> Any:
    """This matrix in compressed column layout. Raises RuntimeError for other than matrices."""
    return to_sparse(self, layout=sparse_csc, dense_dim=dense_dim)


def sparse_mask(self: Any, mask: Any) -> Any:
    """The elements of this Tensor at the places of ``mask``, a sparse Tensor of the same size. Raises RuntimeError."""
    if not is_foreign(mask):
        raise OpError(f"sparse_mask(): expected mask to be sparse, got layout {mask.layout!r}")
    if self.shape != mask.shape:
        raise OpError(
            f"sparse_mask(): operands have incompatible sizes; self has size {list(self.shape)} but mask has size {list(mask.shape)}"
        )
    found = held(mask)
    return SparseTensor.of(found.with_values(elements_at(self, found)))
