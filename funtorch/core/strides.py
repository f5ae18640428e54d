"""Strides and offsets of Tensors, as PyTorch has them: bookkeeping over the view ops that lead from a dense base."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .handle import Handle
from .state import state

Geometry = tuple[tuple[int, ...], tuple[int, ...], int]  # shape, strides and offset, in elements


def contiguous_strides(shape: tuple[int, ...]) -> tuple[int, ...]:
    """Strides, in elements, of a dense row-major array."""
    strides, step = [], 1
    for size in reversed(shape):
        strides.append(step)
        step *= max(size, 1)
    return tuple(reversed(strides))


def unchanged(shape: tuple[int, ...], strides: tuple[int, ...], offset: int) -> Geometry:
    """The layout of a view of all elements in their order."""
    return shape, strides, offset


def inverse(order: Sequence[int]) -> tuple[int, ...]:
    """The permutation that puts back what ``order`` has permuted."""
    return tuple(sorted(range(len(order)), key=order.__getitem__))


def geometry(handle: Handle) -> Geometry | None:
    """Where the elements of a Tensor lie in its outermost base; None if they are no elements of that (lazy conjugates)."""
    base = handle._base
    if base is None:
        shape = tuple(handle._payload.shape)
        return shape, contiguous_strides(shape), 0
    kept = handle._place
    if kept is not None and kept[0] is handle._chain and base._base is None:
        return kept[1]
    found = geometry(base)
    for link in handle._chain:
        if found is None or link.layout is None or not _is_fixed(link):
            return None
        found = link.layout(*found)
    return found


_CHANGED = ("_conj", "_neg_view")  # views of values that lie nowhere: PyTorch's marks "conj" and "neg"


def _is_fixed(link: Any) -> bool:
    """Whether a link leads to elements that are known: not if that depends on a Tensor, was found by a program, or changes them."""
    if getattr(link, "op", link).name in _CHANGED:
        return False
    known = getattr(link.layout, "places", ())
    return all([a is b and type(a) is np.ndarray for a, b in zip(known, getattr(link, "places", ()), strict=False)])


def layout(handle: Handle) -> tuple[tuple[int, ...], int]:
    """The strides and the storage offset that PyTorch reports, in elements."""
    base = handle._base
    if base is None:
        return contiguous_strides(handle._payload.shape), 0
    shape = tuple(base._payload.shape)
    strides, offset = layout(base)
    for op in handle._chain:
        if op.layout is None:
            shape, strides, offset = tuple(handle._payload.shape), contiguous_strides(handle._payload.shape), 0
        else:
            shape, strides, offset = op.layout(shape, strides, offset)
    return strides, offset


def memory_order(handle: Handle) -> tuple[int, ...] | None:
    """The dimensions of a view from the largest stride to the smallest, where that is not their own order."""
    if handle._base is None or state.levels:
        return None
    shape, strides = handle._payload.shape, layout(handle)[0]
    if 0 in strides:
        return None
    real = [d for d in range(len(shape)) if shape[d] != 1]
    order = sorted(real, key=lambda d: -strides[d])
    return None if order == real else (*(d for d in range(len(shape)) if shape[d] == 1), *order)


def is_contiguous(handle: Handle) -> bool:
    """Whether the elements lie densely in row-major order."""
    if handle._base is None:
        return True
    shape = handle._payload.shape
    if 0 in shape:
        return True
    dense = contiguous_strides(shape)
    return all(n == 1 or a == b for n, a, b in zip(shape, layout(handle)[0], dense, strict=True))
