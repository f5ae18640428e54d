"""torch.Size: a shape."""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable
from typing import Any

from .errors import ArgumentTypeError


class Size(tuple):
    """A Tensor's shape: a tuple that prints and counts as PyTorch's.

    >>> Size((2, 3)).numel()
    6
    """

    __slots__ = ()

    def __new__(cls, sizes: Iterable = ()) -> Size:
        """A shape of given sizes. Raises TypeError for one that is no integer."""
        found = tuple(sizes)
        for size in found:
            if type(size) is not int:
                found = tuple(_whole(each, i) for i, each in enumerate(found))
                break
        return tuple.__new__(cls, found)

    def numel(self) -> int:
        """The product of the sizes."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __add__(self, other: Any) -> Size:
        return Size(tuple.__add__(self, tuple(other)))

    def __radd__(self, other: Any) -> Size:
        return Size((*other, *self))

    def __mul__(self, times: Any) -> Size:
        return Size(tuple.__mul__(self, times))

    __rmul__ = __mul__

    def __getitem__(self, at: Any) -> Any:
        found = tuple.__getitem__(self, at)
        return Size(found) if isinstance(at, slice) else found


def _whole(size: Any, at: int) -> int:
    try:
        return operator.index(size)
    except TypeError:
        raise ArgumentTypeError(f"torch.Size() takes an iterable of 'int' (item {at} is '{type(size).__name__}')") from None
