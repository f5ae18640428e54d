"""The Weibull distribution."""

from __future__ import annotations

from typing import Any

import funtorch as torch

from ..tensor import Tensor
from . import constraints
from .exponential import Exponential
from .transformed_distribution import TransformedDistribution
from .transforms import AffineTransform, PowerTransform
from .utils import broadcast_all, euler_constant

__all__ = ["Weibull"]


class Weibull(TransformedDistribution):
    r"""Weibull: :math:`P(X \le x) = 1 - e^{-(x / \lambda)^k}`. Samples are PyTorch's from the same seed.

    Args:
        scale: :math:`\lambda > 0` (B), a number or a floating-point Tensor.
        concentration: k > 0 (B).

    Raises:
        ValueError: a parameter is not positive.

    >>> torch.distributions.Weibull(1.0, 2.0).mean
    tensor(0.8862)
    """

    arg_constraints = {"scale": constraints.positive, "concentration": constraints.positive}
    support = constraints.positive
    _expanded = {"scale": 0, "concentration": 0}

    def __init__(self, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.scale, self.concentration = broadcast_all(scale, concentration)
        base = Exponential(torch.ones_like(self.scale), validate_args=validate_args)
        self.concentration_reciprocal = self.concentration.reciprocal()
        steps = [PowerTransform(self.concentration_reciprocal), AffineTransform(loc=0, scale=self.scale)]
        super().__init__(base, steps, validate_args=validate_args)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(Weibull, _instance)
        new.scale, new.concentration = self.scale.expand(batch_shape), self.concentration.expand(batch_shape)
        new.concentration_reciprocal = new.concentration.reciprocal()
        return super().expand(batch_shape, _instance=new)

    def _log_moment(self, n: int) -> Tensor:
        """log E[(x / scale)^n]."""
        return torch.lgamma(1 + n * self.concentration_reciprocal)

    @property
    def mean(self) -> Tensor:
        """scale Gamma(1 + 1 / k)."""
        return self.scale * torch.exp(self._log_moment(1))

    @property
    def mode(self) -> Tensor:
        """scale ((k - 1) / k)^(1 / k)."""
        k = self.concentration
        return self.scale * ((k - 1) / k) ** k.reciprocal()

    @property
    def variance(self) -> Tensor:
        """scale^2 (Gamma(1 + 2 / k) - Gamma(1 + 1 / k)^2)."""
        return self.scale.pow(2) * (torch.exp(self._log_moment(2)) - torch.exp(2 * self._log_moment(1)))

    def entropy(self) -> Tensor:
        inverse = self.concentration_reciprocal
        return euler_constant * (1 - inverse) + torch.log(self.scale * inverse) + 1
