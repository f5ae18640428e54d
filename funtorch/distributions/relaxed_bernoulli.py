"""Bernoulli numbers relaxed to [0, 1]."""

from __future__ import annotations

from typing import Any

import funtorch as torch

from ..nn.functional import softplus
from ..tensor import Tensor
from . import constraints
from ._odds import Odds
from ._seen_through import SeenThrough
from .distribution import Distribution
from .transforms import SigmoidTransform
from .utils import broadcast_all, clamp_probs

__all__ = ["LogitRelaxedBernoulli", "RelaxedBernoulli"]


class LogitRelaxedBernoulli(Odds, Distribution):
    r"""The log-odds of a `RelaxedBernoulli`: (l + logistic noise) / T. Samples are PyTorch's from the same seed.

    Args:
        temperature: T > 0, a Tensor that broadcasts with the other.
        probs: chances (B) in [0, 1], a number or a floating-point Tensor.
        logits: their log-odds l (B), instead.

    Raises:
        ValueError: both or none of probs and logits are given, or they are outside their range.

    >>> d = torch.distributions.relaxed_bernoulli.LogitRelaxedBernoulli(torch.tensor(1.0), torch.tensor(0.5))
    >>> d.log_prob(torch.tensor(0.0))
    tensor(-1.3863)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.real
    has_rsample = True
    temperature: Any
    _expanded = {"probs": 0, "logits": 0}
    _kept = ("temperature",)

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self.temperature = temperature
        self._take_odds(probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        p = clamp_probs(self.probs.expand(shape))
        u = clamp_probs(torch.rand(shape, dtype=p.dtype, device=p.device))
        return (u.log() - torch.log1p(-u) + p.log() - torch.log1p(-p)) / self.temperature

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        logits, value = broadcast_all(self.logits, value)
        off = logits - value * self.temperature
        temperature = torch.as_tensor(self.temperature, dtype=off.dtype)
        return temperature.log() + off - 2 * softplus(off)


class RelaxedBernoulli(SeenThrough):
    r"""Numbers in (0, 1) that tend to `Bernoulli` ones for temperature 0 (Maddison et al., 2017; Jang et al., 2017).

    Samples are PyTorch's from the same seed.

    Args:
        temperature: a positive Tensor that broadcasts with the other.
        probs: chances (B) in [0, 1], a number or a floating-point Tensor.
        logits: their log-odds (B), instead.

    Raises:
        ValueError: both or none of probs and logits are given, or they are outside their range.

    >>> d = torch.distributions.RelaxedBernoulli(torch.tensor(1.0), torch.tensor(0.5))
    >>> d.log_prob(torch.tensor(0.5))
    tensor(0.)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.unit_interval
    has_rsample = True  # type: ignore[assignment]
    base_dist: LogitRelaxedBernoulli

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        base = LogitRelaxedBernoulli(temperature, probs, logits)
        super().__init__(base, SigmoidTransform(), validate_args=validate_args)

    @property
    def temperature(self) -> Any:
        """How far from whole numbers the samples are."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """Log-odds."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """Chances."""
        return self.base_dist.probs
