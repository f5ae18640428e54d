"""The Bernoulli distribution."""

from __future__ import annotations

from typing import Any

import funtorch as torch

from ..nn.functional import binary_cross_entropy_with_logits, softplus
from ..tensor import Tensor
from . import constraints
from ._odds import Odds
from .exp_family import ExponentialFamily
from .utils import broadcast_all

__all__ = ["Bernoulli"]


class Bernoulli(Odds, ExponentialFamily):
    r"""One with probability p, else zero. Samples are PyTorch's from the same seed.

    Args:
        probs: p (B) in [0, 1], a number or a floating-point Tensor.
        logits: its log-odds (B), instead.

    Raises:
        ValueError: both or none are given, or ``probs`` are not probabilities.

    >>> torch.distributions.Bernoulli(0.25).log_prob(torch.tensor(1.0))
    tensor(-1.3863)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.boolean
    has_enumerate_support = True
    _expanded = {"probs": 0, "logits": 0}
    _mean_carrier_measure = 0

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._take_odds(probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """p."""
        return self.probs

    @property
    def mode(self) -> Tensor:
        """The likelier value; NaN for p = 1/2."""
        likelier = (self.probs >= 0.5).to(self.probs.dtype)
        return torch.where(self.probs == 0.5, torch.nan, likelier)

    @property
    def variance(self) -> Tensor:
        """p (1 - p)."""
        return self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with torch.no_grad():
            return torch.bernoulli(self.probs.expand(self._extended_shape(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        return -binary_cross_entropy_with_logits(logits, value, reduction="none")

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none")

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = torch.arange(2, dtype=self._param.dtype, device=self._param.device).reshape(-1, *[1] * len(self._batch_shape))
        return values.expand(-1, *self._batch_shape) if expand else values

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return (torch.logit(self.probs),)

    def _log_normalizer(self, x: Tensor) -> Tensor:
        return softplus(x)
