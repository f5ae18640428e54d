"""Exponential families: the entropy from the derivative of the log normaliser."""

from __future__ import annotations

from typing import Any

import funtorch as torch

from ..errors import MissingError
from ..tensor import Tensor
from .distribution import Distribution

__all__ = ["ExponentialFamily"]


def _no_normalizer(self: Any, *natural_params: Tensor) -> Tensor:
    raise MissingError(f"{type(self)} does not define its log normalizer")


class ExponentialFamily(Distribution):
    r"""Densities :math:`p(x; \theta) = \exp(\langle t(x), \theta\rangle - F(\theta) + k(x))`.

    A family says its natural parameters, F, and the mean of k; the entropy follows from F and its gradient.

    >>> torch.distributions.ExponentialFamily.entropy(torch.distributions.Exponential(torch.tensor(1.0)))
    tensor(1.)
    """

    _log_normalizer: Any = _no_normalizer  # of each natural parameter

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        raise MissingError(f"{type(self)} does not define its natural parameters")

    @property
    def _mean_carrier_measure(self) -> Any:
        raise MissingError(f"{type(self)} does not define the mean of its carrier measure")

    def entropy(self) -> Tensor:
        r"""By Bregman's divergence: :math:`H = F(\theta) - \langle\theta, \nabla F(\theta)\rangle - E[k(x)]`."""
        theta = self._natural_params
        places = tuple(range(len(theta)))
        slopes = torch.func.grad(lambda *t: self._log_normalizer(*t).sum(), argnums=places)(*theta)
        result = self._log_normalizer(*theta) - self._mean_carrier_measure
        for parameter, slope in zip(theta, slopes, strict=True):
            result = result - (parameter * slope).reshape(*self._batch_shape, -1).sum(-1)
        return result
