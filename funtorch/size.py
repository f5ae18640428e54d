"""torch.Size: a shape."""

from __future__ import annotations

import math
from typing import Any


class Size(tuple):
    """A Tensor's shape: a tuple that prints and counts as PyTorch's.

    >>> Size((2, 3)).numel()
    6
    """

    __slots__ = ()

    def numel(self) -> int:
        """The product of the sizes."""
        return math.prod(self)

    def __repr__(self) -> str:
        return f"torch.Size([{', '.join(map(str, self))}])"

    def __add__(self, other: Any) -> Size:
        return Size(tuple.__add__(self, tuple(other)))

    def __mul__(self, times: Any) -> Size:
        return Size(tuple.__mul__(self, times))

    def __getitem__(self, at: Any) -> Any:
        found = tuple.__getitem__(self, at)
        return Size(found) if isinstance(at, slice) else found
