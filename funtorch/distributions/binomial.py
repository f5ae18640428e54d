"""The binomial distribution."""

from __future__ import annotations

from typing import Any

import funtorch as torch

from ..errors import MissingError
from ..nn.functional import logsigmoid
from ..tensor import Tensor
from . import constraints
from ._odds import Odds, check_one_of
from ._validity import holds
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["Binomial"]


class Binomial(Odds, Distribution):
    r"""Successes in n trials: :math:`P(k) = \binom{n}{k} p^k (1 - p)^{n - k}`. Samples are PyTorch's from the same seed.

    Args:
        total_count: n (B), whole numbers.
        probs: p (B) in [0, 1], a number or a floating-point Tensor.
        logits: its log-odds (B), instead.

    Raises:
        ValueError: both or none of probs and logits are given, or a parameter is outside its range.
        NotImplementedError: (entropy, enumerate_support) the counts differ.

    >>> torch.distributions.Binomial(4, torch.tensor(0.5)).log_prob(torch.tensor(0.0))
    tensor(-2.7726)
    """

    arg_constraints = {
        "total_count": constraints.nonnegative_integer,
        "probs": constraints.unit_interval,
        "logits": constraints.real,
    }
    has_enumerate_support = True
    _expanded = {"total_count": 0, "probs": 0, "logits": 0}

    def __init__(self, total_count: Any = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        check_one_of(probs, logits)
        name, value = ("probs", probs) if logits is None else ("logits", logits)
        count, value = broadcast_all(total_count, value)
        setattr(self, name, value)
        self.total_count = count.to(value.dtype)
        super().__init__(value.shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """0 ... n."""
        return constraints.integer_interval(0, self.total_count)

    @property
    def mean(self) -> Tensor:
        """n p."""
        return self.total_count * self.probs

    @property
    def mode(self) -> Tensor:
        """(n + 1) p rounded down, n at most."""
        return ((self.total_count + 1) * self.probs).floor().clamp(max=self.total_count)

    @property
    def variance(self) -> Tensor:
        """n p (1 - p)."""
        return self.total_count * self.probs * (1 - self.probs)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape = self._extended_shape(sample_shape)
        with torch.no_grad():
            return torch.binomial(self.total_count.expand(shape), self.probs.expand(shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        n = self.total_count
        choices = torch.lgamma(n + 1) - torch.lgamma(value + 1) - torch.lgamma(n - value + 1)
        return value * self.logits + choices + n * logsigmoid(-1.0 * self.logits)  # whole log-odds become floats

    def _common_count(self, asked: str) -> int:
        most = self.total_count.max()
        if not holds(self.total_count == most):
            raise MissingError(f"Inhomogeneous total count not supported by `{asked}`.")
        return int(most)

    def entropy(self) -> Tensor:
        self._common_count("entropy")
        logs = self.log_prob(self.enumerate_support(False))
        return -(torch.exp(logs) * logs).sum(0)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        count = self._common_count("enumerate_support")
        values = torch.arange(1 + count, dtype=self._param.dtype, device=self._param.device).reshape(
            -1, *[1] * len(self._batch_shape)
        )
        return values.expand(-1, *self._batch_shape) if expand else values
