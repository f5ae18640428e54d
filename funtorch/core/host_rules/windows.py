"""Windowed reductions (pooling) and their derivatives.

Every one is a short loop over the offsets within a window; each step of it works on whole strided views.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np

from .reductions import MONOIDS, identity
from .shapes import padder
from .table import Equation, is_narrow_float, rule, sole_primitive

REDUCED: dict[str, np.ufunc] = {
    "reduce_window_sum": np.add,
    "reduce_window_max": np.maximum,
    "reduce_window_min": np.minimum,
}


class Windows:
    """The geometry that all of them share."""

    def __init__(self, eqn: Equation, operand: tuple[int, ...]):
        params, rank = eqn.params, len(operand)
        self.sizes = tuple(map(int, params["window_dimensions"]))
        self.strides = tuple(map(int, params["window_strides"]))
        self.padding = [(int(a), int(b)) for a, b in params["padding"]]
        self.base = tuple(map(int, params.get("base_dilation") or (1,) * rank))
        self.dilation = tuple(map(int, params.get("window_dilation") or (1,) * rank))
        self.config = [(a, b, n - 1) for (a, b), n in zip(self.padding, self.base, strict=True)]
        self.is_padded = any(c != (0, 0, 0) for c in self.config)
        self.operand = operand
        spread = [max(0, (n - 1) * s + 1) for n, s in zip(operand, self.base, strict=True)]
        self.padded = tuple(n + a + b for n, (a, b) in zip(spread, self.padding, strict=True))
        reach = [(k - 1) * d + 1 for k, d in zip(self.sizes, self.dilation, strict=True)]
        self.counts = tuple(max(0, (n - r) // s + 1) for n, r, s in zip(self.padded, reach, self.strides, strict=True))

    def pad(self, dtype: np.dtype) -> Callable:
        """(x, value) -> x with ``value`` around and between its elements."""
        return padder(self.operand, self.config, dtype) if self.is_padded else lambda x, value: x

    def along(self, axis: int, offset: int) -> tuple[slice, ...]:
        """What the windows see at one offset along one axis, the other axes being left alone."""
        start, stride = offset * self.dilation[axis], self.strides[axis]
        stop = start + (self.counts[axis] - 1) * stride + 1
        return (slice(None),) * axis + (slice(start, stop, stride),)

    def views(self) -> Iterator[tuple[slice, ...]]:
        """What the windows see at each offset, in row-major order."""
        for offsets in product(*map(range, self.sizes)):
            yield tuple(self.along(axis, offset)[axis] for axis, offset in enumerate(offsets))


@rule(*REDUCED)
def reduce_window(eqn: Equation) -> Callable:
    ufunc, dtype = REDUCED[eqn.name], np.dtype(eqn.dtype)
    return _reducer(ufunc, identity(ufunc, dtype), Windows(eqn, eqn.inputs[0].shape), dtype, eqn.shape)


@rule("reduce_window")
def general(eqn: Equation) -> Callable | None:
    ufunc = MONOIDS.get(sole_primitive(eqn.params["jaxpr"]) or "")
    if ufunc is None or len(eqn.inputs) != 2:
        return None
    dtype = np.dtype(eqn.dtype)
    windows = Windows(eqn, eqn.inputs[0].shape)
    inner = _reducer(ufunc, identity(ufunc, dtype), windows, dtype, eqn.shape)
    return lambda x, start: ufunc(inner(x), start)


def _reducer(ufunc: np.ufunc, neutral: Any, windows: Windows, dtype: np.dtype, shape: tuple[int, ...]) -> Callable:
    """One axis after the other: each of these reductions over a box is one over each of its sides."""
    if 0 in windows.operand or 0 in shape:
        return lambda x: np.full(shape, neutral, dtype)
    pad = windows.pad(dtype)
    if is_narrow_float(dtype) and ufunc is np.add:
        return _rounded_each_time(windows, pad, neutral)
    axes = [a for a, n in enumerate(windows.sizes) if n != 1 or windows.strides[a] != 1]
    views = [[windows.along(axis, offset) for offset in range(windows.sizes[axis])] for axis in axes]

    def run(x):
        x = pad(x, neutral)
        for first, *others in views:
            seen = x
            x = seen[first]
            if others:
                x = ufunc(x, seen[others[0]])
                for other in others[1:]:
                    ufunc(x, seen[other], out=x)
        return x

    return run


def _rounded_each_time(windows: Windows, pad: Callable, neutral: Any) -> Callable:
    """Sums of narrow floats, in the order in which XLA adds."""
    first, *others = windows.views()

    def run(x):
        x = pad(x, neutral)
        total = np.array(x[first])
        for view in others:
            total = np.add(total, x[view])
        return total

    return run


def _selected(windows: Windows, x: np.ndarray, real: np.ndarray | None, keep: np.ufunc) -> np.ndarray:
    """For each window the number of the offset selected: one that ``keep`` prefers to all later ones."""
    first, *others = windows.views()
    best, chosen = x[first], np.zeros(windows.counts, np.int32)
    valid = None if real is None else real[first]
    for number, view in enumerate(others, 1):
        seen = x[view]
        stays = keep(best, seen)
        if real is not None:
            stays = (stays & valid) | ~real[view]  # padding is never selected, and never stays
            valid = valid | real[view]
        best, chosen = np.where(stays, best, seen), np.where(stays, chosen, np.int32(number))
    return chosen


def _preference(eqn: Equation) -> np.ufunc | None:
    return {"ge": np.greater_equal, "le": np.less_equal}.get(eqn.params["select_prim"].name)


@rule("select_and_scatter_add")
def select_and_scatter_add(eqn: Equation) -> Callable | None:
    """(source, operand) -> zeros like the operand, each source element added where its window's best was."""
    keep, dtype = _preference(eqn), np.dtype(eqn.dtype)
    operand = eqn.inputs[1].shape
    if keep is None or 0 in operand or 0 in eqn.inputs[0].shape:
        return None
    windows = Windows(eqn, operand)
    pad, real = windows.pad(dtype), _real(windows)
    inner = np.dtype(np.float32) if is_narrow_float(dtype) else dtype
    cut = tuple(slice(max(a, 0), max(a, 0) + n) for (a, _), n in zip(windows.padding, operand, strict=True))
    if any(a < 0 or b < 0 for a, b in windows.padding):
        return None

    def run(source, x):
        chosen = _selected(windows, pad(x, 0), real, keep)
        source, total = source.astype(inner, copy=False), np.zeros(windows.padded, inner)
        nothing = np.zeros((), inner)
        for number, view in enumerate(windows.views()):
            total[view] += np.where(chosen == number, source, nothing)
        return total[cut].astype(dtype, copy=False)

    return run


@rule("select_and_gather_add")
def select_and_gather_add(eqn: Equation) -> Callable | None:
    """(tangents, operand) -> the tangent of each window's best element."""
    keep, dtype = _preference(eqn), np.dtype(eqn.dtype)
    if keep is None or 0 in eqn.inputs[1].shape or 0 in eqn.shape:
        return None
    windows = Windows(eqn, eqn.inputs[1].shape)
    pad, real = windows.pad(dtype), _real(windows)

    def run(tangents, x):
        chosen, tangents = _selected(windows, pad(x, 0), real, keep), pad(tangents, 0)
        result = np.zeros(chosen.shape, dtype)
        for number, view in enumerate(windows.views()):
            np.copyto(result, tangents[view], where=chosen == number)
        return result

    return run


def _real(windows: Windows) -> np.ndarray | None:
    """A mask over the padded operand: True for its own elements. None where nothing is padded."""
    if not windows.is_padded:
        return None
    return windows.pad(np.dtype(bool))(np.ones(windows.operand, bool), False)
