"""The inverse gamma distribution."""

from __future__ import annotations

from typing import Any

import funtorch as torch

from ..tensor import Tensor
from . import constraints
from ._seen_through import SeenThrough
from .gamma import Gamma
from .transforms import PowerTransform

__all__ = ["InverseGamma"]


class InverseGamma(SeenThrough):
    r"""The reciprocal of a `Gamma`: :math:`p(x) \propto x^{-\alpha - 1} e^{-\beta / x}`. Samples are PyTorch's from the same seed.

    Args:
        concentration: :math:`\alpha > 0` (B), a number or a floating-point Tensor.
        rate: :math:`\beta > 0` (B).

    Raises:
        ValueError: a parameter is not positive.

    >>> torch.distributions.InverseGamma(3.0, 4.0).mean
    tensor(2.)
    """

    arg_constraints = {"concentration": constraints.positive, "rate": constraints.positive}
    support = constraints.positive
    has_rsample = True  # type: ignore[assignment]
    base_dist: Gamma

    def __init__(self, concentration: Any, rate: Any, validate_args: bool | None = None) -> None:
        base = Gamma(concentration, rate, validate_args=validate_args)
        super().__init__(base, PowerTransform(-base.rate.new_ones(())), validate_args=validate_args)

    @property
    def concentration(self) -> Tensor:
        """The gamma's concentration."""
        return self.base_dist.concentration

    @property
    def rate(self) -> Tensor:
        """The gamma's rate."""
        return self.base_dist.rate

    @property
    def mean(self) -> Tensor:
        """rate / (concentration - 1); infinite for a concentration up to 1."""
        finite = self.concentration > 1
        return torch.where(finite, self.rate / torch.where(finite, self.concentration - 1, 1.0), torch.inf)

    @property
    def mode(self) -> Tensor:
        """rate / (concentration + 1)."""
        return self.rate / (self.concentration + 1)

    @property
    def variance(self) -> Tensor:
        """mean^2 / (concentration - 2); infinite for a concentration up to 2."""
        finite = self.concentration > 2
        a = torch.where(finite, self.concentration, 3.0)
        return torch.where(finite, self.rate.square() / ((a - 1).square() * (a - 2)), torch.inf)

    def entropy(self) -> Tensor:
        a = self.concentration
        return a + self.rate.log() + a.lgamma() - (1 + a) * a.digamma()
