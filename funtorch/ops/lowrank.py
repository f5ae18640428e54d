"""Singular values and principal components of matrices of low rank, from their products with random ones (Halko et al. 2011)."""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentValueError
from .declare import function
from .matrices import value_as
from .operands import is_inexact
from .orthogonal import qr
from .random import randn
from .spectra import svd


def _basis(a: Any, q: int, niter: int, mean: Any) -> Any:
    """Orthonormal columns (*, m, q) whose span nearly holds that of ``a`` (*, m, n) less ``mean``."""

    def onto(x: Any) -> Any:
        return a @ x if mean is None else a @ x - mean @ x

    def back(x: Any) -> Any:
        return a.mH @ x if mean is None else a.mH @ x - mean.mH @ x

    directions = randn(a.shape[-1], q, dtype=a.dtype, device=a.device)
    found = qr(onto(directions))[0]
    for _ in range(niter):
        found = qr(back(found))[0]
        found = qr(onto(found))[0]
    return found


def _svd(a: Any, q: int, niter: int, mean: Any) -> tuple[Any, Any, Any]:
    m, n = a.shape[-2:]
    turned = m < n
    if turned:
        a, mean = a.mH, None if mean is None else mean.mH
    columns = _basis(a, q, niter, mean)
    small = columns.mH @ a if mean is None else columns.mH @ (a - mean)
    u, s, vh = svd(small, full_matrices=False)
    u, v = columns @ u, vh.mH
    return (v, s, u) if turned else (u, s, v)


@function()
def svd_lowrank(A: Any, q: int | None = 6, niter: int | None = 2, M: Any = None) -> tuple[Any, Any, Any]:
    """The largest singular values of A - M, and their vectors, nearly.

    Args:
        A: (*, m, n).
        q: how many, somewhat more than the rank.
        niter: how many power iterations.
        M: (*, m, n), or None for 0.

    Returns:
        U (*, m, q), S (*, q) and V (*, n, q).

    Raises:
        RuntimeError: other than matrices of floats.
    """
    value_as("svd_lowrank", A)
    return _svd(A, 6 if q is None else q, 2 if niter is None else niter, None if M is None else M.broadcast_to(A.shape))


@function()
def pca_lowrank(A: Any, q: int | None = None, center: bool = True, niter: int = 2) -> tuple[Any, Any, Any]:
    """The principal components of samples, nearly: `svd_lowrank` of A less its columns' means.

    Args:
        A: (*, m, n): m samples.
        q: how many components; 6 at most unless given.
        center: subtract the means.
        niter: how many power iterations.

    Returns:
        U (*, m, q), S (*, q) and V (*, n, q), whose columns are the components.

    Raises:
        ValueError: q or niter out of range, or integers.
    """
    kind = value_as("pca_lowrank", A)
    if not is_inexact(kind):
        raise ArgumentValueError(f"pca_lowrank(): input is expected to be a floating point tensor, got {A.dtype}")
    m, n = A.shape[-2:]
    count = min(6, m, n) if q is None else q
    if not 0 <= count <= min(m, n):
        raise ArgumentValueError(f"q(={count}) must be non-negative integer and not greater than min(m, n)={min(m, n)}")
    if niter < 0:
        raise ArgumentValueError(f"niter(={niter}) must be non-negative integer")
    return _svd(A - A.mean(-2, keepdim=True) if center else A, count, niter, None)
