"""Max pooling over windows at random places, as layers."""

from __future__ import annotations

from typing import Any

from ...errors import ArgumentValueError
from .. import functional as F
from ..module import Module
from .conv import repeated

__all__ = ["FractionalMaxPool2d", "FractionalMaxPool3d"]


class _FractionalMaxPool(Module):
    """The largest element of windows at random places that cover the input."""

    __constants__ = ["kernel_size", "return_indices", "output_size", "output_ratio"]
    dims = 0

    def __init__(
        self,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> None:
        super().__init__()
        self.kernel_size = repeated(kernel_size, self.dims)
        self.return_indices = return_indices
        self.register_buffer("_random_samples", _random_samples)
        self.output_size = None if output_size is None else repeated(output_size, self.dims)
        self.output_ratio = None if output_ratio is None else repeated(output_ratio, self.dims)
        name = type(self).__name__
        if output_size is None and output_ratio is None:
            raise ArgumentValueError(f"{name} requires specifying either an output size, or a pooling ratio")
        if output_size is not None and output_ratio is not None:
            raise ArgumentValueError("only one of output_size and output_ratio may be specified")
        if self.output_ratio is not None and not all(0 < ratio < 1 for ratio in self.output_ratio):
            raise ArgumentValueError(f"output_ratio must be between 0 and 1 (got {output_ratio})")

    def forward(self, input: Any) -> Any:
        """input (N, C, *) or (C, *); z (N, C, *output_size), with return_indices a pair of values and places."""
        pool = getattr(F, f"fractional_max_pool{self.dims}d")
        return pool(
            input,
            self.kernel_size,
            self.output_size,
            self.output_ratio,
            self.return_indices,
            _random_samples=self._random_samples,
        )


class FractionalMaxPool2d(_FractionalMaxPool):
    """The largest element of windows at random places that cover an image.

    Args:
        kernel_size: of the windows.
        output_size: how many there are along each side.
        output_ratio: in its place: how many for each element, between 0 and 1.
        return_indices: also give where the elements are.

    Raises:
        ValueError: both or none of output_size and output_ratio, or a ratio out of range.

    Example:
        >>> import funtorch
        >>> FractionalMaxPool2d(2, output_size=3)(funtorch.zeros(1, 3, 8, 8)).shape
        torch.Size([1, 3, 3, 3])
    """

    dims = 2


class FractionalMaxPool3d(_FractionalMaxPool):
    """`FractionalMaxPool2d` in three dimensions."""

    dims = 3
