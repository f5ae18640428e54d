"""Upsampling as layers."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from ..module import Module

__all__ = ["Upsample", "UpsamplingBilinear2d", "UpsamplingNearest2d"]


class Upsample(Module):
    """An image made larger or smaller, by `nn.functional.interpolate`.

    Args:
        size: what the dimensions should be.
        scale_factor: in its place: how many times larger.
        mode: nearest, linear, bilinear, bicubic or trilinear.
        align_corners: whether the middles of the corner elements coincide.
        recompute_scale_factor: compute places from the sizes, not from scale_factor.

    Raises:
        ValueError, NotImplementedError, RuntimeError: as `nn.functional.interpolate`, when called.

    Example:
        >>> import funtorch
        >>> Upsample(scale_factor=2)(funtorch.zeros(1, 3, 4, 4)).shape
        torch.Size([1, 3, 8, 8])
    """

    __constants__ = ["size", "scale_factor", "mode", "align_corners", "name", "recompute_scale_factor"]

    def __init__(
        self, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None,
        recompute_scale_factor: bool | None = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.name = type(self).__name__
        self.size = size
        if isinstance(scale_factor, tuple):
            self.scale_factor: Any = tuple(map(float, scale_factor))
        else:
            self.scale_factor = float(scale_factor) if scale_factor else None
        self.mode = mode
        self.align_corners = align_corners
        self.recompute_scale_factor = recompute_scale_factor

    def forward(self, input: Any) -> Any:
        """input (N, C, *); z (N, C, *size)."""
        return F.interpolate(
            input, self.size, self.scale_factor, self.mode, self.align_corners, recompute_scale_factor=self.recompute_scale_factor
        )

    def extra_repr(self) -> str:
        name = "size" if self.scale_factor is None else "scale_factor"
        return f"{name}={getattr(self, name)}, mode={self.mode!r}"


class UpsamplingNearest2d(Upsample):
    """`Upsample` of images of two dimensions in mode "nearest"."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="nearest")


class UpsamplingBilinear2d(Upsample):
    """`Upsample` of images of two dimensions in mode "bilinear" with aligned corners."""

    def __init__(self, size: Any = None, scale_factor: Any = None) -> None:
        super().__init__(size, scale_factor, mode="bilinear", align_corners=True)
