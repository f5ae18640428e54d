"""The multinomial distribution."""

from __future__ import annotations

from typing import Any

import funtorch as torch

from ..errors import ArgumentValueError, MissingError
from ..size import Size
from ..tensor import Tensor
from . import constraints
from .binomial import Binomial
from .categorical import Categorical
from .distribution import Distribution

__all__ = ["Multinomial"]


class Multinomial(Distribution):
    r"""Counts of K categories in n draws: :math:`P(x) = n! \prod_i p_i^{x_i} / x_i!`. Samples are PyTorch's from the same seed.

    Args:
        total_count: n, an int.
        probs: nonnegative weights (B, K), normalised to p.
        logits: logarithms of weights (B, K), instead, normalised too.

    Raises:
        ValueError: both or none of probs and logits are given, they have no dimension, or are no probabilities; n is negative.
        NotImplementedError: ``total_count`` is not an int.

    >>> torch.distributions.Multinomial(4, torch.tensor([1.0, 3.0])).mean
    tensor([1., 3.])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    total_count: int
    _parts = ("_categorical",)
    _kept = ("total_count",)

    def __init__(self, total_count: int = 1, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        if not isinstance(total_count, int):
            raise MissingError("inhomogeneous total_count is not supported")
        if total_count < 0:
            raise ArgumentValueError(f"Multinomial(): total_count must not be negative, got {total_count}")
        self.total_count = total_count
        self._categorical = Categorical(probs, logits)
        batch_shape, event_shape = self._categorical.batch_shape, self._categorical.param_shape[-1:]
        super().__init__(batch_shape, event_shape, validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=1)
    def support(self) -> Any:
        """Counts that add up to n at most."""
        return constraints.multinomial(self.total_count)

    @property
    def probs(self) -> Tensor:
        """Normalised probabilities (B, K)."""
        return self._categorical.probs

    @property
    def logits(self) -> Tensor:
        """Their logarithms (B, K)."""
        return self._categorical.logits

    @property
    def param_shape(self) -> Size:
        """The shape of the parameters."""
        return self._categorical.param_shape

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._categorical._new(*args, **kwargs)

    @property
    def mean(self) -> Tensor:
        """n p."""
        return self.probs * self.total_count

    @property
    def variance(self) -> Tensor:
        """n p (1 - p)."""
        return self.total_count * self.probs * (1 - self.probs)

    @property
    def _binomial(self) -> Binomial:
        """The law of a single count."""
        return Binomial(self.total_count, probs=self.probs, validate_args=False)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        drawn = self._categorical.sample(Size((self.total_count,)) + Size(sample_shape))  # (n, S, B)
        drawn = drawn.movedim(0, -1)  # (S, B, n)
        ones = torch.ones(drawn.shape, dtype=self.probs.dtype, device=drawn.device)
        return ones.new_zeros(self._extended_shape(sample_shape)).scatter_add(-1, drawn, ones)  # (S, B, K)

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        choices = torch.lgamma(value.sum(-1) + 1) - torch.lgamma(value + 1).sum(-1)
        logs = torch.where((value == 0) & (self.logits == -torch.inf), 0.0, self.logits)
        return choices + (logs * value).sum(-1)

    def entropy(self) -> Tensor:
        n = torch.tensor(self.total_count, device=self.probs.device)
        counts = self._binomial.enumerate_support(expand=False)[1:]  # (n, 1, 1): 1 ... n
        chances = torch.exp(self._binomial.log_prob(counts))  # (n, B, K)
        expected = (chances * torch.lgamma(counts + 1)).sum([0, -1])  # of log x_i!, for all i
        return n * self._categorical.entropy() - torch.lgamma(n + 1) + expected
