"""Sparse matrices from their diagonals."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core.views import concrete
from ..errors import OpError, TracedValueError
from ..layouts import sparse_coo
from .conversion import indices_of
from .structure import Coo
from .tensor import SparseTensor


def spdiags(diagonals: Any, offsets: Any, shape: tuple[int, int], layout: Any = None) -> Any:
    """A sparse matrix with the rows of a matrix on its diagonals.

    Element j of a row comes to column j.

    Args:
        diagonals: (D, n), or (n) for one diagonal.
        offsets: (D) of int64, all different: 0 is the main diagonal, a positive one lies above it.
        shape: the matrix' size.
        layout: ``sparse_coo`` (default), ``sparse_csr`` or ``sparse_csc``.

    Raises:
        RuntimeError: numbers of diagonals that differ, equal offsets, or a size that is not of two numbers.
    """
    values = diagonals.unsqueeze(0) if diagonals.dim() == 1 else diagonals
    found = concrete(offsets)
    if found is None:
        raise TracedValueError("spdiags(): the offsets must be known, and are traced or batched")
    found = found.reshape(-1)
    if values.dim() != 2 or len(shape) != 2:
        raise OpError(f"spdiags: Diagonals must be vector or matrix and the shape 2-D, got {values.dim()}-D and {list(shape)}")
    if found.size != values.shape[0]:
        raise OpError(f"spdiags: Number of diagonals ({values.shape[0]}) does not match the number of offsets ({found.size})")
    if len(np.unique(found)) != found.size:
        raise OpError("spdiags: Offset tensor contains duplicate values")
    line, column = np.indices((found.size, values.shape[1])).reshape(2, -1)
    row = column - found[line]
    inside = (row >= 0) & (row < shape[0]) & (column < shape[1])
    flat = values.reshape(-1)[indices_of(np.flatnonzero(inside))]
    places = indices_of(np.stack([row[inside], column[inside]]))
    made = SparseTensor.of(Coo(places, flat, tuple(shape), False))
    return made if layout in (None, sparse_coo) else made.to_sparse(layout=layout)
