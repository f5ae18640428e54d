"""The categorical distribution."""

from __future__ import annotations

from typing import Any

import funtorch as torch

from ..size import Size
from ..tensor import Tensor
from . import constraints
from ._odds import CategoryOdds
from .distribution import Distribution

__all__ = ["Categorical"]


class Categorical(CategoryOdds, Distribution):
    r"""An index 0 ... K - 1, i with probability :math:`p_i`. Samples are PyTorch's from the same seed; none has :math:`p_i = 0`.

    Args:
        probs: nonnegative weights (B, K), normalised to p.
        logits: logarithms of weights (B, K), instead, normalised too.

    Raises:
        ValueError: both or none are given, they have no dimension, or are no probabilities.

    >>> torch.distributions.Categorical(torch.tensor([1.0, 3.0])).log_prob(torch.tensor(1))
    tensor(-0.2877)
    """

    arg_constraints = {"probs": constraints.simplex, "logits": constraints.real_vector}
    has_enumerate_support = True
    _expanded = {"probs": 1, "logits": 1}
    _kept = ("_num_events",)

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._take_odds(probs, logits)
        self._num_events = self._param.shape[-1]
        super().__init__(self._param.shape[:-1], validate_args=validate_args)

    @constraints.dependent_property(is_discrete=True, event_dim=0)
    def support(self) -> Any:
        """0 ... K - 1."""
        return constraints.integer_interval(0, self._num_events - 1)

    @property
    def mean(self) -> Tensor:
        """NaN: an index has none."""
        return torch.full(self._batch_shape, torch.nan, dtype=self.probs.dtype, device=self.probs.device)

    @property
    def mode(self) -> Tensor:
        """The likeliest index."""
        return self.probs.argmax(dim=-1)

    @property
    def variance(self) -> Tensor:
        """NaN: an index has none."""
        return torch.full(self._batch_shape, torch.nan, dtype=self.probs.dtype, device=self.probs.device)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        sample_shape = Size(sample_shape)
        rows = self.probs.detach().reshape(-1, self._num_events)
        drawn = torch.multinomial(rows, sample_shape.numel(), True)  # (rows, samples)
        return drawn.T.reshape(self._extended_shape(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        index = value.long()
        shape = torch.broadcast_shapes(index.shape, self.logits.shape[:-1])
        logs = self.logits.expand(*shape, self._num_events)
        return logs.gather(-1, index.expand(shape).unsqueeze(-1)).squeeze(-1)

    def entropy(self) -> Tensor:
        logs = self.logits.clamp(min=torch.finfo(self.logits.dtype).min)
        return -(logs * self.probs).sum(-1)

    def enumerate_support(self, expand: bool = True) -> Tensor:
        values = torch.arange(self._num_events, dtype=torch.long, device=self._param.device).reshape(
            -1, *[1] * len(self._batch_shape)
        )
        return values.expand(-1, *self._batch_shape) if expand else values
