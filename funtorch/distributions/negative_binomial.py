"""The negative binomial distribution."""

from __future__ import annotations

from typing import Any

import funtorch as torch

from ..nn.functional import logsigmoid
from ..tensor import Tensor
from . import constraints
from ._odds import Odds, check_one_of
from .distribution import Distribution
from .gamma import Gamma
from .utils import broadcast_all

__all__ = ["NegativeBinomial"]


class NegativeBinomial(Odds, Distribution):
    r"""Successes before ``total_count`` = n failures: :math:`P(k) = \binom{n + k - 1}{k} p^k (1 - p)^n`.

    Samples are PyTorch's from the same seed: Poisson numbers with rates from a `Gamma`.

    Args:
        total_count: n (B), nonnegative, whole or not.
        probs: p (B) in [0, 1), a number or a floating-point Tensor.
        logits: its log-odds (B), instead.

    Raises:
        ValueError: both or none of probs and logits are given, or a parameter is outside its range.

    >>> torch.distributions.NegativeBinomial(2.0, torch.tensor(0.5)).mean
    tensor(2.)
    """

    arg_constraints = {
        "total_count": constraints.greater_than_eq(0),
        "probs": constraints.half_open_interval(0.0, 1.0),
        "logits": constraints.real,
    }
    support = constraints.nonnegative_integer
    _expanded = {"total_count": 0, "probs": 0, "logits": 0}

    def __init__(self, total_count: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        check_one_of(probs, logits)
        name, value = ("probs", probs) if logits is None else ("logits", logits)
        count, value = broadcast_all(total_count, value)
        setattr(self, name, value)
        self.total_count = count.to(value.dtype)
        super().__init__(value.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """n p / (1 - p)."""
        return self.total_count * torch.exp(self.logits)

    @property
    def mode(self) -> Tensor:
        """(n - 1) p / (1 - p) rounded down, or zero."""
        return ((self.total_count - 1) * self.logits.exp()).floor().clamp(min=0.0)

    @property
    def variance(self) -> Tensor:
        """The mean over 1 - p."""
        return self.mean / torch.sigmoid(-self.logits)

    @property
    def _gamma(self) -> Gamma:
        return Gamma(self.total_count, torch.exp(-self.logits), validate_args=False)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with torch.no_grad():
            return torch.poisson(self._gamma.sample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        n = self.total_count
        powers = n * logsigmoid(-self.logits) + value * logsigmoid(self.logits)
        inverse_choices = torch.lgamma(1.0 + value) + torch.lgamma(n) - torch.lgamma(n + value)
        # With n = 0 the only value is 0.
        return powers - torch.where(n + value == 0.0, 0.0, inverse_choices)
