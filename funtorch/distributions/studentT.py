"""Student's t distribution."""  # noqa: N999

from __future__ import annotations

import math
from typing import Any

import funtorch as torch

from ..tensor import Tensor
from . import constraints
from .chi2 import Chi2
from .distribution import Distribution
from .utils import _standard_normal, broadcast_all

__all__ = ["StudentT"]


class StudentT(Distribution):
    r"""Student's t: :math:`p(x) \propto (1 + y^2 / \nu)^{-(\nu + 1) / 2}`, :math:`y = (x - \mu) / \sigma`.

    Samples are PyTorch's from the same seed, and differentiable (see `Gamma`).

    Args:
        df: :math:`\nu > 0` (B), degrees of freedom, a number or a floating-point Tensor.
        loc: :math:`\mu` (B).
        scale: :math:`\sigma > 0` (B).

    Raises:
        ValueError: ``df`` or ``scale`` is not positive.

    >>> torch.distributions.StudentT(4.0).variance
    tensor(2.)
    """

    arg_constraints = {"df": constraints.positive, "loc": constraints.real, "scale": constraints.positive}
    support = constraints.real
    has_rsample = True
    _expanded = {"df": 0, "loc": 0, "scale": 0}
    _parts = ("_chi2",)

    def __init__(self, df: Any, loc: Any = 0.0, scale: Any = 1.0, validate_args: bool | None = None) -> None:
        self.df, self.loc, self.scale = broadcast_all(df, loc, scale)
        self._chi2 = Chi2(self.df)
        super().__init__(self.df.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """loc; NaN for df <= 1."""
        return torch.where(self.df <= 1, torch.nan, self.loc)

    @property
    def mode(self) -> Tensor:
        """loc."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """scale^2 df / (df - 2); infinite for df in (1, 2], NaN below."""
        finite = self.df > 2
        df = torch.where(finite, self.df, 3.0)
        found = torch.where(finite, self.scale**2 * df / (df - 2), torch.inf)
        return torch.where(self.df > 1, found, torch.nan)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        # The normals come first, as in PyTorch.
        normal = _standard_normal(self._extended_shape(sample_shape), self.df.dtype, self.df.device)
        return self.loc + self.scale * (normal * torch.rsqrt(self._chi2.rsample(sample_shape) / self.df))

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        y, half = (value - self.loc) / self.scale, 0.5 * self.df
        normalizer = 0.5 * (self.df * math.pi).log() + torch.lgamma(half) - torch.lgamma(half + 0.5)
        return -(half + 0.5) * torch.log1p(y**2 / self.df) - normalizer - self.scale.log()

    def entropy(self) -> Tensor:
        half = 0.5 * self.df
        log_beta = torch.lgamma(half) + math.lgamma(0.5) - torch.lgamma(half + 0.5)
        slope = torch.digamma(half + 0.5) - torch.digamma(half)
        return self.scale.log() + (half + 0.5) * slope + 0.5 * self.df.log() + log_beta
