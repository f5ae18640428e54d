"""Sliding blocks of an image as columns, and back, as layers."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from ..module import Module

__all__ = ["Fold", "Unfold"]


class _Blocks(Module):
    """What both share: the blocks' size and where they lie."""

    shown: tuple[str, ...] = ("kernel_size", "dilation", "padding", "stride")

    def extra_repr(self) -> str:
        return ", ".join(f"{name}={getattr(self, name)}" for name in self.shown)


class Fold(_Blocks):
    """The sum of blocks at their places in an image.

    Args:
        output_size: of the image.
        kernel_size, dilation, padding, stride: numbers, or pairs.

    Raises:
        RuntimeError: sizes that don't fit, when called.

    Example:
        >>> import funtorch
        >>> Fold((4, 4), 2)(funtorch.zeros(1, 12, 9)).shape
        torch.Size([1, 3, 4, 4])
    """

    __constants__ = ["output_size", "kernel_size", "dilation", "padding", "stride"]
    shown = ("output_size", *_Blocks.shown)

    def __init__(self, output_size: Any, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.output_size = output_size
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Any) -> Any:
        """input (N, C * elements of a block, blocks); z (N, C, *output_size)."""
        return F.fold(input, self.output_size, self.kernel_size, self.dilation, self.padding, self.stride)


class Unfold(_Blocks):
    """All blocks that slide over an image, as columns.

    Args:
        kernel_size, dilation, padding, stride: numbers, or pairs.

    Raises:
        RuntimeError: blocks larger than the image, when called.

    Example:
        >>> import funtorch
        >>> Unfold(2)(funtorch.zeros(1, 3, 4, 4)).shape
        torch.Size([1, 12, 9])
    """

    __constants__ = ["kernel_size", "dilation", "padding", "stride"]

    def __init__(self, kernel_size: Any, dilation: Any = 1, padding: Any = 0, stride: Any = 1) -> None:
        super().__init__()
        self.kernel_size = kernel_size
        self.dilation = dilation
        self.padding = padding
        self.stride = stride

    def forward(self, input: Any) -> Any:
        """input (N, C, H, W); z (N, C * elements of a block, blocks)."""
        return F.unfold(input, self.kernel_size, self.dilation, self.padding, self.stride)
