"""gather and dynamic slices.

Gather and scatter share one idea, :class:`Places`: their operand is seen with the indexed axes first, which
one tuple of NumPy index arrays addresses, and the axes taken whole after them. The index arrays broadcast
over the batch axes of the indices and the window axes that are taken in part.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .table import Equation, rule


class Places:
    """Which elements of an operand the slices at ``indices`` cover."""

    def __init__(
        self,
        operand: tuple[int, ...],
        indices: tuple[int, ...],
        sizes: tuple[int, ...],
        numbers: dict[str, Any],
        mode: Any,
    ):
        self.batch = indices[:-1]
        self.mode = getattr(mode, "name", str(mode)).upper()
        starts = [int(d) for d in numbers["map"]]
        batching = dict(zip(map(int, numbers["batching"]), map(int, numbers["indices_batching"]), strict=True))
        dropped = {int(d) for d in numbers["collapsed"]} | set(batching)
        self.window = [d for d in range(len(operand)) if d not in dropped]
        self.whole = [d for d in self.window if d not in starts and sizes[d] == operand[d]]
        self.partial = [d for d in self.window if d not in self.whole]
        self.indexed = [d for d in range(len(operand)) if d not in self.whole]
        self.order = (*self.indexed, *self.whole)
        self.inverse = tuple(int(a) for a in np.argsort(self.order))
        self.limits = np.array([operand[d] - sizes[d] for d in starts], np.int64)
        self.one = int(self.limits[0]) if len(starts) == 1 else None  # the limit, where there is one index a slice
        self.columns = {d: k for k, d in enumerate(starts)}
        self.fixed = {d: self._fixed(d, batching, sizes) for d in self.indexed}
        self.tail = (slice(None),) * len(self.batch) + (None,) * len(self.partial)
        self.inner = tuple(operand[d] for d in self.whole)
        self.shape = (*self.batch, *(sizes[d] for d in self.partial), *self.inner)

    def _fixed(self, axis: int, batching: dict[int, int], sizes: tuple[int, ...]) -> np.ndarray | None:
        """The part of an axis's index that does not depend on the indices' values."""
        rank, place = len(self.batch) + len(self.partial), None
        if axis in batching:
            place = batching[axis]
            count = self.batch[place]
        elif axis in self.partial:
            place, count = len(self.batch) + self.partial.index(axis), sizes[axis]
        if place is None or (axis in self.columns and count == 1):
            return None
        return np.arange(count).reshape([count if a == place else 1 for a in range(rank)])

    def inside(self, indices: np.ndarray) -> np.ndarray | None:
        """A mask of the batch: which slices lie within the operand. None where they all do."""
        if not self.columns:
            return None
        if indices.size == 1 and self.one is not None:  # Python compares a number twenty times as fast
            return None if 0 <= indices.item() <= self.one else np.zeros(indices.shape[:-1], bool)
        within = np.logical_and.reduce((indices >= 0) & (indices <= self.limits), axis=-1)
        return None if within.all() else within

    def index(self, indices: np.ndarray) -> tuple[np.ndarray, ...]:
        """The index arrays for the indexed axes; slices that lie outside are moved inside."""
        if indices.dtype == np.uint64:
            indices = np.minimum(indices, np.uint64(np.iinfo(np.int64).max))
        starts = np.minimum(np.maximum(indices.astype(np.int64), 0), self.limits)
        arrays = []
        for axis in self.indexed:
            fixed = self.fixed[axis]
            if axis in self.columns:
                start = starts[..., self.columns[axis]][self.tail]
                arrays.append(start if fixed is None else start + fixed)
            else:
                arrays.append(np.zeros((), np.int64) if fixed is None else fixed)
        return tuple(arrays)


def fill_value(given: Any, dtype: np.dtype) -> np.ndarray:
    """What a gather gives outside of its operand."""
    if given is not None:
        return np.asarray(given).astype(dtype)
    if dtype.kind == "b":
        return np.array(True)
    if dtype.kind in "iu":
        return np.array(np.iinfo(dtype).min if dtype.kind == "i" else np.iinfo(dtype).max, dtype)
    return np.array(np.nan, dtype)


@rule("gather")
def gather(eqn: Equation) -> Callable:
    operand, indices = eqn.inputs[0].shape, eqn.inputs[1].shape
    d, sizes, dtype = eqn.params["dimension_numbers"], eqn.params["slice_sizes"], np.dtype(eqn.dtype)
    numbers = {
        "map": d.start_index_map,
        "batching": d.operand_batching_dims,
        "indices_batching": d.start_indices_batching_dims,
        "collapsed": d.collapsed_slice_dims,
    }
    if 0 in eqn.shape or 0 in operand:
        empty = np.full(eqn.shape, fill_value(eqn.params["fill_value"], dtype))
        return lambda x, i: empty
    places = Places(operand, indices, tuple(map(int, sizes)), numbers, eqn.params["mode"])
    offsets = [int(a) for a in d.offset_dims]
    arrange = _arranger(places, offsets, len(eqn.shape))
    fill = places.mode == "FILL_OR_DROP"
    filler = fill_value(eqn.params["fill_value"], dtype)
    blank = tuple(1 if a in offsets else n for a, n in enumerate(eqn.shape))  # the mask's shape in the result
    take = _taker(places, arrange)
    constant = None if eqn.known[1] is None else places.index(eqn.known[1])

    def run(x, i):
        result = take(x, i, constant)
        outside = places.inside(i) if fill else None
        return result if outside is None else np.where(outside.reshape(blank), result, filler)

    return run


def _arranger(places: Places, offsets: list[int], rank: int) -> tuple[int, ...] | None:
    """The permutation from (batch, partial, whole) to the axes of the gather's result; None: the identity."""
    window = dict(zip(places.window, offsets, strict=True))
    batch = iter(a for a in range(rank) if a not in offsets)
    where = [*(next(batch) for _ in places.batch), *(window[d] for d in (*places.partial, *places.whole))]
    order = tuple(int(a) for a in np.argsort(where))
    return None if order == tuple(range(rank)) else order


def _taker(places: Places, arrange: tuple[int, ...] | None) -> Callable:
    turned = places.order != tuple(range(len(places.order)))
    rows = len(places.indexed) == 1 and not places.partial and not turned and len(places.columns) == 1

    def take(x, i, constant):
        if rows:  # whole rows: NumPy's take clips by itself
            result = x.take(i[..., 0], 0, None, "clip")
        else:
            if turned:
                x = x.transpose(places.order)
            result = x[places.index(i) if constant is None else constant]
            if result.shape != places.shape:
                result = np.broadcast_to(result, places.shape)
        return result if arrange is None else result.transpose(arrange)

    return take


@rule("dynamic_slice", view=True)
def dynamic_slice(eqn: Equation) -> Callable:
    sizes = tuple(map(int, eqn.params["slice_sizes"]))
    limits = tuple(n - s for n, s in zip(eqn.inputs[0].shape, sizes, strict=True))
    bounds = tuple(zip(limits, sizes, strict=True))
    return lambda x, *starts: x[_clamped(starts, bounds)]


@rule("dynamic_update_slice")
def dynamic_update_slice(eqn: Equation) -> Callable:
    sizes = eqn.inputs[1].shape
    bounds = tuple((n - s, s) for n, s in zip(eqn.shape, sizes, strict=True))

    def run(x, u, *starts):
        x = np.array(x, order="C")
        x[_clamped(starts, bounds)] = u
        return x

    return run


def _clamped(starts: tuple, bounds: tuple[tuple[int, int], ...]) -> tuple[slice, ...]:
    index = []
    for start, (limit, size) in zip(starts, bounds, strict=True):
        first = min(max(int(start), 0), limit) if limit else 0
        index.append(slice(first, first + size))
    return tuple(index)
