"""x[index] and x[index] = value: what an index means.

Numbers, slices, None and ``...`` give a view (`windows`); index Tensors, masks and sequences then pick elements of that
view (`picking`), which makes a copy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..cautions import caution
from ..core.engine import CONCRETE
from ..core.handle import Handle, value_of
from ..core.state import state
from ..errors import ArgumentTypeError, ArgumentValueError, OutOfBoundsError
from ..tensor import Tensor
from .kept import place
from .windows import ANY, NEW, ONE, WHOLE, Steps

WRONG_KIND = "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got {})"
WRONG_TENSOR = "tensors used as indices must be long, int, byte or bool tensors"
OF_SCALAR = (
    "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim tensor "
    "to a number"
)
INDEX_TYPES = frozenset({np.dtype(np.int64), np.dtype(np.int32)})
BYTES = np.dtype(np.uint8)  # an old kind of bool
MASK_TYPES = frozenset({np.dtype(np.bool_), BYTES})


class Index(NamedTuple):
    """A parsed index: the steps and places of a window, and for each dimension of that window a picker or None.

    A mask of k dimensions stands at the first of the k that it covers; the others hold None.
    """

    steps: Steps
    places: tuple
    pickers: tuple

    @property
    def trivial(self) -> bool:
        """Whether the window is all of the Tensor."""
        return all(step == WHOLE for step in self.steps)


def is_mask(picker: Any) -> bool:
    """Whether an index Tensor chooses by truth, not by position."""
    return picker._payload.dtype in MASK_TYPES


NO_TUPLE = (
    "Using a non-tuple sequence for multidimensional indexing is deprecated; use x[tuple(seq)] instead of x[seq], which later versions "
    "of PyTorch read as x[torch.tensor(seq)]."
)


def _components(index: Any) -> list[Any]:
    if type(index) is tuple:
        return list(index)
    if isinstance(index, list) and len(index) < 32:
        # As PyTorch reads it: a list that holds more than numbers stands for a tuple.
        if any(i is None or i is Ellipsis or isinstance(i, (slice, Handle, Sequence, np.ndarray)) for i in index):
            caution(NO_TUPLE)
            return list(index)
    return [index]


def _as_tensor(item: Any) -> Any:
    """A sequence or a NumPy array as an index Tensor. Raises IndexError or TypeError for what can't be one."""
    if isinstance(item, np.ndarray):
        array = np.array(item)
    else:
        array = np.array([int(i) if isinstance(i, Handle) else i for i in item])
        array = array.astype(np.int64) if array.size == 0 or array.dtype.kind in "iu" else array
    if array.dtype.kind not in "biu":
        raise OutOfBoundsError(WRONG_TENSOR)
    return Tensor._of_numpy(array)


def _prepared(item: Any) -> Any:
    """One component: an int, a bool, a slice, None, Ellipsis, or a Tensor that picks."""
    kind = type(item)
    if kind is int or kind is slice or kind is bool or item is None or item is Ellipsis:
        return item
    if isinstance(item, Handle):
        value = value_of(item)
        if value.dtype not in INDEX_TYPES and value.dtype not in MASK_TYPES:
            if value.shape or value.dtype.kind not in "iu":
                raise OutOfBoundsError(WRONG_TENSOR)
        return item
    if isinstance(item, np.bool_):
        return bool(item)
    if isinstance(item, np.ndarray) and item.ndim == 0:
        return _prepared(item[()])
    if isinstance(item, str):
        raise ArgumentTypeError(f"new(): invalid data type '{item}'" if item else "new(): invalid data type 'str'")
    if isinstance(item, (Sequence, np.ndarray)):
        return _as_tensor(item)
    if hasattr(item, "__index__"):
        return item.__index__()
    raise OutOfBoundsError(WRONG_KIND.format(kind.__name__))


def _width(item: Any) -> int:
    """How many dimensions of the Tensor a component takes up."""
    if item is None or item is Ellipsis or isinstance(item, bool):
        return 0
    if isinstance(item, Handle):
        shape = item._payload.shape
        return len(shape) if item._payload.dtype in MASK_TYPES else 1
    return 1


def _slice_step(item: slice, size: int) -> tuple[Any, Any]:
    start, stop, stride = (int(v) if isinstance(v, Handle) else v for v in (item.start, item.stop, item.step))
    if stride is not None and stride <= 0:
        raise ArgumentValueError("step must be greater than zero")
    try:
        first, last, stride = slice(start, stop, stride).indices(size)
    except TypeError:
        raise ArgumentTypeError("slice indices must be integers or None or have an __index__ method") from None
    length = max(0, -(-(last - first) // stride))
    if length == size and stride == 1:
        return WHOLE, None
    return (length, stride), place(first)


def _one(item: int, size: int, dim: int) -> Any:
    if not -size <= item < size:
        raise OutOfBoundsError(f"index {item} is out of bounds for dimension {dim} with size {size}")
    return place(item % size)


def _scalar_place(item: Any, size: int, dim: int) -> Any:
    """The place that a 0-dim Tensor names. It stays an argument where its value is not known, or may change."""
    payload = item._payload
    if type(payload) not in CONCRETE:
        return item
    number = _one(int(payload), size, dim)
    return number if state.recorder is None else item


class _Parser:
    """Goes through the components of an index from left to right."""

    def __init__(self, shape: tuple[int, ...]) -> None:
        self.shape = shape
        self.dim = 0  # of the Tensor
        self.steps: list[Any] = []
        self.places: list[Any] = []
        self.pickers: list[Any] = []

    def whole(self, count: int) -> None:
        self.steps += [WHOLE] * count
        self.pickers += [None] * count
        self.dim += count

    def take(self, item: Any, rest: int) -> None:
        if item is Ellipsis:
            self.whole(len(self.shape) - self.dim - rest)
        elif item is None:
            self.steps.append(NEW)
            self.pickers.append(None)
        elif isinstance(item, bool):
            self.steps.append(NEW)
            self.pickers.append(Tensor._of_numpy(np.array([item])))
        elif isinstance(item, Handle):
            self.tensor(item)
        else:
            self.number_or_slice(item)

    def number_or_slice(self, item: Any) -> None:
        size = self.shape[self.dim]
        if isinstance(item, slice):
            step, start = _slice_step(item, size)
            self.pickers.append(None)
        else:
            step, start = ONE, _one(item, size, self.dim)
        self.steps.append(step)
        if start is not None:
            self.places.append(start)
        self.dim += 1

    def tensor(self, item: Any) -> None:
        mask = item._payload.dtype in MASK_TYPES
        ndim = len(item._payload.shape)
        if ndim == 0 and not mask:
            at = _scalar_place(item, self.shape[self.dim], self.dim)
            self.steps.append(ANY if at is item else ONE)
            self.places.append(at)
            self.dim += 1
        elif ndim == 0:
            self.steps.append(NEW)
            self.pickers.append(item.reshape(1))
        else:
            width = ndim if mask else 1
            self.steps += [WHOLE] * width
            self.pickers += [item, *[None] * (width - 1)]
            self.dim += width


def parse(shape: tuple[int, ...], index: Any) -> Index:
    """What ``index`` means for a Tensor of ``shape``. Raises IndexError, TypeError or ValueError as PyTorch does."""
    items = [_prepared(item) for item in _components(index)]
    widths = [_width(item) for item in items]
    if sum(widths) > len(shape):
        if not shape:
            raise OutOfBoundsError(OF_SCALAR)
        raise OutOfBoundsError(f"too many indices for tensor of dimension {len(shape)}")
    parser = _Parser(shape)
    for number, item in enumerate(items):
        parser.take(item, sum(widths[number + 1 :]))
    parser.whole(len(shape) - parser.dim)
    return Index(tuple(parser.steps), tuple(parser.places), tuple(parser.pickers))
