"""The logistic-normal distribution."""

from __future__ import annotations

from typing import Any

from ..tensor import Tensor
from . import constraints
from ._seen_through import SeenThrough
from .normal import Normal
from .transforms import StickBreakingTransform

__all__ = ["LogisticNormal"]


class LogisticNormal(SeenThrough):
    r"""K shares made of K - 1 `Normal` numbers by the `StickBreakingTransform`. Samples are PyTorch's from the same seed.

    Args:
        loc: means (B, K - 1), a floating-point Tensor, or a number for K = 2.
        scale: standard deviations (B, K - 1), positive.

    Raises:
        ValueError: ``scale`` is not positive.

    >>> torch.distributions.LogisticNormal(torch.zeros(2), torch.ones(2)).event_shape
    torch.Size([3])
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.simplex
    has_rsample = True  # type: ignore[assignment]

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        base = Normal(loc, scale, validate_args=validate_args)
        base = base if base.batch_shape else base.expand([1])
        super().__init__(base, StickBreakingTransform(), validate_args=validate_args)

    @property
    def loc(self) -> Tensor:
        """The means of the numbers."""
        return self.base_dist.base_dist.loc  # type: ignore[attr-defined]

    @property
    def scale(self) -> Tensor:
        """The standard deviations of the numbers."""
        return self.base_dist.base_dist.scale  # type: ignore[attr-defined]
