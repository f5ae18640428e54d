"""Products with a sparse matrix in which the terms of an element are not only added up: mean, largest, smallest."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..core.call import call
from ..core.foreign import is_foreign
from ..errors import OpError
from ..ops.kept import kept
from ..ops.segments import reduced
from .conversion import held


@kept("sparse_mm_reduce")
def _product(rows: int, reduce: str) -> Any:
    """(places, values, matrix (K, M)) -> (rows, M)."""

    def multiply(places: Any, values: Any, matrix: Any) -> Any:
        parts = values[:, None] * matrix[places[1]]
        at = jnp.broadcast_arrays(places[0][:, None], jnp.arange(matrix.shape[1])[None])
        return reduced(jnp.zeros((rows, matrix.shape[1]), parts.dtype), tuple(at), parts, reduce, False)

    return multiply


def reduced_product(sparse: Any, dense: Any, reduce: str) -> Any:
    """`sparse.mm` with ``reduce``. Raises RuntimeError for another layout, or sizes that don't fit."""
    if not is_foreign(sparse) or sparse.layout.name != "sparse_csr" or is_foreign(dense):
        raise OpError("sparse.mm with reduce: Expected a matrix of sparse csr layout and a dense one")
    if dense.dim() != 2 or sparse.shape[1] != dense.shape[0]:
        raise OpError(f"sparse.mm: {list(sparse.shape)} and {list(dense.shape)} cannot be multiplied")
    found = held(sparse)
    return call(_product(found.shape[0], reduce), (found.places, found.values, dense))
