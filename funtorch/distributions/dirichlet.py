"""The Dirichlet distribution."""

from __future__ import annotations

from typing import Any

import funtorch as torch

from ..errors import ArgumentValueError
from ..nn.functional import one_hot
from ..tensor import Tensor
from . import constraints
from .exp_family import ExponentialFamily

__all__ = ["Dirichlet"]


class Dirichlet(ExponentialFamily):
    r"""Dirichlet: :math:`p(x) \propto \prod_i x_i^{\alpha_i - 1}` on the simplex. Samples are PyTorch's from the same seed.

    Samples are differentiable by implicit reparameterisation of each share, whose law is a `Beta`.

    Args:
        concentration: :math:`\alpha > 0` (B, K).

    Raises:
        ValueError: ``concentration`` has no dimension, or is not positive.

    >>> torch.distributions.Dirichlet(torch.tensor([1.0, 3.0])).mean
    tensor([0.2500, 0.7500])
    """

    arg_constraints = {"concentration": constraints.independent(constraints.positive, 1)}
    support = constraints.simplex
    has_rsample = True
    _expanded = {"concentration": 1}

    def __init__(self, concentration: Tensor, validate_args: bool | None = None) -> None:
        if concentration.dim() < 1:
            raise ArgumentValueError("`concentration` parameter must be at least one-dimensional.")
        self.concentration = concentration
        super().__init__(concentration.shape[:-1], concentration.shape[-1:], validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """The concentrations' shares."""
        return self.concentration / self.concentration.sum(-1, True)

    @property
    def mode(self) -> Tensor:
        """The shares of concentration - 1, none below 0; where all concentrations are below 1, the greatest's corner."""
        excess = (self.concentration - 1).clamp(min=0.0)
        corner = one_hot(self.concentration.argmax(-1), self.concentration.shape[-1]).to(excess.dtype)
        below = (self.concentration < 1).all(-1, keepdim=True)
        return torch.where(below, corner, excess / excess.sum(-1, True))

    @property
    def variance(self) -> Tensor:
        """m (1 - m) / (sum of concentrations + 1) of the mean m."""
        total = self.concentration.sum(-1, True)
        return self.concentration * (total - self.concentration) / (total**2 * (total + 1))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return torch._sample_dirichlet(self.concentration.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        a = self.concentration
        return torch.xlogy(a - 1, value).sum(-1) + torch.lgamma(a.sum(-1)) - torch.lgamma(a).sum(-1)

    def entropy(self) -> Tensor:
        a, k = self.concentration, self.concentration.shape[-1]
        total = a.sum(-1)
        normalizer = torch.lgamma(a).sum(-1) - torch.lgamma(total)
        return normalizer - (k - total) * torch.digamma(total) - ((a - 1) * torch.digamma(a)).sum(-1)

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.concentration,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return torch.lgamma(x).sum(-1) - torch.lgamma(x.sum(-1))
