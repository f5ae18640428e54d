"""The generalised Pareto distribution."""

from __future__ import annotations

from typing import Any

import funtorch as torch

from ..tensor import Tensor
from . import constraints
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["GeneralizedPareto"]


class GeneralizedPareto(Distribution):
    r"""Excesses over a threshold: :math:`P(X > x) = (1 + \xi z)^{-1/\xi}`, :math:`z = (x - \mu) / \sigma`; :math:`e^{-z}` for
    :math:`\xi = 0`.

    Samples are PyTorch's from the same seed.

    Args:
        loc: :math:`\mu` (B), the threshold, a number or a floating-point Tensor.
        scale: :math:`\sigma > 0` (B).
        concentration: :math:`\xi` (B): of the tail; for negative ones the support has an upper end.

    Raises:
        ValueError: ``scale`` is not positive.

    >>> torch.distributions.GeneralizedPareto(0.0, 1.0, 0.5).mean
    tensor(2.)
    """

    arg_constraints = {"loc": constraints.real, "scale": constraints.positive, "concentration": constraints.real}
    has_rsample = True
    _expanded = {"loc": 0, "scale": 0, "concentration": 0}

    def __init__(self, loc: Any, scale: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.scale, self.concentration = broadcast_all(loc, scale, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=False, event_dim=0)
    def support(self) -> Any:
        """From loc on, up to loc - scale / concentration where the concentration is negative."""
        below, thin = self.concentration < 0, self.concentration
        end = self.loc - self.scale / torch.where(below, thin, -1.0)
        return constraints.interval(self.loc, torch.where(below, end, torch.inf))

    def _flat(self) -> Tensor:
        """Whether the concentration counts as zero."""
        return torch.isclose(self.concentration, torch.zeros_like(self.concentration))

    def _bent(self) -> Tensor:
        """The concentration, or one where it counts as zero."""
        return torch.where(self._flat(), 1.0, self.concentration)

    def _z(self, x: Tensor) -> Tensor:
        return (x - self.loc) / self.scale

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        u = torch.rand(self._extended_shape(sample_shape), dtype=self.loc.dtype, device=self.loc.device)
        return self.icdf(u)

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        z, k = self._z(value), self._bent()
        bent = (1 + 1 / k) * torch.log1p(k * torch.where(self._flat(), 0.0, z))
        inside = -self.scale.log() - torch.where(self._flat(), z, bent)
        return torch.where(self.support.check(value), inside, -torch.inf)

    def log_survival_function(self, value: Tensor) -> Tensor:
        """log P(X > value)."""
        self._checked(value)
        z, k = self._z(value), self._bent()
        return -torch.where(self._flat(), z, torch.log1p(k * torch.where(self._flat(), 0.0, z)) / k)

    def log_cdf(self, value: Tensor) -> Tensor:
        """log P(X <= value)."""
        return torch.log1p(-torch.exp(self.log_survival_function(value)))

    def cdf(self, value: Tensor) -> Tensor:
        return torch.exp(self.log_cdf(value))

    def icdf(self, value: Tensor) -> Tensor:
        logs, k = torch.log1p(-value), self._bent()
        return self.loc + self.scale * torch.where(self._flat(), -logs, torch.expm1(-k * logs) / k)

    @property
    def mean(self) -> Tensor:
        """loc + scale / (1 - concentration); infinite for a concentration of 1 or more."""
        finite = self.concentration < 1
        return torch.where(finite, self.loc + self.scale / torch.where(finite, 1 - self.concentration, 1.0), torch.inf)

    @property
    def mode(self) -> Tensor:
        """loc."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """scale^2 / ((1 - concentration)^2 (1 - 2 concentration)); infinite for a concentration of 1/2 or more."""
        finite = self.concentration < 0.5
        k = torch.where(finite, self.concentration, 0.0)
        return torch.where(finite, self.scale**2 / ((1 - k) ** 2 * (1 - 2 * k)), torch.inf)

    def entropy(self) -> Tensor:
        return self.scale.log() + self.concentration + 1
