"""What a sparse Tensor holds: Tensors of places and of values, and a shape. Ops work on these, and so do tape, vmap and compile.

*Places* are the indices of all dimensions of each value, (D, nnz): for `Coo` they are its indices, for `Compressed` they
are worked out from its two index Tensors once.
"""

from __future__ import annotations

from typing import Any, final

import jax.numpy as jnp

from ..core.call import call
from ..layouts import layout, sparse_coo, sparse_csr
from ..ops.kept import kept

Shape = tuple[int, ...]


@final
class Coo:
    """Coordinates: ``indices`` (S, nnz) and ``values`` (nnz, *dense sizes). ``coalesced``: sorted, and none twice."""

    __slots__ = ("indices", "values", "shape", "coalesced")
    layout = sparse_coo

    def __init__(self, indices: Any, values: Any, shape: Shape, coalesced: bool) -> None:
        self.indices = indices
        self.values = values
        self.shape = shape
        self.coalesced = coalesced

    @property
    def dtype(self) -> Any:
        return self.values._payload.dtype

    @property
    def places(self) -> Any:
        return self.indices

    @property
    def sparse_dim(self) -> int:
        return self.indices._payload.shape[0]

    @property
    def nnz(self) -> int:
        return self.values._payload.shape[0]

    def with_values(self, values: Any) -> Coo:
        """The same places with other values."""
        return Coo(self.indices, values, self.shape, self.coalesced)

    def with_tensors(self, change: Any) -> Coo:
        """``change`` applied to the Tensors that it holds."""
        return Coo(change(self.indices), change(self.values), self.shape, self.coalesced)


@kept("expand_rows")
def _expanded(swap: bool) -> Any:
    """From where each row begins to the row of each value."""

    def expand(compressed: Any, plain: Any) -> Any:
        counts = jnp.diff(compressed)
        rows = jnp.repeat(jnp.arange(counts.shape[0]), counts, total_repeat_length=plain.shape[0])
        pair = (plain, rows) if swap else (rows, plain)
        return jnp.stack([each.astype(jnp.int64) for each in pair])

    return expand


@final
class Compressed:
    """Rows (or columns, by ``layout``) one after another: where each begins, and the other index of each value."""

    __slots__ = ("layout", "compressed", "plain", "values", "shape", "_places")
    coalesced = True
    sparse_dim = 2

    def __init__(self, kind: layout, compressed: Any, plain: Any, values: Any, shape: Shape, places: Any = None) -> None:
        self.layout = kind
        self.compressed = compressed
        self.plain = plain
        self.values = values
        self.shape = shape
        self._places = places

    @property
    def dtype(self) -> Any:
        return self.values._payload.dtype

    @property
    def places(self) -> Any:
        if self._places is None:
            self._places = call(_expanded(self.layout is not sparse_csr), (self.compressed, self.plain))
        return self._places

    @property
    def nnz(self) -> int:
        return self.values._payload.shape[0]

    def with_values(self, values: Any) -> Compressed:
        """The same places with other values."""
        return Compressed(self.layout, self.compressed, self.plain, values, self.shape, self._places)

    def with_tensors(self, change: Any) -> Compressed:
        """``change`` applied to the Tensors that it holds."""
        return Compressed(self.layout, change(self.compressed), change(self.plain), change(self.values), self.shape)


Structure = Coo | Compressed
