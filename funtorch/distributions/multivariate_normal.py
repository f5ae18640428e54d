"""The multivariate normal distribution."""

from __future__ import annotations

import math
from typing import Any

import funtorch as torch

from ..errors import ArgumentValueError
from ..size import Size
from ..tensor import Tensor
from . import constraints
from ._matrices import inverse_of_square, log_diagonal, mahalanobis, root_of_inverse, times
from ._matrices import mahalanobis as _batch_mahalanobis  # noqa: F401
from ._matrices import root_of_inverse as _precision_to_scale_tril  # noqa: F401
from ._matrices import times as _batch_mv  # noqa: F401
from .distribution import Distribution
from .utils import _standard_normal, lazy_property

__all__ = ["MultivariateNormal"]

NOT_ONE = "Exactly one of covariance_matrix or precision_matrix or scale_tril may be specified."


def given_matrix(covariance_matrix: Any, precision_matrix: Any, scale_tril: Any) -> tuple[str, Any]:
    """The name and the value of the one that is given. Raises ValueError if it is not just one."""
    named = {"covariance_matrix": covariance_matrix, "scale_tril": scale_tril, "precision_matrix": precision_matrix}
    found = [(name, value) for name, value in named.items() if value is not None]
    if len(found) != 1:
        raise ArgumentValueError(NOT_ONE)
    return found[0]


class MultivariateNormal(Distribution):
    r"""Normal vectors: :math:`p(x) \propto e^{-(x - \mu)^T \Sigma^{-1} (x - \mu) / 2}`. Samples are PyTorch's from the same seed.

    Args:
        loc: :math:`\mu` (B, K).
        covariance_matrix: :math:`\Sigma` (B, K, K), positive definite.
        precision_matrix: its inverse, instead.
        scale_tril: its lower triangular factor L, with a positive diagonal, instead; the cheapest of the three.

    Raises:
        ValueError: not just one matrix is given, a dimension is missing, or the matrix is not as it must be.

    >>> d = torch.distributions.MultivariateNormal(torch.zeros(2), torch.eye(2))
    >>> d.log_prob(torch.zeros(2))
    tensor(-1.8379)
    """

    arg_constraints = {
        "loc": constraints.real_vector,
        "covariance_matrix": constraints.positive_definite,
        "precision_matrix": constraints.positive_definite,
        "scale_tril": constraints.lower_cholesky,
    }
    support = constraints.real_vector
    has_rsample = True
    _expanded = {"loc": 1, "covariance_matrix": 2, "precision_matrix": 2, "scale_tril": 2, "_unbroadcasted_scale_tril": 2}
    _unbroadcasted_scale_tril: Tensor

    def __init__(
        self, loc: Tensor, covariance_matrix: Any = None, precision_matrix: Any = None, scale_tril: Any = None,
        validate_args: bool | None = None,
    ) -> None:  # fmt: skip
        if loc.dim() < 1:
            raise ArgumentValueError("loc must be at least one-dimensional.")
        name, matrix = given_matrix(covariance_matrix, precision_matrix, scale_tril)
        if matrix.dim() < 2:
            shown = "scale_tril matrix" if name == "scale_tril" else name
            raise ArgumentValueError(f"{shown} must be at least two-dimensional, with optional leading batch dimensions")
        batch_shape = torch.broadcast_shapes(matrix.shape[:-2], loc.shape[:-1])
        setattr(self, name, matrix.expand(*batch_shape, -1, -1))
        self.loc = loc.expand(*batch_shape, -1)
        super().__init__(batch_shape, self.loc.shape[-1:], validate_args=validate_args)
        roots = {"scale_tril": lambda m: m, "covariance_matrix": torch.linalg.cholesky, "precision_matrix": root_of_inverse}
        self._unbroadcasted_scale_tril = roots[name](matrix)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new._unbroadcasted_scale_tril = self._unbroadcasted_scale_tril
        return new

    def _square(self) -> Size:
        return self._batch_shape + self._event_shape + self._event_shape

    @lazy_property
    def scale_tril(self) -> Tensor:
        """The covariance's lower triangular factor (B, K, K)."""
        return self._unbroadcasted_scale_tril.expand(self._square())

    @lazy_property
    def covariance_matrix(self) -> Tensor:
        """The covariance (B, K, K)."""
        root = self._unbroadcasted_scale_tril
        return torch.matmul(root, root.mT).expand(self._square())

    @lazy_property
    def precision_matrix(self) -> Tensor:
        """The covariance's inverse (B, K, K)."""
        return inverse_of_square(self._unbroadcasted_scale_tril).expand(self._square())

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
        return self._unbroadcasted_scale_tril.pow(2).sum(-1).expand(self._batch_shape + self._event_shape)

    def rsample(self, sample_shape: Any = ()) -> Tensor:
        normal = _standard_normal(self._extended_shape(sample_shape), self.loc.dtype, self.loc.device)
        return self.loc + times(self._unbroadcasted_scale_tril, normal)

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        root = self._unbroadcasted_scale_tril
        return -0.5 * (self._event_shape[0] * math.log(2 * math.pi) + mahalanobis(root, value - self.loc)) - log_diagonal(root)

    def entropy(self) -> Tensor:
        half = 0.5 * self._event_shape[0] * (1.0 + math.log(2 * math.pi))
        return (half + log_diagonal(self._unbroadcasted_scale_tril)).expand(self._batch_shape)
