"""The half-normal distribution."""

from __future__ import annotations

import math
from typing import Any

import funtorch as torch

from ..tensor import Tensor
from . import constraints
from ._seen_through import SeenThrough
from .normal import Normal
from .transforms import AbsTransform

__all__ = ["HalfNormal"]


class HalfNormal(SeenThrough):
    r"""The absolute value of a `Normal` of mean zero. Samples are PyTorch's from the same seed.

    Args:
        scale: the normal's standard deviation (B), positive, a number or a floating-point Tensor.

    Raises:
        ValueError: ``scale`` is not positive.

    >>> torch.distributions.HalfNormal(1.0).mean
    tensor(0.7979)
    """

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True  # type: ignore[assignment]
    base_dist: Normal

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Tensor:
        """The normal's standard deviation."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        """scale sqrt(2 / pi)."""
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def mode(self) -> Tensor:
        """Zero."""
        return torch.zeros_like(self.scale)

    @property
    def variance(self) -> Tensor:
        """scale^2 (1 - 2 / pi)."""
        return self.scale.pow(2) * (1 - 2 / math.pi)

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        return torch.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        self._checked(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Tensor) -> Tensor:  # type: ignore[override]
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)
