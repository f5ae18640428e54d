"""Transforms of single numbers that have parameters: straight lines and distribution functions."""

from __future__ import annotations

import math
from typing import Any

import funtorch as torch

from ...size import Size
from ...tensor import Tensor
from .. import constraints
from ..distribution import Distribution
from ..utils import _sum_rightmost
from .transform import Transform

__all__ = ["AffineTransform", "CumulativeDistributionTransform"]


class AffineTransform(Transform):
    """y = loc + scale x.

    Args:
        loc: a number or a Tensor that broadcasts with x.
        scale: likewise, not zero.
        event_dim: how many of the last dimensions make one event.
        cache_size: see `Transform`.

    >>> torch.distributions.AffineTransform(1.0, 2.0)(torch.tensor(3.0))
    tensor(7.)
    """

    bijective = True

    def __init__(self, loc: Any, scale: Any, event_dim: int = 0, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.loc, self.scale, self._event_dim = loc, scale, event_dim

    @property
    def event_dim(self) -> int:
        """As given."""
        return self._event_dim

    @constraints.dependent_property(is_discrete=False)
    def domain(self) -> Any:
        """Any numbers."""
        return constraints.independent(constraints.real, self.event_dim) if self.event_dim else constraints.real

    @constraints.dependent_property(is_discrete=False)
    def codomain(self) -> Any:
        """Any numbers."""
        return constraints.independent(constraints.real, self.event_dim) if self.event_dim else constraints.real

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else AffineTransform(self.loc, self.scale, self.event_dim, cache_size)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, AffineTransform):
            return False
        pairs = ((self.loc, other.loc), (self.scale, other.scale))
        return all(bool(torch.as_tensor(a == b).all()) for a, b in pairs)

    __hash__ = Transform.__hash__

    @property
    def sign(self) -> Any:
        """That of the scale."""
        if isinstance(self.scale, Tensor):
            return self.scale.sign()
        return 1 if float(self.scale) > 0 else -1 if float(self.scale) < 0 else 0

    def _call(self, x: Tensor) -> Tensor:
        return self.loc + self.scale * x

    def _inverse(self, y: Tensor) -> Tensor:
        return (y - self.loc) / self.scale

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        if isinstance(self.scale, Tensor):
            each = self.scale.abs().log().expand(torch.broadcast_shapes(x.shape, self.scale.shape))
        else:
            each = torch.full_like(x, math.log(abs(self.scale)))
        return _sum_rightmost(each, self.event_dim).expand(x.shape[: x.dim() - self.event_dim])

    def forward_shape(self, shape: Any) -> Size:
        return torch.broadcast_shapes(shape, getattr(self.loc, "shape", ()), getattr(self.scale, "shape", ()))

    def inverse_shape(self, shape: Any) -> Size:
        return self.forward_shape(shape)


class CumulativeDistributionTransform(Transform):
    """y = P(X <= x) of a distribution of single numbers.

    Args:
        distribution: gives `cdf`, `icdf` and `log_prob`.
        cache_size: see `Transform`.

    >>> d = torch.distributions
    >>> d.CumulativeDistributionTransform(d.Normal(0.0, 1.0))(torch.tensor(0.0))
    tensor(0.5000)
    """

    bijective = True
    codomain = constraints.unit_interval
    sign = +1

    def __init__(self, distribution: Distribution, cache_size: int = 0) -> None:
        super().__init__(cache_size=cache_size)
        self.distribution = distribution

    @property
    def domain(self) -> Any:  # type: ignore[override]
        """The distribution's support."""
        return self.distribution.support

    def _call(self, x: Tensor) -> Tensor:
        return self.distribution.cdf(x)

    def _inverse(self, y: Tensor) -> Tensor:
        return self.distribution.icdf(y)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return self.distribution.log_prob(x)

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else CumulativeDistributionTransform(self.distribution, cache_size)
