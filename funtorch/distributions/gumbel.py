"""The Gumbel distribution."""

from __future__ import annotations

import math
from typing import Any

import funtorch as torch

from ..tensor import Tensor
from . import constraints
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, ExpTransform
from .uniform import Uniform
from .utils import broadcast_all, euler_constant

__all__ = ["Gumbel"]


class Gumbel(TransformedDistribution):
    r"""Gumbel: :math:`P(X \le x) = e^{-e^{-(x - \mu) / \beta}}`. Samples are PyTorch's from the same seed.

    Args:
        loc: :math:`\mu` (B), a number or a floating-point Tensor.
        scale: :math:`\beta > 0` (B).

    Raises:
        ValueError: ``scale`` is not positive.

    >>> torch.distributions.Gumbel(0.0, 1.0).mean
    tensor(0.5772)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    _expanded = {"loc": 0, "scale": 0}

    def __init__(self, loc: Any, scale: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale = broadcast_all(loc, scale)
        info = torch.finfo(self.loc.dtype)
        low, high = torch.full_like(self.loc, info.tiny), torch.full_like(self.loc, 1 - info.eps)
        super().__init__(Uniform(low, high, validate_args=validate_args), self._steps(), validate_args=validate_args)

    def _steps(self) -> list:
        """x = loc - scale log(-log u)."""
        minus = AffineTransform(loc=0, scale=-torch.ones_like(self.scale))
        return [ExpTransform().inv, minus, ExpTransform().inv, AffineTransform(loc=self.loc, scale=-self.scale)]

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Gumbel, _instance)
        new.loc, new.scale = self.loc.expand(batch_shape), self.scale.expand(batch_shape)
        return super().expand(batch_shape, _instance=new)

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        y = (self.loc - value) / self.scale
        return (y - y.exp()) - self.scale.log()

    @property
    def mean(self) -> Tensor:
        """loc + scale * Euler's constant."""
        return self.loc + self.scale * euler_constant

    @property
    def mode(self) -> Tensor:
        """loc."""
        return self.loc

    @property
    def stddev(self) -> Tensor:
        """scale pi / sqrt(6)."""
        return math.pi / math.sqrt(6) * self.scale

    @property
    def variance(self) -> Tensor:
        """(scale pi)^2 / 6."""
        return self.stddev.pow(2)

    def entropy(self) -> Tensor:
        return self.scale.log() + (1 + euler_constant)
