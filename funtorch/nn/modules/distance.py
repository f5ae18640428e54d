"""Layers of distances between vectors, and of images whose channels and places are exchanged."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from ..module import Module

__all__ = ["ChannelShuffle", "CosineSimilarity", "PairwiseDistance", "PixelShuffle", "PixelUnshuffle"]


class PairwiseDistance(Module):
    """||x - y + eps||_p along the last dimension.

    Args:
        p: the order of the norm.
        eps: keeps the gradient finite for equal vectors.
        keepdim: keep the last dimension, with size 1.
    """

    __constants__ = ["norm", "eps", "keepdim"]

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Any, x2: Any) -> Any:
        """x1 (N, D), x2 (N, D); z (N) or (N, 1)."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """Cosine of the angle between vectors along a dimension.

    Args:
        dim: the dimension.
        eps: the least length.
    """

    __constants__ = ["dim", "eps"]

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Any, x2: Any) -> Any:
        """x1 (*, D, *), x2 (*, D, *); z without D."""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)


class PixelShuffle(Module):
    """Channels become places (see `nn.functional.pixel_shuffle`).

    Args:
        upscale_factor: r.
    """

    __constants__ = ["upscale_factor"]

    def __init__(self, upscale_factor: int) -> None:
        super().__init__()
        self.upscale_factor = upscale_factor

    def forward(self, input: Any) -> Any:
        """input (*, C r^2, H, W); z (*, C, H r, W r)."""
        return F.pixel_shuffle(input, self.upscale_factor)

    def extra_repr(self) -> str:
        return f"upscale_factor={self.upscale_factor}"


class PixelUnshuffle(Module):
    """Places become channels (see `nn.functional.pixel_unshuffle`).

    Args:
        downscale_factor: r.
    """

    __constants__ = ["downscale_factor"]

    def __init__(self, downscale_factor: int) -> None:
        super().__init__()
        self.downscale_factor = downscale_factor

    def forward(self, input: Any) -> Any:
        """input (*, C, H r, W r); z (*, C r^2, H, W)."""
        return F.pixel_unshuffle(input, self.downscale_factor)

    def extra_repr(self) -> str:
        return f"downscale_factor={self.downscale_factor}"


class ChannelShuffle(Module):
    """Channels dealt out anew (see `nn.functional.channel_shuffle`).

    Args:
        groups: divides the number of channels.
    """

    __constants__ = ["groups"]

    def __init__(self, groups: int) -> None:
        super().__init__()
        self.groups = groups

    def forward(self, input: Any) -> Any:
        """input (N, C, *); z the same."""
        return F.channel_shuffle(input, self.groups)

    def extra_repr(self) -> str:
        return f"groups={self.groups}"
