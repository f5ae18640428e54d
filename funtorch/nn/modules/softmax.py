"""Layers of softmax and its kin: exponentials normalised along a dimension."""

from __future__ import annotations

from typing import Any

from ...errors import ArgumentValueError
from .. import functional as F
from ..module import Module

__all__ = ["LogSoftmax", "Softmax", "Softmax2d", "Softmin"]


class _Along(Module):
    """What the softmax layers share: ``dim``."""

    __constants__ = ["dim"]

    def __init__(self, dim: int | None = None) -> None:
        super().__init__()
        self.dim = dim

    def __setstate__(self, saved: dict[str, Any]) -> None:
        super().__setstate__(saved)
        self.__dict__.setdefault("dim", None)


class Softmax(_Along):
    """z_i = e^x_i / sum_j e^x_j along a dimension.

    Args:
        dim: the dimension; None: PyTorch's choice, with a warning.
    """

    def forward(self, input: Any) -> Any:
        """input (*); z (*)."""
        return F.softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class LogSoftmax(_Along):
    """Logarithm of softmax.

    Args:
        dim: the dimension; None: PyTorch's choice, with a warning.
    """

    def forward(self, input: Any) -> Any:
        """input (*); z (*)."""
        return F.log_softmax(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmin(_Along):
    """Softmax of -x.

    Args:
        dim: the dimension; None: PyTorch's choice, with a warning.
    """

    def forward(self, input: Any) -> Any:
        """input (*); z (*)."""
        return F.softmin(input, self.dim, _stacklevel=5)

    def extra_repr(self) -> str:
        return f"dim={self.dim}"


class Softmax2d(Module):
    """Softmax over the channels of images.

    Raises:
        ValueError: an input of another rank than 3 or 4.
    """

    def forward(self, input: Any) -> Any:
        """input (N, C, H, W) or (C, H, W); z the same."""
        if input.dim() not in (3, 4):
            raise ArgumentValueError(f"Softmax2d: expected input to be 3D or 4D, got {input.dim()}D instead")
        return F.softmax(input, -3, _stacklevel=5)
