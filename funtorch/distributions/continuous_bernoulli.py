"""The continuous Bernoulli distribution."""

from __future__ import annotations

import math
from typing import Any

import funtorch as torch

from ..errors import ArgumentValueError
from ..nn.functional import binary_cross_entropy_with_logits
from ..tensor import Tensor
from . import constraints
from ._odds import Odds
from ._validity import holds
from .exp_family import ExponentialFamily
from .utils import broadcast_all, clamp_probs, lazy_property, logits_to_probs

__all__ = ["ContinuousBernoulli"]


class ContinuousBernoulli(Odds, ExponentialFamily):
    r"""Continuous Bernoulli (Loaiza-Ganem and Cunningham, 2019): :math:`p(x) = C(p)\, p^x (1 - p)^{1 - x}` on [0, 1].

    :math:`C(p) = 2 \operatorname{artanh}(1 - 2p) / (1 - 2p)`; near p = 1/2 Taylor's polynomials stand in for what is 0 / 0 there.
    Samples are PyTorch's from the same seed.

    Args:
        probs: p (B) in (0, 1), a number or a floating-point Tensor.
        logits: its log-odds (B), instead.
        lims: the region around 1/2 where the polynomials are used.

    Raises:
        ValueError: both or none of probs and logits are given, or they are outside their range.

    >>> torch.distributions.ContinuousBernoulli(torch.tensor(0.5)).mean
    tensor(0.5000)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True
    _lims: tuple[float, float]
    _expanded = {"probs": 0, "logits": 0}
    _kept = ("_lims",)
    _mean_carrier_measure = 0

    def __init__(
        self, probs: Any = None, logits: Any = None, lims: tuple[float, float] = (0.499, 0.501), validate_args: bool | None = None
    ) -> None:
        self._take_odds(probs, logits)
        if probs is not None:
            if validate_args and not holds(constraints.unit_interval.check(self.probs)):
                raise ArgumentValueError(f"The parameter probs has invalid values: {self.probs}")
            self.probs = clamp_probs(self.probs)
        self._lims = lims
        super().__init__(self._param.shape, validate_args=validate_args)

    @lazy_property
    def probs(self) -> Tensor:
        """Probabilities of ``logits``, kept off 0 and 1, where the formulas are not finite."""
        return clamp_probs(logits_to_probs(self.logits, is_binary=True))

    def _outside(self) -> Tensor:
        """Whether p is far enough from 1/2 for the formulas."""
        return (self.probs <= self._lims[0]) | (self.probs > self._lims[1])

    def _cut(self) -> Tensor:
        """p, or a value at which the formulas are finite."""
        return torch.where(self._outside(), self.probs, self._lims[0])

    def _choose(self, formula: Tensor, polynomial: Tensor) -> Tensor:
        return torch.where(self._outside(), formula, polynomial)

    def _cont_bern_log_norm(self) -> Tensor:
        """log C(p)."""
        p, off = self._cut(), self.probs - 0.5
        below, above = torch.where(p <= 0.5, p, 0.0), torch.where(p >= 0.5, p, 1.0)
        odds = torch.log((torch.log1p(-p) - torch.log(p)).abs())
        formula = odds - torch.where(p <= 0.5, torch.log1p(-2.0 * below), torch.log(2.0 * above - 1.0))
        return self._choose(formula, math.log(2.0) + (4.0 / 3.0 + 104.0 / 45.0 * off**2) * off**2)

    @property
    def mean(self) -> Tensor:
        """p / (2p - 1) + 1 / (2 artanh(1 - 2p))."""
        p, off = self._cut(), self.probs - 0.5
        formula = p / (2.0 * p - 1.0) + 1.0 / (torch.log1p(-p) - torch.log(p))
        return self._choose(formula, 0.5 + (1.0 / 3.0 + 16.0 / 45.0 * off**2) * off)

    @property
    def stddev(self) -> Tensor:
        """The root of the variance."""
        return self.variance.sqrt()

    @property
    def variance(self) -> Tensor:
        """p (p - 1) / (1 - 2p)^2 + 1 / (2 artanh(1 - 2p))^2."""
        p, square = self._cut(), (self.probs - 0.5) ** 2
        formula = p * (p - 1.0) / (1.0 - 2.0 * p) ** 2 + 1.0 / (torch.log1p(-p) - torch.log(p)) ** 2
        return self._choose(formula, 1.0 / 12.0 - (1.0 / 15.0 - 128.0 / 945.0 * square) * square)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with torch.no_grad():
            return self.rsample(sample_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self.icdf(torch.rand(self._extended_shape(sample_shape), dtype=self.probs.dtype, device=self.probs.device))

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none") + self._cont_bern_log_norm()

    def cdf(self, value: Tensor) -> Tensor:
        self._checked(value)
        p = self._cut()
        formula = (p**value * (1.0 - p) ** (1.0 - value) + p - 1.0) / (2.0 * p - 1.0)
        inside = self._choose(formula, value)
        return torch.where(value <= 0.0, 0.0, torch.where(value >= 1.0, 1.0, inside))

    def icdf(self, value: Tensor) -> Tensor:
        p = self._cut()
        formula = (torch.log1p(-p + value * (2.0 * p - 1.0)) - torch.log1p(-p)) / (torch.log(p) - torch.log1p(-p))
        return self._choose(formula, value)

    def entropy(self) -> Tensor:
        off, on = torch.log1p(-self.probs), torch.log(self.probs)
        return self.mean * (off - on) - self._cont_bern_log_norm() - off

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (self.logits,)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        """log((exp(x) - 1) / x)."""
        outside = (x <= self._lims[0] - 0.5) | (x > self._lims[1] - 0.5)
        cut = torch.where(outside, x, self._lims[0] - 0.5)
        formula = torch.log(torch.expm1(cut).abs()) - torch.log(cut.abs())
        return torch.where(outside, formula, 0.5 * x + x**2 / 24.0 - x**4 / 2880.0)
