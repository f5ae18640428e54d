"""Pseudo-inverses, ranks, and least squares."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core.handle import Handle
from ..core.views import concrete
from ..errors import OpError
from .declare import Array, function, op
from .matrices import adjoint, broadcast_batches, check_float, check_matrices, handed, is_vector, value_as
from .operands import is_inexact, kind_of
from .return_types import TYPES
from .spectra import _eigh, singular_values


def _cut(a: Array, sizes: Array, atol: Any, rtol: Any) -> Array:
    """Below which size a singular value counts as 0: the larger of ``atol`` and ``rtol`` times the largest one."""
    usual = np.finfo(sizes.dtype).eps * max(a.shape[-2:])
    if rtol is None:
        rtol = usual if atol is None else jnp.where(jnp.asarray(atol) > 0, 0, usual)
    largest = jnp.max(sizes, -1, initial=0)
    return jnp.maximum(jnp.asarray(0 if atol is None else atol, sizes.dtype), jnp.asarray(rtol, sizes.dtype) * largest)[..., None]


def _pinv_of(a: Array, atol: Any, rtol: Any, hermitian: bool) -> Array:
    """The pseudo-inverse, with the derivative of Golub and Pereyra (1973), which holds where the rank stays."""

    @jax.custom_jvp
    def invert(a: Array) -> Array:
        if hermitian:
            values, u = _eigh(a)
            order = jnp.abs(values)
            vh = adjoint(u)
        else:
            u, values, vh = lax.linalg.svd(a, full_matrices=False)
            order = values
        keep = order > lax.stop_gradient(_cut(a, order, atol, rtol))
        inverse = jnp.where(keep, 1 / jnp.where(keep, values, 1), 0).astype(a.dtype)
        return (adjoint(vh) * inverse[..., None, :]) @ adjoint(u)

    @invert.defjvp
    def _(primals: tuple, tangents: tuple) -> tuple:
        (a,), (t,) = primals, tangents
        p = invert(a)
        th, ph = adjoint(t), adjoint(p)
        inner = p @ ph @ th
        outer = th @ ph @ p
        return p, -p @ t @ p + inner - (inner @ a) @ p + outer - p @ (a @ outer)

    return invert(a)


@op(namespace="linalg", name="_pinv", out=False)
def _pinv(A: Array, atol: Array | None, rtol: Array | None, absolute, relative, hermitian):  # noqa: N803
    """Pseudo-inverses, with tolerances as arrays or as numbers."""
    if A.ndim < 2 or not is_inexact(A):
        raise OpError(
            f"linalg.pinv({kind_of(A)}{{{list(A.shape)}}}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types"
        )
    if hermitian:
        check_matrices("linalg.eigh", A, square=True)
    check_float("linalg.pinv", A)
    if not A.size:
        return jnp.zeros((*A.shape[:-2], A.shape[-1], A.shape[-2]), A.dtype)
    return _pinv_of(A, absolute if atol is None else atol, relative if rtol is None else rtol, hermitian)


def _tolerances(atol: Any, rtol: Any) -> tuple:
    """Tensors, and numbers: each in its own place."""
    tensors = [t if isinstance(t, Handle) else None for t in (atol, rtol)]
    numbers = [None if isinstance(t, Handle) else t for t in (atol, rtol)]
    return (*tensors, *numbers)


@function("linalg")
def pinv(A: Any, rcond: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None, out: Any = None) -> Any:  # noqa: N803
    """The pseudo-inverse (Moore, Penrose) of matrices.

    Args:
        A: (*, m, n).
        rcond, rtol, atol: singular values up to the larger of atol and rtol (or rcond) times the largest one count as 0; numbers
            or Tensors (*). Without any, rtol is max(m, n) times the dtype's epsilon.
        hermitian: the matrices are Hermitian: their eigenvalues are used.

    Returns:
        (*, n, m).

    Raises:
        RuntimeError: other than matrices of floats.
    """
    return handed(_pinv(A, *_tolerances(atol, rcond if rtol is None else rtol), bool(hermitian)), out, "pinv")


@function(method=True)
def pinverse(input: Any, rcond: Any = 1e-15) -> Any:
    """`linalg.pinv`, by its old name."""
    return pinv(input, rcond)


@op(namespace="linalg", name="_matrix_rank", out=False)
def _matrix_rank(A: Array, atol: Array | None, rtol: Array | None, absolute, relative, hermitian):  # noqa: N803
    """Ranks, with tolerances as arrays or as numbers."""
    check_matrices("torch.linalg.matrix_rank", A, square=hermitian, label="input")
    check_float("torch.linalg.matrix_rank", A)
    sizes = jnp.abs(_eigh(A)[0]) if hermitian else singular_values(A)
    cut = _cut(A, sizes, absolute if atol is None else atol, relative if rtol is None else rtol)
    return jnp.sum(sizes > cut, -1, dtype=np.int64)


@function("linalg")
def matrix_rank(
    A: Any,
    tol: Any = None,
    hermitian: bool = False,
    *,
    atol: Any = None,
    rtol: Any = None,
    out: Any = None,  # noqa: N803
) -> Any:
    """How many singular values of matrices are not 0.

    Args:
        A: (*, m, n).
        tol: what counts as 0, an old name for atol.
        atol, rtol, hermitian: as in `pinv`.

    Returns:
        (*), int64.

    Raises:
        RuntimeError: other than matrices of floats.
    """
    if tol is not None:
        atol, rtol = tol, 0.0
    return handed(_matrix_rank(A, *_tolerances(atol, rtol), bool(hermitian)), out, "matrix_rank")


DRIVERS = ("gels", "gelsy", "gelsd", "gelss")


@op(namespace="linalg", name="_lstsq", out=False)
def _lstsq(A: Array, B: Array, rcond):  # noqa: N803
    """Solutions, sums of squared residuals, ranks and singular values."""
    vector = is_vector(A, B)
    a, b = broadcast_batches(A, B[..., None] if vector else B)
    x = _pinv_of(a, None, rcond, False) @ b
    sizes = singular_values(a)
    rank = jnp.sum(sizes > _cut(a, sizes, None, rcond), -1, dtype=np.int64)
    gap = a @ x - b
    residuals = jnp.sum(jnp.real(gap * jnp.conj(gap)), -2)
    return (x[..., 0] if vector else x), residuals, rank, sizes


def _check_lstsq(a: Array, b: Array, driver: str | None) -> None:
    check_float("torch.linalg.lstsq", a)
    if a.ndim < 2:
        raise OpError("torch.linalg.lstsq: input must have at least 2 dimensions.")
    if b.ndim < 1:
        raise OpError("torch.linalg.lstsq: other must have at least 1 dimension.")
    if a.dtype != b.dtype:
        raise OpError(
            f"torch.linalg.lstsq: Expected input and other to have the same dtype, but got input's dtype {kind_of(a)} and other's dtype {kind_of(b)}"
        )
    if not 0 <= a.ndim - b.ndim <= 1:
        raise OpError(
            "torch.linalg.lstsq: input.dim() must be greater or equal to other.dim() and (input.dim() - other.dim()) <= 1"
        )
    vector = is_vector(a, b)
    if a.shape[-2] != b.shape[-1 if vector else -2]:
        raise OpError(f"torch.linalg.lstsq: input.size(-2) should match other.size({-1 if vector else -2})")
    if driver not in (None, *DRIVERS):
        raise OpError(f"torch.linalg.lstsq: parameter `driver` should be one of ({', '.join(DRIVERS)})")


@function("linalg")
def lstsq(A: Any, B: Any, rcond: float | None = None, *, driver: str | None = None, out: Any = None) -> Any:  # noqa: N803
    """The X of least norm that makes |AX - B| least.

    Args:
        A: (*, m, n).
        B: (*, m, k), or vectors (*, m).
        rcond: singular values up to rcond times the largest one count as 0; max(m, n) times the dtype's epsilon unless given.
        driver: "gels", "gelsy" (usual), "gelsd" or "gelss": which of the results are filled, as in LAPACK.

    Returns:
        A named tuple: solution (*, n, k) or (*, n); residuals (*, k), sums of squares, empty unless m > n and the rank is n (and empty for
        "gelsy"); rank (*), int64, empty for "gels"; singular_values (*, min(m, n)) for "gelsd" and "gelss", else empty.

    Raises:
        RuntimeError: shapes that don't fit, several dtypes, or an unknown driver.
    """
    _check_lstsq(value_as("lstsq", A), value_as("lstsq", B, "B", 2), driver)
    x, residuals, rank, sizes = _lstsq(A, B, rcond)
    used = driver or "gelsy"
    m, n = A.shape[-2:]
    found = concrete(rank)
    full = m > n and used != "gelsy" and (found is None or bool((found == n).all()))
    result = TYPES["linalg_lstsq"]._make((
        x,
        residuals if full else residuals.reshape(-1)[:0],
        rank.new_empty((0,)) if used == "gels" else rank,
        sizes.detach() if used in ("gelsd", "gelss") else sizes.new_empty((0,)),
    ))  # fmt: skip
    return handed(result, out, "lstsq")
