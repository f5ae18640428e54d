"""The multivariate normal distribution with a covariance of low rank plus a diagonal."""

from __future__ import annotations

import math
from typing import Any

import funtorch as torch

from ..errors import ArgumentValueError
from ..size import Size
from ..tensor import Tensor
from . import constraints
from ._matrices import log_diagonal, mahalanobis, times
from .distribution import Distribution
from .utils import _standard_normal, lazy_property

__all__ = ["LowRankMultivariateNormal"]


def _batch_capacitance_tril(W: Tensor, D: Tensor) -> Tensor:
    """The lower triangular factor of I + W^T D^-1 W, for W (B, K, R) and D (B, K)."""
    identity = torch.eye(W.shape[-1], dtype=W.dtype, device=W.device)
    return torch.linalg.cholesky(torch.matmul(W.mT / D.unsqueeze(-2), W) + identity)


def _batch_lowrank_logdet(W: Tensor, D: Tensor, capacitance_tril: Tensor) -> Tensor:
    """The log-determinant of W W^T + D: (B)."""
    return 2 * log_diagonal(capacitance_tril) + D.log().sum(-1)


def _batch_lowrank_mahalanobis(W: Tensor, D: Tensor, x: Tensor, capacitance_tril: Tensor) -> Tensor:
    """x^T (W W^T + D)^-1 x for x (S, B, K): (S, B)."""
    return (x.pow(2) / D).sum(-1) - mahalanobis(capacitance_tril, times(W.mT / D.unsqueeze(-2), x))


class LowRankMultivariateNormal(Distribution):
    r"""Normal vectors of covariance :math:`W W^T + D`, through matrices of W's rank alone.

    Inverse and determinant follow from those of the capacitance :math:`C = I + W^T D^{-1} W` (Woodbury). Samples are PyTorch's
    from the same seed.

    Args:
        loc: the mean (B, K).
        cov_factor: W (B, K, R).
        cov_diag: the diagonal of D (B, K), positive.

    Raises:
        ValueError: a dimension is missing, the sizes differ, or ``cov_diag`` is not positive.

    >>> d = torch.distributions.LowRankMultivariateNormal(torch.zeros(2), torch.ones(2, 1), torch.ones(2))
    >>> d.covariance_matrix
    tensor([[2., 1.],
            [1., 2.]])
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "cov_factor": constraints.independent(constraints.real, 2),
        "cov_diag": constraints.independent(constraints.positive, 1),
    }
    support = constraints.real_vector
    has_rsample = True
    _expanded = {
        "loc": 1, "cov_factor": 2, "cov_diag": 1, "scale_tril": 2, "covariance_matrix": 2, "precision_matrix": 2,
    }  # fmt: skip
    _kept = ("_unbroadcasted_cov_factor", "_unbroadcasted_cov_diag", "_capacitance_tril")

    def __init__(self, loc: Tensor, cov_factor: Tensor, cov_diag: Tensor, validate_args: bool | None = None) -> None:
        self._check_shapes(loc, cov_factor, cov_diag)
        self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag = cov_factor, cov_diag
        batch_shape = torch.broadcast_shapes(loc.shape[:-1], cov_factor.shape[:-2], cov_diag.shape[:-1])
        self.loc, self.cov_diag = loc.expand(*batch_shape, -1), cov_diag.expand(*batch_shape, -1)
        self.cov_factor = cov_factor.expand(*batch_shape, -1, -1)
        self._capacitance_tril = _batch_capacitance_tril(cov_factor, cov_diag)
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)

    @staticmethod
    def _check_shapes(loc: Tensor, cov_factor: Tensor, cov_diag: Tensor) -> None:
        if loc.dim() < 1:
            raise ArgumentValueError("loc must be at least one-dimensional.")
        if cov_factor.dim() < 2:
            raise ArgumentValueError("cov_factor must be at least two-dimensional, with optional leading batch dimensions")
        if cov_factor.shape[-2:-1] != loc.shape[-1:]:
            raise ArgumentValueError(f"cov_factor must be a batch of matrices with shape {loc.shape[-1]} x m")
        if cov_diag.shape[-1:] != loc.shape[-1:]:
            raise ArgumentValueError(f"cov_diag must be a batch of vectors with shape {loc.shape[-1:]}")

    def _square(self) -> Size:
        return self._batch_shape + self._event_shape + self._event_shape

    @property
    def mean(self) -> Tensor:
        """loc."""
        return self.loc

    @property
    def mode(self) -> Tensor:
        """loc."""
        return self.loc

    @property
    def variance(self) -> Tensor:
        """The covariance's diagonal."""
        found = self._unbroadcasted_cov_factor.pow(2).sum(-1) + self._unbroadcasted_cov_diag
        return found.expand(self._batch_shape + self._event_shape)

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The covariance's lower triangular factor (B, K, K)."""
        # D^1/2 times the factor of I + D^-1/2 W W^T D^-1/2 is well conditioned where D is small.
        root = self._unbroadcasted_cov_diag.sqrt().unsqueeze(-1)
        scaled = self._unbroadcasted_cov_factor / root
        inner = torch.matmul(scaled, scaled.mT) + torch.eye(self._event_shape[0], dtype=scaled.dtype, device=scaled.device)
        return (root * torch.linalg.cholesky(inner)).expand(self._square())

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """W W^T + D (B, K, K)."""
        factor = self._unbroadcasted_cov_factor
        return (torch.matmul(factor, factor.mT) + torch.diag_embed(self._unbroadcasted_cov_diag)).expand(self._square())

    def _scaled(self) -> Tensor:
        """W^T D^-1 (B, R, K)."""
        return self._unbroadcasted_cov_factor.mT / self._unbroadcasted_cov_diag.unsqueeze(-2)

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The covariance's inverse (B, K, K)."""
        half = torch.linalg.solve_triangular(self._capacitance_tril, self._scaled(), upper=False)
        found = torch.diag_embed(self._unbroadcasted_cov_diag.reciprocal()) - torch.matmul(half.mT, half)
        return found.expand(self._square())

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        shape, rank = self._extended_shape(sample_shape), self.cov_factor.shape[-1]
        of_factor = _standard_normal((*shape[:-1], rank), self.loc.dtype, self.loc.device)
        of_diag = _standard_normal(shape, self.loc.dtype, self.loc.device)
        return self.loc + times(self._unbroadcasted_cov_factor, of_factor) + self._unbroadcasted_cov_diag.sqrt() * of_diag

    def _log_determinant(self) -> Tensor:
        return _batch_lowrank_logdet(self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag, self._capacitance_tril)

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        distance = _batch_lowrank_mahalanobis(
            self._unbroadcasted_cov_factor, self._unbroadcasted_cov_diag, value - self.loc, self._capacitance_tril
        )  # fmt: skip
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + self._log_determinant() + distance)

    def entropy(self) -> Tensor:
        found = 0.5 * (self._event_shape[0] * (1.0 + math.log(2 * math.pi)) + self._log_determinant())
        return found.expand(self._batch_shape)
