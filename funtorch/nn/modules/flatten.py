"""Layers that only change the shape."""

from __future__ import annotations

from typing import Any

from ...errors import ArgumentTypeError
from ..module import Module

__all__ = ["Flatten", "Unflatten"]


class Flatten(Module):
    """Several dimensions as one.

    Args:
        start_dim: the first of them.
        end_dim: the last.

    Example:
        >>> import funtorch
        >>> Flatten()(funtorch.zeros(5, 2, 3)).shape
        torch.Size([5, 6])
    """

    __constants__ = ["start_dim", "end_dim"]

    def __init__(self, start_dim: int = 1, end_dim: int = -1) -> None:
        super().__init__()
        self.start_dim = start_dim
        self.end_dim = end_dim

    def forward(self, input: Any) -> Any:
        """input (*, S_start, ..., S_end, *); z (*, their product, *)."""
        return input.flatten(self.start_dim, self.end_dim)

    def extra_repr(self) -> str:
        return f"start_dim={self.start_dim}, end_dim={self.end_dim}"


class Unflatten(Module):
    """One dimension as several.

    Args:
        dim: the dimension.
        unflattened_size: their sizes.

    Raises:
        TypeError: sizes that are no integers.
    """

    __constants__ = ["dim", "unflattened_size"]

    def __init__(self, dim: int, unflattened_size: Any) -> None:
        super().__init__()
        if not isinstance(unflattened_size, (tuple, list)):
            raise ArgumentTypeError(f"unflattened_size must be a tuple or list, but found type {type(unflattened_size).__name__}")
        for at, size in enumerate(unflattened_size):
            if not isinstance(size, int):
                raise ArgumentTypeError(
                    f"unflattened_size must be tuple of ints, but found element of type {type(size).__name__} at pos {at}"
                )
        self.dim = dim
        self.unflattened_size = unflattened_size

    def forward(self, input: Any) -> Any:
        """input (*, S, *); z (*, S_1, ..., S_n, *)."""
        return input.unflatten(self.dim, self.unflattened_size)

    def extra_repr(self) -> str:
        return f"dim={self.dim}, unflattened_size={self.unflattened_size}"
