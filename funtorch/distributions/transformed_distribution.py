"""The law of a transformed variable."""

from __future__ import annotations

from functools import reduce
from typing import Any

import funtorch as torch

from ..errors import ArgumentValueError
from ..size import Size
from ..tensor import Tensor
from . import constraints
from .distribution import Distribution
from .independent import Independent
from .transforms import ComposeTransform, Transform
from .utils import _sum_rightmost

__all__ = ["TransformedDistribution"]


class TransformedDistribution(Distribution):
    r"""The law of y = f(x) for x of a base: :math:`\log p(y) = \log p(f^{-1}(y)) - \log|\det \partial y / \partial x|`.

    Args:
        base_distribution: the law of x.
        transforms: a `Transform`, or a list of them, the first to be applied first.

    Raises:
        ValueError: these are no Transforms, or need events of more dimensions than x has.

    >>> d = torch.distributions
    >>> d.TransformedDistribution(d.Normal(0.0, 1.0), [d.ExpTransform()]).log_prob(torch.tensor(1.0))
    tensor(-0.9189)
    """

    arg_constraints: dict[str, Any] = {}

    def __init__(
        self, base_distribution: Distribution, transforms: Transform | list[Transform], validate_args: bool | None = None
    ) -> None:
        self.transforms = self._listed(transforms)
        transform = ComposeTransform(self.transforms)
        base_shape, needed = base_distribution.batch_shape + base_distribution.event_shape, transform.domain.event_dim
        if len(base_shape) < needed:
            raise ArgumentValueError(f"base_distribution needs to have shape with size at least {needed}, but got {base_shape}.")
        shape = Size(transform.forward_shape(base_shape))
        full = Size(transform.inverse_shape(shape))
        if full != base_shape:  # parameters of the transforms have made more of it
            base_distribution = base_distribution.expand(full[: len(full) - len(base_distribution.event_shape)])
        missing = needed - len(base_distribution.event_shape)
        self.base_dist = Independent(base_distribution, missing) if missing > 0 else base_distribution
        kept = len(shape) - transform.codomain.event_dim - max(-missing, 0)
        super().__init__(shape[:kept], shape[kept:], validate_args=validate_args)

    @staticmethod
    def _listed(transforms: Any) -> list[Transform]:
        if isinstance(transforms, Transform):
            return [transforms]
        if not isinstance(transforms, list):
            raise ArgumentValueError(f"transforms must be a Transform or list, but was {transforms}")
        if not all(isinstance(t, Transform) for t in transforms):
            raise ArgumentValueError("transforms must be a Transform or a list of Transforms")
        return transforms

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = self._get_checked_instance(TransformedDistribution, _instance)
        batch_shape = Size(batch_shape)
        shape = ComposeTransform(self.transforms).inverse_shape(batch_shape + self.event_shape)
        new.transforms = self.transforms
        new.base_dist = self.base_dist.expand(Size(shape)[: len(shape) - len(self.base_dist.event_shape)])
        Distribution.__init__(new, batch_shape, self.event_shape, validate_args=False)
        new._validate_args = self._validate_args
        return new

    @constraints.dependent_property(is_discrete=False)
    def support(self) -> Any:
        """The last transform's codomain."""
        if not self.transforms:
            return self.base_dist.support
        found = self.transforms[-1].codomain
        missing = len(self.event_shape) - found.event_dim
        return constraints.independent(found, missing) if missing > 0 else found

    @property
    def has_rsample(self) -> bool:  # type: ignore[override]
        """Whether the base has."""
        return self.base_dist.has_rsample

    def _forward(self, x: Tensor) -> Tensor:
        return reduce(lambda value, transform: transform(value), self.transforms, x)

    def _backward(self, y: Tensor) -> Tensor:
        return reduce(lambda value, transform: transform.inv(value), reversed(self.transforms), y)

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with torch.no_grad():
            return self._forward(self.base_dist.sample(sample_shape))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        return self._forward(self.base_dist.rsample(sample_shape))

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        dims, total, y = len(self.event_shape), 0.0, value
        for transform in reversed(self.transforms):
            x = transform.inv(y)
            dims += transform.domain.event_dim - transform.codomain.event_dim
            total = total - _sum_rightmost(transform.log_abs_det_jacobian(x, y), dims - transform.domain.event_dim)
            y = x
        return total + _sum_rightmost(self.base_dist.log_prob(y), dims - len(self.base_dist.event_shape))

    def _rising(self, share: Tensor) -> Tensor:
        """A probability, or 1 less it where the transforms decrease."""
        sign = reduce(lambda product, transform: product * transform.sign, self.transforms, 1)
        return share if isinstance(sign, int) and sign == 1 else sign * (share - 0.5) + 0.5

    def cdf(self, value: Tensor) -> Tensor:
        if self._validate_args:
            self.base_dist._validate_sample(self._backward(value))
        return self._rising(self.base_dist.cdf(self._backward(value)))

    def icdf(self, value: Tensor) -> Tensor:
        return self._forward(self.base_dist.icdf(self._rising(value)))
