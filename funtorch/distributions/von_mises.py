"""The von Mises distribution."""

from __future__ import annotations

import math
from typing import Any

import funtorch as torch

from ..tensor import Tensor
from . import constraints
from ._validity import holds
from .distribution import Distribution
from .utils import broadcast_all, lazy_property

__all__ = ["VonMises"]


def _log_modified_bessel_fn(x: Tensor, order: int = 0) -> Tensor:
    """log I_order(x) for x > 0 and order 0 or 1."""
    return x + (torch.special.i1e(x) if order else torch.special.i0e(x)).log()


class VonMises(Distribution):
    r"""Angles: :math:`p(x) = e^{\kappa \cos(x - \mu)} / 2\pi I_0(\kappa)`.

    Samples are made by rejection (Best and Fisher, 1979) in double precision, as PyTorch draws them from the same seed, and lie
    in [-pi, pi). Differs from PyTorch: the Bessel functions are those of `special`, exact where PyTorch's have seven digits.

    Args:
        loc: :math:`\mu` (B) in radians, a number or a floating-point Tensor.
        concentration: :math:`\kappa > 0` (B).

    Raises:
        ValueError: ``concentration`` is not positive.

    >>> torch.distributions.VonMises(torch.tensor(0.0), torch.tensor(1.0)).variance
    tensor(0.5536)
    """

    arg_constraints = {"loc": constraints.real, "concentration": constraints.positive}
    support = constraints.real
    has_rsample = False
    _expanded = {"loc": 0, "concentration": 0}

    def __init__(self, loc: Any, concentration: Any, validate_args: bool | None = None) -> None:
        self.loc, self.concentration = broadcast_all(loc, concentration)
        super().__init__(self.loc.shape, validate_args=validate_args)

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        # cos - 1 keeps digits: i0e is I_0 times exp(-kappa)
        exponent = self.concentration * (torch.cos(value - self.loc) - 1)
        return exponent - math.log(2 * math.pi) - torch.special.i0e(self.concentration).log()

    @lazy_property
    def _proposal_r(self) -> Tensor:
        """The wrapped Cauchy proposal's parameter, in double precision."""
        kappa = self.concentration.double()
        tau = 1 + (1 + 4 * kappa**2).sqrt()
        rho = (tau - (2 * tau).sqrt()) / (2 * kappa)
        return torch.where(kappa < 1e-5, 1 / kappa + kappa, (1 + rho**2) / (2 * rho))  # loses all digits near 0

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            loc, kappa, r = self.loc.double(), self.concentration.double(), self._proposal_r
            angle = torch.zeros(shape, dtype=torch.float64, device=loc.device)
            done = torch.zeros(shape, dtype=torch.bool, device=loc.device)
            while not holds(done):
                u1, u2, u3 = torch.rand((3, *shape), dtype=torch.float64, device=loc.device).unbind()
                z = torch.cos(math.pi * u1)
                f = (1 + r * z) / (r + z)
                c = kappa * (r - f)
                accepted = (c * (2 - c) - u2 > 0) | ((c / u2).log() + 1 - c >= 0)
                angle = torch.where(accepted, (u3 - 0.5).sign() * f.acos(), angle)
                done = done | accepted
            return ((angle + math.pi + loc) % (2 * math.pi) - math.pi).to(self.loc.dtype)

    @property
    def mean(self) -> Tensor:
        """loc, the mean direction."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        """loc."""
        return self.loc

    @lazy_property
    def variance(self) -> Tensor:  # type: ignore[override]
        """The circular variance 1 - I_1 / I_0."""
        return 1 - torch.special.i1e(self.concentration) / torch.special.i0e(self.concentration)
