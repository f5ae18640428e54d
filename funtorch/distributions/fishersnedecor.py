"""The F distribution of Fisher and Snedecor."""

from __future__ import annotations

from typing import Any

import funtorch as torch

from ..tensor import Tensor
from . import constraints
from .distribution import Distribution
from .gamma import Gamma, kept_positive
from .utils import broadcast_all

__all__ = ["FisherSnedecor"]


class FisherSnedecor(Distribution):
    r"""The law of :math:`(A / d_1) / (B / d_2)` for independent :math:`A \sim \chi^2_{d_1}`, :math:`B \sim \chi^2_{d_2}`.

    Samples are PyTorch's from the same seed, and differentiable (see `Gamma`).

    Args:
        df1: :math:`d_1 > 0` (B), a number or a floating-point Tensor.
        df2: :math:`d_2 > 0` (B).

    Raises:
        ValueError: a parameter is not positive.

    >>> torch.distributions.FisherSnedecor(1.0, 4.0).mean
    tensor(2.)
    """

    arg_constraints = {"df1": constraints.positive, "df2": constraints.positive}
    support = constraints.positive
    has_rsample = True
    _expanded = {"df1": 0, "df2": 0}
    _parts = ("_gamma1", "_gamma2")

    def __init__(self, df1: Any, df2: Any, validate_args: bool | None = None) -> None:
        self.df1, self.df2 = broadcast_all(df1, df2)
        self._gamma1, self._gamma2 = Gamma(self.df1 * 0.5, self.df1), Gamma(self.df2 * 0.5, self.df2)
        super().__init__(self.df1.shape, validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """df2 / (df2 - 2); NaN for df2 <= 2."""
        df2 = torch.where(self.df2 > 2, self.df2, torch.nan)
        return df2 / (df2 - 2)

    @property
    def mode(self) -> Tensor:
        """(df1 - 2) df2 / (df1 (df2 + 2)); NaN for df1 <= 2."""
        mode = (self.df1 - 2) / self.df1 * self.df2 / (self.df2 + 2)
        return torch.where(self.df1 > 2, mode, torch.nan)

    @property
    def variance(self) -> Tensor:
        """2 df2^2 (df1 + df2 - 2) / (df1 (df2 - 2)^2 (df2 - 4)); NaN for df2 <= 4."""
        df1, df2 = self.df1, torch.where(self.df2 > 4, self.df2, torch.nan)
        return 2 * df2.pow(2) * (df1 + df2 - 2) / (df1 * (df2 - 2).pow(2) * (df2 - 4))

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        above = self._gamma1.rsample(sample_shape)
        return kept_positive(above / kept_positive(self._gamma2.rsample(sample_shape)))

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        a, b, ratio = self.df1 * 0.5, self.df2 * 0.5, self.df1 / self.df2
        log_beta = torch.lgamma(a) + torch.lgamma(b) - torch.lgamma(a + b)
        return a * ratio.log() + (a - 1) * torch.log(value) - (a + b) * torch.log1p(ratio * value) - log_beta
