"""What the half of a distribution around zero takes from the whole."""

from __future__ import annotations

import math
from typing import Any

import funtorch as torch

from ..tensor import Tensor
from . import constraints
from ._seen_through import SeenThrough

__all__ = ["Half"]


class Half(SeenThrough):
    """The absolute value of ``base_dist``, which is symmetric around zero and has a ``scale``, the only parameter."""

    support = constraints.nonnegative
    has_rsample = True  # type: ignore[assignment]
    base_dist: Any

    @property
    def scale(self) -> Tensor:
        """The whole's scale."""
        return self.base_dist.scale

    @property
    def mode(self) -> Tensor:
        """Zero."""
        return torch.zeros_like(self.scale)

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
