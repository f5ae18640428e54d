"""Divergences of multivariate normals, with covariances that are full or of low rank plus a diagonal."""

from __future__ import annotations

from typing import Any

import funtorch as torch

from ...errors import ArgumentValueError
from ...tensor import Tensor
from .._matrices import log_diagonal, mahalanobis, times
from ..lowrank_multivariate_normal import LowRankMultivariateNormal
from ..multivariate_normal import MultivariateNormal
from .registry import register_kl


def _root(p: Any) -> Tensor:
    """A matrix S (B, K, M) of which S S^T is the covariance."""
    if isinstance(p, MultivariateNormal):
        return p._unbroadcasted_scale_tril
    diagonal = torch.diag_embed(p._unbroadcasted_cov_diag.sqrt())
    factor = p._unbroadcasted_cov_factor
    batch = torch.broadcast_shapes(diagonal.shape[:-2], factor.shape[:-2])
    return torch.cat([factor.expand(*batch, *factor.shape[-2:]), diagonal.expand(*batch, *diagonal.shape[-2:])], -1)


def _half_log_determinant(p: Any) -> Tensor:
    if isinstance(p, MultivariateNormal):
        return log_diagonal(p._unbroadcasted_scale_tril)
    return 0.5 * p._log_determinant()


def _trace_and_distance(q: Any, root: Tensor, off: Tensor) -> tuple[Tensor, Tensor]:
    """tr(Q^-1 S S^T) and off^T Q^-1 off for the covariance Q of q."""
    if isinstance(q, MultivariateNormal):
        factor = q._unbroadcasted_scale_tril
        return torch.linalg.solve_triangular(factor, root, upper=False).pow(2).sum((-2, -1)), mahalanobis(factor, off)
    diagonal, capacitance, scaled = q._unbroadcasted_cov_diag, q._capacitance_tril, q._scaled()
    less = torch.linalg.solve_triangular(capacitance, scaled @ root, upper=False).pow(2).sum((-2, -1))
    trace = (root.pow(2) / diagonal.unsqueeze(-1)).sum((-2, -1)) - less
    return trace, (off.pow(2) / diagonal).sum(-1) - mahalanobis(capacitance, times(scaled, off))


def _multivariate(p: Any, q: Any) -> Tensor:
    if p.event_shape != q.event_shape:
        raise ArgumentValueError(
            "KL-divergence between two Multivariate Normals with different event shapes cannot be computed: "
            f"{p.event_shape} and {q.event_shape}"
        )
    trace, distance = _trace_and_distance(q, _root(p), q.loc - p.loc)
    return _half_log_determinant(q) - _half_log_determinant(p) + 0.5 * (trace + distance - p.event_shape[0])


for _p in (MultivariateNormal, LowRankMultivariateNormal):
    for _q in (MultivariateNormal, LowRankMultivariateNormal):
        register_kl(_p, _q)(_multivariate)
