"""Sparse Tensors in files: their places and values are Tensors of the file, and are compared with each other at the load's end.

In the legacy format the elements of these Tensors come last, so the check can't be made earlier.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from ..errors import MissingError, OpError
from ..layouts import layout, sparse_coo, sparse_csc, sparse_csr
from ..tensor import Tensor

NOT_COALESCED = "load(): the file says that the places of a sparse Tensor are sorted and different, and they are not"
MALFORMED = "load(): a sparse Tensor in the file is not made of {}"


class _Waiting(threading.local):
    """The sparse Tensors of the loads in this thread that are still to be checked."""

    def __init__(self) -> None:
        self.made: list[Any] = []


_waiting = _Waiting()


def is_sparse(tensor: Any) -> bool:
    """Whether a Tensor has another layout than strided."""
    return tensor.layout.name != "strided"


def parts(tensor: Any) -> tuple[layout, tuple]:
    """What a file has of a sparse Tensor: its layout, and (places, values, size ...)."""
    detached = tensor.detach()
    size = tensor.shape
    if tensor.layout is sparse_coo:
        return tensor.layout, (detached._indices(), detached._values(), size, tensor.is_coalesced())
    if tensor.layout is sparse_csr:
        return tensor.layout, (detached.crow_indices(), detached.col_indices(), detached.values(), size)
    return tensor.layout, (detached.ccol_indices(), detached.row_indices(), detached.values(), size)


def rebuilt(kind: Any, data: Any) -> Any:
    """A sparse Tensor of `parts`, unchecked. Raises RuntimeError for other things, NotImplementedError for other layouts."""
    from ..sparse.structure import Compressed, Coo
    from ..sparse.tensor import SparseTensor

    if kind not in (sparse_coo, sparse_csr, sparse_csc):
        raise MissingError(f"load(): the file holds a Tensor of layout {kind!r}, which is not there")
    count, what = (2, "indices, values and a size") if kind is sparse_coo else (3, "two kinds of indices, values and a size")
    if not isinstance(data, tuple) or len(data) <= count or not all(isinstance(part, Tensor) for part in data[:count]):
        raise OpError(MALFORMED.format(what))
    size = data[count]
    if not isinstance(size, (tuple, list)) or not all(type(n) is int and 0 <= n < 2**62 for n in size):
        raise OpError(MALFORMED.format(what))
    if kind is sparse_coo:
        structure: Any = Coo(data[0], data[1], tuple(size), len(data) > 3 and data[3] is True)
    else:
        structure = Compressed(kind, data[0], data[1], data[2], tuple(size))
    made = SparseTensor.of(structure)
    _waiting.made.append(made)
    return made


def check_waiting() -> None:
    """Check what was made since the last call. Raises RuntimeError for places outside of a size, or not as they are said to be."""
    from ..sparse.creation import sparse_compressed_tensor, sparse_coo_tensor

    made, _waiting.made = _waiting.made, []
    for tensor in made:
        kind, held = parts(tensor)
        if kind is not sparse_coo:
            sparse_compressed_tensor(held[0], held[1], held[2], held[3], layout=kind)
            continue
        sparse_coo_tensor(held[0], held[1], held[2])
        if held[3] and not _is_sorted(held[0].numpy()):
            raise OpError(NOT_COALESCED)


def forget_waiting() -> None:
    """Check nothing of it: the load has failed already."""
    _waiting.made = []


def any_waiting() -> bool:
    """Whether there is something to check."""
    return bool(_waiting.made)


def _is_sorted(places: np.ndarray) -> bool:
    before, after = places[:, :-1], places[:, 1:]
    order = np.lexsort(places[::-1])
    return bool((order == np.arange(places.shape[1])).all()) and not (before == after).all(0).any()
