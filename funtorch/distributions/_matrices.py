"""Matrices that normal distributions are made of: factors, products and quadratic forms, in batches."""

from __future__ import annotations

import funtorch as torch

from ..tensor import Tensor


def times(matrix: Tensor, vector: Tensor) -> Tensor:
    """Matrix (B, n, m) times vector (B, m), which broadcast: (B, n)."""
    return torch.matmul(matrix, vector.unsqueeze(-1)).squeeze(-1)


def log_diagonal(root: Tensor) -> Tensor:
    """The logarithms of a factor (B, n, n)'s diagonal, added up: (B), half the log-determinant of L L^T."""
    return root.diagonal(dim1=-2, dim2=-1).log().sum(-1)


def solved(root: Tensor, x: Tensor) -> Tensor:
    r""":math:`L^{-1} x` for lower triangular L (B, n, n) and x (S, B, n), which broadcast: (S, B, n).

    Each matrix is solved once for all the samples.
    """
    n, batch = root.shape[-1], root.dim() - 2
    missing = batch + 1 - x.dim()
    x = x.reshape(*[1] * missing, *x.shape) if missing > 0 else x
    samples = x.shape[: x.dim() - 1 - batch]
    shape = torch.broadcast_shapes(root.shape[:-2], x.shape[x.dim() - 1 - batch : -1])
    columns = x.expand(*samples, *shape, n).reshape(samples.numel(), *shape, n).movedim(0, -1)  # (B, n, samples)
    found = torch.linalg.solve_triangular(root.expand(*shape, n, n), columns, upper=False)
    return found.movedim(-1, 0).reshape(*samples, *shape, n)


def mahalanobis(root: Tensor, x: Tensor) -> Tensor:
    r""":math:`x^T (L L^T)^{-1} x` for L (B, n, n) and x (S, B, n): (S, B)."""
    return solved(root, x).pow(2).sum(-1)


def root_of_inverse(matrix: Tensor) -> Tensor:
    """The lower triangular factor L of the inverse of a positive definite matrix P (B, n, n): L L^T P = I."""
    # With P turned about both axes, its factor's transpose turned back is upper triangular.
    turned = torch.linalg.cholesky(torch.flip(matrix, (-2, -1)))
    upper = torch.flip(turned, (-2, -1)).mT
    identity = torch.eye(matrix.shape[-1], dtype=matrix.dtype, device=matrix.device)
    return torch.linalg.solve_triangular(upper, identity, upper=False)


def inverse_of_square(root: Tensor) -> Tensor:
    """The inverse of L L^T for a lower triangular L (B, n, n)."""
    identity = torch.eye(root.shape[-1], dtype=root.dtype, device=root.device)
    inverse = torch.linalg.solve_triangular(root, identity, upper=False)
    return inverse.mT @ inverse
