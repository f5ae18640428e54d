"""Eigenvalues and singular values. Derivatives are PyTorch's formulas, also where equal values divide by 0."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core.views import of_all_lanes
from ..errors import LinAlgError, OpError
from .declare import Array, op
from .matrices import adjoint, check_float, check_matrices, check_square, off_diagonal, reciprocal
from .operands import is_inexact
from .return_types import TYPES


@jax.custom_jvp
def _eigh(a: Array) -> tuple[Array, Array]:
    vectors, values = lax.linalg.eigh(a, lower=True, symmetrize_input=False)
    return values, vectors


@_eigh.defjvp
def _eigh_jvp(primals: tuple, tangents: tuple) -> tuple:
    values, vectors = _eigh(*primals)
    (t,) = tangents
    inner = adjoint(vectors) @ ((t + adjoint(t)) / 2) @ vectors
    moved = vectors @ (off_diagonal(values[..., None, :] - values[..., :, None]).astype(inner.dtype) * inner)
    return (values, vectors), (jnp.real(jnp.diagonal(inner, axis1=-2, axis2=-1)).astype(values.dtype), moved)


def _hermitian(name: str, a: Array, uplo: str) -> tuple[Array, Array]:
    if uplo not in ("L", "U", "l", "u"):
        raise OpError(f"Expected UPLO argument to be 'L' or 'U', but got {uplo}")
    check_square(name, a)
    return _eigh(adjoint(a) if uplo in "Uu" else a)


@op(namespace="linalg", result=TYPES["linalg_eigh"]._make)
def eigh(A: Array, UPLO="L"):  # noqa: N803
    """A = V diag(w) V^H of Hermitian matrices.

    Args:
        A: (*, n, n).
        UPLO: which triangle is read: "L" or "U".

    Returns:
        w (*, n), real, ascending; V (*, n, n), of A's dtype. There is no gradient through V where two eigenvalues are equal: it comes
        out enormous or NaN there.

    Raises:
        RuntimeError: other than square matrices of floats.
    """
    return _hermitian("linalg.eigh", A, UPLO)


@op(namespace="linalg")
def eigvalsh(A: Array, UPLO="L"):  # noqa: N803
    """The eigenvalues of Hermitian matrices, ascending. A (*, n, n), z (*, n). Raises RuntimeError as `eigh`."""
    return _hermitian("linalg.eigh", A, UPLO)[0]


@jax.custom_jvp
def _eig(a: Array) -> tuple[Array, Array]:
    values, vectors = lax.linalg.eig(a, compute_left_eigenvectors=False)
    return values, vectors


@_eig.defjvp
def _eig_jvp(primals: tuple, tangents: tuple) -> tuple:
    values, vectors = _eig(*primals)
    inner = jnp.linalg.solve(vectors, tangents[0].astype(vectors.dtype) @ vectors)
    moved = vectors @ (off_diagonal(values[..., None, :] - values[..., :, None]) * inner)
    # Columns keep the length 1.
    along = jnp.real(jnp.sum(jnp.conj(vectors) * moved, -2, keepdims=True))
    return (values, vectors), (jnp.diagonal(inner, axis1=-2, axis2=-1), moved - vectors * along.astype(vectors.dtype))


def _refuse_infinite(a: Any, *_: Any) -> None:
    values = of_all_lanes(a)
    if values is not None and is_inexact(values) and not np.isfinite(values).all():
        raise OpError("torch.linalg.eig: input tensor should not contain infs or NaNs.")


@op(namespace="linalg", result=TYPES["linalg_eig"]._make, check=_refuse_infinite)
def eig(A: Array):  # noqa: N803
    """A = V diag(w) V^-1.

    Args:
        A: (*, n, n).

    Returns:
        w (*, n) and V (*, n, n), complex; the columns of V have length 1.

    Raises:
        RuntimeError: other than square matrices of floats, or (in eager code) infinite elements or NaN.
    """
    check_square("linalg.eig", A)
    return _eig(A)


@op(namespace="linalg", check=_refuse_infinite)
def eigvals(A: Array):  # noqa: N803
    """The eigenvalues of square matrices. A (*, n, n), z (*, n), complex. Raises RuntimeError as `eig`."""
    check_square("linalg.eig", A)
    return _eig(A)[0]


def svd_of(a: Array, full: bool) -> tuple[Array, Array, Array]:
    """U, S and V^H, with PyTorch's derivative: columns that ``full`` adds count as constant."""

    @jax.custom_jvp
    def decompose(a: Array) -> tuple:
        return tuple(lax.linalg.svd(a, full_matrices=full))

    @decompose.defjvp
    def _(primals: tuple, tangents: tuple) -> tuple:
        u, s, vh = decompose(*primals)
        return (u, s, vh), _svd_tangents(u, s, vh, tangents[0])

    return decompose(a)


def _svd_tangents(u: Array, s: Array, vh: Array, t: Array) -> tuple[Array, Array, Array]:
    k = s.shape[-1]
    u1, v1 = u[..., :, :k], adjoint(vh)[..., :, :k]
    inner = adjoint(u1) @ t @ v1  # (*, k, k)
    scale = s[..., None, :].astype(t.dtype)
    gaps = (s[..., None, :] - s[..., :, None]) * (s[..., None, :] + s[..., :, None])
    gap = off_diagonal(gaps).astype(t.dtype)
    one_over = reciprocal(s).astype(t.dtype)
    # A complex singular pair can turn by a common phase: all of it is given to U.
    phase = (inner - adjoint(inner)) / 2 * jnp.eye(k, dtype=t.dtype) * one_over[..., None, :]
    du = u1 @ (gap * (inner * scale + adjoint(inner * scale)) + phase)
    dv = v1 @ (gap * (scale.swapaxes(-1, -2) * inner + adjoint(scale.swapaxes(-1, -2) * inner)))
    if u.shape[-2] > k:
        outside = t @ v1
        du = du + (outside - u1 @ (adjoint(u1) @ outside)) * one_over[..., None, :]
    if vh.shape[-1] > k:
        outside = adjoint(t) @ u1
        dv = dv + (outside - v1 @ (adjoint(v1) @ outside)) * one_over[..., None, :]
    ds = jnp.real(jnp.diagonal(inner, axis1=-2, axis2=-1)).astype(s.dtype)

    def filled(x: Array, like: Array) -> Array:
        more = like.shape[-1] - x.shape[-1]
        return jnp.pad(x, [(0, 0)] * (x.ndim - 1) + [(0, more)]) if more else x

    return filled(du, u), ds, adjoint(filled(dv, adjoint(vh)))


def _converges(a: Any, *_: Any) -> None:
    values = of_all_lanes(a)
    if values is None or a.dim() < 2 or not is_inexact(values):
        return
    finite = np.isfinite(values)
    if not finite.all():
        bad = ~finite.all((-2, -1))
        batch = f"(Batch element {int(np.flatnonzero(bad)[0])}): " if bad.ndim else ""
        raise LinAlgError(
            f"linalg.svd: {batch}The algorithm failed to converge because the input matrix contained non-finite values."
        )


def _check_svd(a: Array, driver: str | None) -> None:
    check_matrices("linalg.svd", a)
    check_float("linalg.svd", a)
    if driver is not None:
        raise OpError("torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.")


@op(namespace="linalg", result=TYPES["linalg_svd"]._make, check=_converges)
def svd(A: Array, full_matrices=True, *, driver=None):  # noqa: N803
    """A = U diag(S) V^H.

    Args:
        A: (*, m, n).
        full_matrices: complete U and V to square matrices.
        driver: must be None.

    Returns:
        U (*, m, m), S (*, k), real, descending, and Vh (*, n, n), or without full_matrices (*, m, k) and (*, k, n),
        with k = min(m, n).

    Raises:
        LinAlgError: infinite elements or NaN; in eager code.
        RuntimeError: other than matrices of floats.
    """
    _check_svd(A, driver)
    return svd_of(A, full_matrices)


@op(namespace="linalg", check=_converges)
def svdvals(A: Array, *, driver=None):  # noqa: N803
    """The singular values of matrices, descending. A (*, m, n), z (*, min(m, n)), real. Raises as `svd`."""
    _check_svd(A, driver)
    return singular_values(A)


def singular_values(a: Array) -> Array:
    """The singular values; their derivative needs the vectors, which are found only for it."""

    @jax.custom_jvp
    def values(a: Array) -> Array:
        return lax.linalg.svd(a, full_matrices=False, compute_uv=False)

    @values.defjvp
    def _(primals: tuple, tangents: tuple) -> tuple:
        u, s, vh = svd_of(primals[0], False)
        inner = jnp.sum(jnp.conj(u) * (tangents[0] @ adjoint(vh)), -2)
        return s, jnp.real(inner).astype(s.dtype)

    return values(a)


@op(name="svd", result=TYPES["svd"]._make, check=_converges)
def _old_svd(input: Array, some=True, compute_uv=True):
    """`linalg.svd`, by its old name: U, S and V, not V^H; with ``compute_uv=False`` U and V are zeros."""
    _check_svd(input, None)
    if not compute_uv:
        m, n = input.shape[-2:]
        zeros = [jnp.zeros((*input.shape[:-2], size, size), input.dtype) for size in (m, n)]
        return zeros[0], singular_values(input), zeros[1]
    u, s, vh = svd_of(input, not some)
    return u, s, adjoint(vh)
