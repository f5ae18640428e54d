"""Constraints on vectors and matrices."""

from __future__ import annotations

from typing import Any

import funtorch as torch

from ...tensor import Tensor
from .constraint import Constraint
from .numbers import _Boolean

SUM_TOLERANCE = SYMMETRY_TOLERANCE = 1e-6


class _OneHot(Constraint):
    """A vector with a single one among zeros."""

    is_discrete = True
    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return _Boolean().check(value).all(-1) & (value.sum(-1) == 1)


class _Simplex(Constraint):
    """A vector of nonnegative numbers that add up to one."""

    event_dim = 1

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < SUM_TOLERANCE)


class _Multinomial(Constraint):
    """A vector of nonnegative numbers that add up to ``upper_bound`` at most."""

    is_discrete = True
    event_dim = 1

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Tensor) -> Tensor:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


def _whole_matrix(valid: Tensor) -> Tensor:
    return valid.all(-1).all(-1)


class _LowerTriangular(Constraint):
    """A matrix with zeros above its diagonal."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return _whole_matrix(value.tril() == value)


class _LowerCholesky(Constraint):
    """A lower triangular matrix with a positive diagonal."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return _whole_matrix(value.tril() == value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(Constraint):
    """A lower triangular matrix with a positive diagonal and rows of length one."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        tolerance = torch.finfo(value.dtype).eps * value.shape[-1] * 10
        lengths = torch.linalg.vector_norm(value, dim=-1)
        return _LowerCholesky().check(value) & ((lengths - 1).abs() <= tolerance).all(-1)


class _Square(Constraint):
    """A square matrix."""

    event_dim = 2

    def check(self, value: Tensor) -> Tensor:
        return torch.full(value.shape[:-2], value.shape[-2] == value.shape[-1], dtype=torch.bool, device=value.device)


class _Symmetric(_Square):
    """A symmetric matrix."""

    def check(self, value: Tensor) -> Tensor:
        if value.shape[-2] != value.shape[-1]:
            return super().check(value)
        return _whole_matrix(torch.isclose(value, value.mT, atol=SYMMETRY_TOLERANCE))


class _PositiveSemidefinite(_Symmetric):
    """A symmetric matrix without negative eigenvalues."""

    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        if value.shape[-2] != value.shape[-1]:
            return symmetric
        return symmetric & (torch.linalg.eigvalsh(value.detach()) >= 0).all(-1)


class _PositiveDefinite(_Symmetric):
    """A symmetric matrix with positive eigenvalues only."""

    def check(self, value: Tensor) -> Tensor:
        symmetric = super().check(value)
        if value.shape[-2] != value.shape[-1]:
            return symmetric
        return symmetric & (torch.linalg.cholesky_ex(value.detach()).info == 0)
