"""The Wishart distribution."""

from __future__ import annotations

import math
from typing import Any

import funtorch as torch

from ..cautions import caution
from ..errors import ArgumentValueError
from ..size import Size
from ..tensor import Tensor
from . import constraints
from ._asserted import AssertedError
from ._matrices import inverse_of_square, log_diagonal, root_of_inverse
from ._validity import holds
from .chi2 import Chi2
from .exp_family import ExponentialFamily
from .multivariate_normal import given_matrix
from .utils import lazy_property

__all__ = ["Wishart"]

LOW_DF = "Low df values detected. Singular samples are highly likely to occur for ndim - 1 < df < ndim."


class Wishart(ExponentialFamily):
    r"""Positive definite matrices: the law of :math:`\sum_{i=1}^{\nu} x_i x_i^T` for normal vectors of covariance V.

    Samples are Bartlett's (1933), as PyTorch draws them from the same seed.

    Args:
        df: :math:`\nu > K - 1` (B), degrees of freedom, a number or a Tensor.
        covariance_matrix: V (B, K, K), positive definite.
        precision_matrix: its inverse, instead.
        scale_tril: its lower triangular factor, instead.

    Raises:
        ValueError: not just one matrix is given, it is no matrix or not as it must be, or ``df`` is too small.

    >>> torch.distributions.Wishart(torch.tensor(3.0), torch.eye(2)).mean
    tensor([[3., 0.],
            [0., 3.]])
    """

    support = constraints.positive_definite
    has_rsample = True
    _expanded = {
        "df": 0, "covariance_matrix": 2, "precision_matrix": 2, "scale_tril": 2, "_unbroadcasted_scale_tril": 2,
    }  # fmt: skip
    _mean_carrier_measure = 0
    _unbroadcasted_scale_tril: Tensor

    def __init__(
        self, df: Any, covariance_matrix: Any = None, precision_matrix: Any = None, scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        try:
            name, matrix = given_matrix(covariance_matrix, precision_matrix, scale_tril)
        except ArgumentValueError as error:
            raise AssertedError(str(error)) from None
        if matrix.dim() < 2:
            raise ArgumentValueError(f"{name} must be at least two-dimensional, with optional leading batch dimensions")
        df = df if isinstance(df, Tensor) else torch.tensor(df, dtype=matrix.dtype, device=matrix.device)
        batch_shape, n = torch.broadcast_shapes(df.shape, matrix.shape[:-2]), matrix.shape[-1]
        if not holds(~(df <= n - 1)):  # NaN breaks the constraint, which says so
            raise ArgumentValueError(f"Value of df={df} expected to be greater than ndim - 1 = {n - 1}.")
        self.df = df.expand(batch_shape)
        setattr(self, name, matrix.expand(*batch_shape, -1, -1))
        if not holds(df >= n):
            caution(LOW_DF)
        super().__init__(batch_shape, Size((n, n)), validate_args=validate_args)
        roots = {"scale_tril": lambda m: m, "covariance_matrix": torch.linalg.cholesky, "precision_matrix": root_of_inverse}
        self._unbroadcasted_scale_tril = roots[name](matrix)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        return new

    @property
    def arg_constraints(self) -> dict[str, Any]:  # type: ignore[override]
        """That of df depends on the size of the matrix."""
        return {
            "covariance_matrix": constraints.positive_definite,
            "precision_matrix": constraints.positive_definite,
            "scale_tril": constraints.lower_cholesky,
            "df": constraints.greater_than(self._event_shape[-1] - 1),
        }

    @lazy_property
    def scale_tril(self) -> Tensor:
        """V's lower triangular factor (B, K, K)."""
        return self._unbroadcasted_scale_tril.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """V (B, K, K)."""
        root = self._unbroadcasted_scale_tril
        return (root @ root.mT).expand(self._batch_shape + self._event_shape)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """V's inverse (B, K, K)."""
        return inverse_of_square(self._unbroadcasted_scale_tril).expand(self._batch_shape + self._event_shape)

    def _df_of_matrix(self) -> Tensor:
        return self.df.reshape(*self._batch_shape, 1, 1)

    @property
    def mean(self) -> Tensor:
        """df V."""
        return self._df_of_matrix() * self.covariance_matrix

    @property
    def mode(self) -> Tensor:
        """(df - K - 1) V; NaN where that is not positive."""
        factor = self._df_of_matrix() - self.covariance_matrix.shape[-1] - 1
        return torch.where(factor > 0, factor, torch.nan) * self.covariance_matrix

    @property
    def variance(self) -> Tensor:
        """df (V_ij^2 + V_ii V_jj)."""
        v = self.covariance_matrix
        diagonal = v.diagonal(dim1=-2, dim2=-1)
        return self._df_of_matrix() * (v.pow(2) + diagonal.unsqueeze(-1) * diagonal.unsqueeze(-2))

    @property
    def _squares(self) -> Chi2:
        """The laws of the squares on the diagonal of Bartlett's factor: chi-squared of df, df - 1, ..."""
        steps = torch.arange(self._event_shape[-1], dtype=self.df.dtype, device=self.df.device)
        return Chi2(self.df.unsqueeze(-1) - steps, validate_args=False)

    def _bartlett_sampling(self, sample_shape: Any) -> Tensor:
        n = self._event_shape[-1]
        noise = torch.diag_embed(self._squares.rsample(sample_shape).sqrt())
        shape = self._extended_shape(sample_shape)
        rows, columns = torch.tril_indices(n, n, -1)
        below = torch.zeros_like(noise)
        below[..., rows, columns] = torch.randn(*shape[:-2], n * (n - 1) // 2, dtype=noise.dtype, device=noise.device)
        root = self._unbroadcasted_scale_tril @ (noise + below)
        return root @ root.mT

    def rsample(self, sample_shape: Any = (), max_try_correction: int | None = None) -> Tensor:
        """Matrices (sample_shape, B, K, K); singular ones are drawn again, ``max_try_correction`` (default 3) times at most."""
        sample = self._bartlett_sampling(sample_shape)
        for attempt in range(3 if max_try_correction is None else max_try_correction):
            # PyTorch's first test is the wrong way round: it draws all again that are not singular, and so its numbers are these.
            valid = self.support.check(sample) & (attempt > 0)
            if holds(valid):
                break
            sample = torch.where(valid.unsqueeze(-1).unsqueeze(-1), sample, self._bartlett_sampling(sample_shape))
        return sample

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        nu, p, root = self.df, self._event_shape[-1], self._unbroadcasted_scale_tril
        trace = torch.cholesky_solve(value, root).diagonal(dim1=-2, dim2=-1).sum(-1)  # of V^-1 x
        normalizer = nu * (p * math.log(2) / 2 + log_diagonal(root)) + torch.mvlgamma(nu / 2, p)
        return (nu - p - 1) / 2 * torch.linalg.slogdet(value).logabsdet - trace / 2 - normalizer

    def entropy(self) -> Tensor:
        nu, p = self.df, self._event_shape[-1]
        steps = torch.arange(p, dtype=nu.dtype, device=nu.device)
        digammas = torch.digamma((nu.unsqueeze(-1) - steps) / 2).sum(-1)
        volume = (p + 1) * (p * math.log(2) / 2 + log_diagonal(self._unbroadcasted_scale_tril))
        return volume + torch.mvlgamma(nu / 2, p) - (nu - p - 1) / 2 * digammas + nu * p / 2

    @property
    def _natural_params(self) -> tuple[Tensor, ...]:
        return -self.precision_matrix / 2, (self.df - self._event_shape[-1] - 1) / 2

    def _log_normalizer(self, x: Tensor, y: Tensor) -> Tensor:
        p = self._event_shape[-1]
        half = y + (p + 1) / 2
        return half * (p * math.log(2) - torch.linalg.slogdet(-2 * x).logabsdet) + torch.mvlgamma(half, p)
