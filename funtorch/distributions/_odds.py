"""Families that are given by probabilities or by log-odds, one of them, the other computed when it is asked for."""

from __future__ import annotations

from typing import Any, ClassVar

from ..errors import ArgumentValueError
from ..size import Size
from ..tensor import Tensor
from .utils import broadcast_all, lazy_property, logits_to_probs, probs_to_logits

NOT_ONE = "Either `probs` or `logits` must be specified, but not both."


def check_one_of(probs: Any, logits: Any) -> None:
    """Raise ValueError unless just one is given."""
    if (probs is None) == (logits is None):
        raise ArgumentValueError(NOT_ONE)


class Odds:
    """Probabilities of single events: ``probs`` in [0, 1], or ``logits``, their log-odds."""

    _batch_shape: Size
    _binary: ClassVar[bool] = True

    def _take_odds(self, probs: Any, logits: Any) -> None:
        check_one_of(probs, logits)
        name, value = ("probs", probs) if logits is None else ("logits", logits)
        setattr(self, name, broadcast_all(value)[0])

    @lazy_property
    def logits(self) -> Tensor:
        """Log-odds of ``probs``."""
        return probs_to_logits(self.probs, is_binary=self._binary)

    @lazy_property
    def probs(self) -> Tensor:
        """Probabilities of ``logits``."""
        return logits_to_probs(self.logits, is_binary=self._binary)

    @property
    def _param(self) -> Tensor:
        return self.__dict__["probs" if "probs" in self.__dict__ else "logits"]

    @_param.setter
    def _param(self, value: Tensor) -> None:
        """Subclasses' ``expand`` sets it as PyTorch's does, next to the one of ``probs`` and ``logits`` that it is."""

    @property
    def param_shape(self) -> Size:
        """The shape of the parameters."""
        return self._param.shape

    def _new(self, *args: Any, **kwargs: Any) -> Tensor:
        """An empty Tensor of the parameters' dtype."""
        return self._param.new_empty(*args, **kwargs)


class CategoryOdds(Odds):
    """Probabilities of categories along the last dimension, or their logarithms up to a constant; both normalised."""

    _binary = False

    def _take_odds(self, probs: Any, logits: Any) -> None:
        check_one_of(probs, logits)
        name, value = ("probs", probs) if logits is None else ("logits", logits)
        if value.dim() < 1:
            raise ArgumentValueError(f"`{name}` parameter must be at least one-dimensional.")
        normal = value / value.sum(-1, keepdim=True) if logits is None else value - value.logsumexp(-1, keepdim=True)
        setattr(self, name, normal)
