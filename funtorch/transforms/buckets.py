"""Which dimensions of a call's arguments are filled up to a bucket, and how large that is."""

from __future__ import annotations

from typing import Any

from ..core.handle import Handle
from ..errors import ArgumentTypeError, OutOfBoundsError
from .arguments import Arguments

MARK = "_dynamic_dims"


class Padding:
    """The size of a call, its bucket, and where the size stands: (number of a Tensor, dimension)."""

    __slots__ = ("size", "bucket", "places")

    def __init__(self, size: int, places: dict[int, int]) -> None:
        self.size = size
        self.bucket = 1 << (size - 1).bit_length()
        self.places = places

    def shape(self, number: int, shape: tuple, size: int) -> tuple:
        """The shape of a Tensor with ``size`` in the place of the call's size."""
        axis = self.places.get(number)
        return shape if axis is None else (*shape[:axis], size, *shape[axis + 1 :])

    def now(self, tensors: list[Handle]) -> int:
        """The size of another call of the same bucket."""
        number, axis = next(iter(self.places.items()))
        return tensors[number]._payload.shape[axis]


def mark_dynamic(tensor: Any, index: Any) -> None:
    """Say that a dimension (or several, all of one size) of an argument changes from call to call of a compiled function.

    ``compile(f, dynamic=True)`` fills it up. Raises TypeError for anything but a Tensor, IndexError if there is no such dimension.
    """
    if not isinstance(tensor, Handle):
        raise ArgumentTypeError(f"mark_dynamic(): expected a Tensor, got {type(tensor).__name__}")
    rank = len(tensor._payload.shape)
    for axis in (index,) if isinstance(index, int) else tuple(index):
        if not -rank <= axis < rank:
            raise OutOfBoundsError(f"mark_dynamic(): dimension {axis} is out of range for a Tensor of {rank} dimensions")
        tensor.__dict__.setdefault(MARK, set()).add(axis % rank)


def padding_of(call: Arguments) -> Padding | None:
    """How a call is filled up; None where it is as it is: sizes 0 and 1 mean other things than larger ones."""
    given = call.tensors[: call.given]
    marked = {i: next(iter(t.__dict__[MARK])) for i, t in enumerate(given) if t.__dict__.get(MARK)}
    if not marked:  # the first dimension, of all that agree in it with the first
        sizes = [t._payload.shape[0] if t._payload.shape else None for t in given]
        first = next((size for size in sizes if size is not None), None)
        marked = {i: 0 for i, size in enumerate(sizes) if size is not None and size == first}
    found = {given[i]._payload.shape[axis] for i, axis in marked.items()}
    size = found.pop() if len(found) == 1 else 0
    if size < 2 or any(given[i]._base is not None for i in marked):
        return None
    return Padding(size, marked)
