"""The half-Cauchy distribution."""

from __future__ import annotations

import math
from typing import Any

import funtorch as torch

from ..tensor import Tensor
from . import constraints
from ._seen_through import SeenThrough
from .cauchy import Cauchy
from .transforms import AbsTransform

__all__ = ["HalfCauchy"]


class HalfCauchy(SeenThrough):
    r"""The absolute value of a `Cauchy` of median zero. Samples are PyTorch's from the same seed.

    Args:
        scale: the Cauchy's scale (B), positive, a number or a floating-point Tensor.

    Raises:
        ValueError: ``scale`` is not positive.

    >>> torch.distributions.HalfCauchy(1.0).cdf(torch.tensor(1.0))
    tensor(0.5000)
    """

    arg_constraints = {"scale": constraints.positive}
    support = constraints.nonnegative
    has_rsample = True  # type: ignore[assignment]
    base_dist: Cauchy

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Cauchy(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def scale(self) -> Tensor:
        """The Cauchy's scale."""
        return self.base_dist.scale

    @property
    def mean(self) -> Tensor:
        """Infinite."""
        return torch.full_like(self.scale, math.inf)

    @property
    def mode(self) -> Tensor:
        """Zero."""
        return torch.zeros_like(self.scale)

    @property
    def variance(self) -> Tensor:
        """Infinite."""
        return self.base_dist.variance

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        value = torch.as_tensor(value, dtype=self.scale.dtype, device=self.scale.device)
        return torch.where(value >= 0, self.base_dist.log_prob(value) + math.log(2), -math.inf)

    def cdf(self, value: Tensor) -> Tensor:
        self._checked(value)
        return 2 * self.base_dist.cdf(value) - 1

    def icdf(self, prob: Tensor) -> Tensor:  # type: ignore[override]
        return self.base_dist.icdf((prob + 1) / 2)

    def entropy(self) -> Tensor:
        return self.base_dist.entropy() - math.log(2)
