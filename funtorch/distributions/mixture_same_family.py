"""Mixtures of distributions of one family."""

from __future__ import annotations

from typing import Any

import funtorch as torch

from ..errors import ArgumentValueError
from ..size import Size
from ..tensor import Tensor
from . import constraints
from .categorical import Categorical
from .distribution import Distribution

__all__ = ["MixtureSameFamily"]


class MixtureSameFamily(Distribution):
    r"""A mixture: :math:`p(x) = \sum_k w_k\, p_k(x)`. Samples are PyTorch's from the same seed, and have no gradient.

    Args:
        mixture_distribution: a `Categorical` with the weights w (B, K).
        component_distribution: K components along the last dimension of its batch shape (B, K).

    Raises:
        ValueError: an argument is of another type, or their batch shapes do not fit.

    >>> d = torch.distributions
    >>> d.MixtureSameFamily(d.Categorical(torch.ones(2)), d.Normal(torch.tensor([0.0, 4.0]), 1.0)).mean
    tensor(2.)
    """

    arg_constraints: dict[str, Any] = {}
    has_rsample = False
    _num_component: int

    def __init__(
        self, mixture_distribution: Categorical, component_distribution: Distribution, validate_args: bool | None = None
    ) -> None:
        self._check_types(mixture_distribution, component_distribution)
        self._mixture_distribution, self._component_distribution = mixture_distribution, component_distribution
        batch, components = component_distribution.batch_shape[:-1], component_distribution.batch_shape[-1]
        for a, b in zip(reversed(mixture_distribution.batch_shape), reversed(batch), strict=False):
            if a != b and 1 not in (a, b):
                raise ArgumentValueError(
                    f"`mixture_distribution.batch_shape` ({mixture_distribution.batch_shape}) is not compatible with "
                    f"`component_distribution.batch_shape`({batch})"
                )
        count = mixture_distribution.logits.shape[-1]
        if count != components:
            raise ArgumentValueError(
                f"`mixture_distribution component` ({count}) does not equal `component_distribution.batch_shape[-1]` ({components})"
            )
        self._num_component = count
        super().__init__(batch, component_distribution.event_shape, validate_args=validate_args)

    @staticmethod
    def _check_types(mixture: Any, component: Any) -> None:
        if not isinstance(mixture, Categorical):
            raise ArgumentValueError(" The Mixture distribution needs to be an  instance of torch.distributions.Categorical")
        if not isinstance(component, Distribution):
            raise ArgumentValueError("The Component distribution needs to be an instance of torch.distributions.Distribution")
        if not component.batch_shape:
            raise ArgumentValueError("MixtureSameFamily(): component_distribution needs a batch dimension, one entry a component")

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(MixtureSameFamily, _instance)
        batch_shape = Size(batch_shape)
        new._num_component = self._num_component
        new._component_distribution = self._component_distribution.expand((*batch_shape, self._num_component))
        new._mixture_distribution = self._mixture_distribution.expand(batch_shape)
        super(MixtureSameFamily, new).__init__(batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property
    def support(self) -> Any:
        """That of the components."""
        return constraints.MixtureSameFamilyConstraint(self._component_distribution.support)

    @property
    def mixture_distribution(self) -> Categorical:
        """The distribution of the component's index."""
        return self._mixture_distribution

    @property
    def component_distribution(self) -> Distribution:
        """The components."""
        return self._component_distribution

    def _weights(self) -> Tensor:
        """Of the components: (B, K, 1, ...), with ones for the dimensions of an event."""
        probs = self.mixture_distribution.probs
        return probs.reshape(*probs.shape, *[1] * len(self._event_shape))

    def _mix(self, of_components: Tensor) -> Tensor:
        return (self._weights() * of_components).sum(-1 - len(self._event_shape))

    @property
    def mean(self) -> Tensor:
        """The components' means, weighted."""
        return self._mix(self.component_distribution.mean)

    @property
    def variance(self) -> Tensor:
        """The mean of the variances and the variance of the means."""
        apart = self.component_distribution.mean - self._pad(self.mean)
        return self._mix(self.component_distribution.variance) + self._mix(apart.pow(2))

    def cdf(self, x: Tensor) -> Tensor:  # type: ignore[override]
        below = self.component_distribution.cdf(self._pad(x))
        return (below * self.mixture_distribution.probs).sum(-1)

    def log_prob(self, x: Tensor) -> Tensor:  # type: ignore[override]
        self._checked(x)
        logs = self.component_distribution.log_prob(self._pad(x))  # (S, B, K)
        return torch.logsumexp(logs + torch.log_softmax(self.mixture_distribution.logits, dim=-1), dim=-1)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        dim, events = len(Size(sample_shape)) + len(self._batch_shape), len(self._event_shape)
        with torch.no_grad():
            index = self._mixture_of_batch().sample(sample_shape)  # (S, B)
            values = self.component_distribution.sample(sample_shape)  # (S, B, K, E)
            index = index.reshape(*index.shape, *[1] * (events + 1)).expand(*values.shape[:dim], 1, *values.shape[dim + 1 :])
            return values.gather(dim, index).squeeze(dim)

    def _mixture_of_batch(self) -> Categorical:
        mixture = self.mixture_distribution
        return mixture if mixture.batch_shape == self._batch_shape else mixture.expand(self._batch_shape)

    def _pad(self, value: Tensor) -> Tensor:
        return value.unsqueeze(-1 - len(self._event_shape))

    def __repr__(self) -> str:
        return f"MixtureSameFamily(\n  {self.mixture_distribution},\n  {self.component_distribution})"
