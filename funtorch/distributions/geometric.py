"""The geometric distribution."""

from __future__ import annotations

from typing import Any

import funtorch as torch

from ..core.levels import bottom
from ..errors import ArgumentValueError
from ..nn.functional import binary_cross_entropy_with_logits
from ..tensor import Tensor
from . import constraints
from ._odds import Odds
from ._validity import holds
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["Geometric"]


class Geometric(Odds, Distribution):
    r"""Failures before the first success: :math:`P(k) = (1 - p)^k p`. Samples are PyTorch's from the same seed.

    Args:
        probs: p (B) in (0, 1], a number or a floating-point Tensor.
        logits: its log-odds (B), instead.

    Raises:
        ValueError: both or none are given, or ``probs`` are outside (0, 1].

    >>> torch.distributions.Geometric(0.25).mean
    tensor(3.)
    """

    arg_constraints = {"probs": constraints.unit_interval, "logits": constraints.real}
    support = constraints.nonnegative_integer
    _expanded = {"probs": 0, "logits": 0}

    def __init__(self, probs: Any = None, logits: Any = None, validate_args: bool | None = None) -> None:
        self._take_odds(probs, logits)
        super().__init__(self._param.shape, validate_args=validate_args)
        if self._validate_args and probs is not None and not holds(self.probs > 0):
            values = bottom(self.probs)
            raise ArgumentValueError(
                f"Expected parameter probs ({type(self.probs).__name__} of shape {tuple(self.probs.shape)}) of distribution "
                f"{self!r} to be positive but found invalid values:\n{values[values <= 0]}"
            )

    @property
    def mean(self) -> Tensor:
        """1 / p - 1."""
        return 1.0 / self.probs - 1.0

    @property
    def mode(self) -> Tensor:
        """Zero."""
        return torch.zeros_like(self.probs)

    @property
    def variance(self) -> Tensor:
        """(1 / p - 1) / p."""
        return (1.0 / self.probs - 1.0) / self.probs

    def sample(self, sample_shape: Any = ()) -> Tensor:
        shape, tiny = self._extended_shape(sample_shape), torch.finfo(self.probs.dtype).tiny
        with torch.no_grad():
            u = self.probs.new_empty(shape).uniform_(tiny, 1)
            return (u.log() / torch.log1p(-self.probs)).floor()

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        value, probs = broadcast_all(value, self.probs)
        sure = (probs == 1) & (value == 0)  # 0 log 0
        return value * torch.log1p(-torch.where(sure, 0.0, probs)) + self.probs.log()

    def entropy(self) -> Tensor:
        return binary_cross_entropy_with_logits(self.logits, self.probs, reduction="none") / self.probs
