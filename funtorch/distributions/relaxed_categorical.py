"""One-hot vectors relaxed to the simplex."""

from __future__ import annotations

import math
from typing import Any

import funtorch as torch

from ..size import Size
from ..tensor import Tensor
from . import constraints
from ._seen_through import SeenThrough
from .categorical import Categorical
from .distribution import Distribution
from .transforms import ExpTransform
from .utils import clamp_probs

__all__ = ["ExpRelaxedCategorical", "RelaxedOneHotCategorical"]


class ExpRelaxedCategorical(Distribution):
    r"""The logarithm of a `RelaxedOneHotCategorical`: log softmax((l + Gumbel noise) / T). Samples are PyTorch's.

    Args:
        temperature: T > 0, a Tensor that broadcasts with the others.
        probs: nonnegative weights (B, K), normalised.
        logits: logarithms of weights l (B, K), instead, normalised too.

    Raises:
        ValueError: both or none of probs and logits are given, they have no dimension, or are no probabilities.

    >>> d = torch.distributions.relaxed_categorical.ExpRelaxedCategorical(torch.tensor(1.0), torch.ones(3))
    >>> d.sample().shape
    torch.Size([3])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.real_vector
    has_rsample = True
    _parts = ("_categorical",)
    _kept = ("temperature",)

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._categorical, self.temperature = Categorical(probs, logits), temperature
        batch_shape, event_shape = self._categorical.batch_shape, self._categorical.param_shape[-1:]
        super().__init__(batch_shape, event_shape, validate_args=validate_args)

    @property
    def param_shape(self) -> Size:
        """The shape of the parameters."""
        return self._categorical.param_shape

    @property
    def logits(self) -> Tensor:
        """Logarithms of the normalised weights."""
        return self._categorical.logits

    @property
    def probs(self) -> Tensor:
        """Normalised weights."""
        return self._categorical.probs

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        return self._categorical._new(*args, **kwargs)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        u = clamp_probs(torch.rand(self._extended_shape(sample_shape), dtype=self.logits.dtype, device=self.logits.device))
        scores = (self.logits - (-u.log()).log()) / self.temperature
        return scores - scores.logsumexp(dim=-1, keepdim=True)

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        k = self._event_shape[0]
        given = self.temperature
        temperature = given if isinstance(given, Tensor) else torch.as_tensor(given, dtype=self.logits.dtype)
        score = self.logits - value * temperature
        scale = math.lgamma(k) + (k - 1) * temperature.log()
        return (score - score.logsumexp(dim=-1, keepdim=True)).sum(-1) + scale


class RelaxedOneHotCategorical(SeenThrough):
    r"""Shares that tend to one-hot vectors for temperature 0 (Maddison et al., 2017; Jang et al., 2017).

    Samples are PyTorch's from the same seed.

    Args:
        temperature: a positive Tensor that broadcasts with the others.
        probs: nonnegative weights (B, K), normalised.
        logits: logarithms of weights (B, K), instead, normalised too.

    Raises:
        ValueError: both or none of probs and logits are given, they have no dimension, or are no probabilities.

    >>> torch.distributions.RelaxedOneHotCategorical(torch.tensor(1.0), torch.ones(3)).sample().shape
    torch.Size([3])
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    support = constraints.simplex
    has_rsample = True  # type: ignore[assignment]
    base_dist: ExpRelaxedCategorical

    def __init__(self, temperature: Any, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        base = ExpRelaxedCategorical(temperature, probs, logits, validate_args=validate_args)
        super().__init__(base, ExpTransform(), validate_args=validate_args)

    @property
    def temperature(self) -> Any:
        """How far from one-hot vectors the samples are."""
        return self.base_dist.temperature

    @property
    def logits(self) -> Tensor:
        """Logarithms of the normalised weights."""
        return self.base_dist.logits

    @property
    def probs(self) -> Tensor:
        """Normalised weights."""
        return self.base_dist.probs
