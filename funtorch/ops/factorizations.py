"""Factorisations of matrices: Cholesky, LU, QR."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..errors import LinAlgError, OpError
from .declare import Array, function, op
from .matrices import adjoint, check_float, check_matrices, check_square, from_lower, raise_for, value_as
from .return_types import TYPES

NOT_DEFINITE = (
    "{}: {}The factorization could not be completed because the input is not positive-definite (the leading minor of order {} is "
    "not positive-definite)."
)
ZERO_PIVOT = (
    "torch.{}: {}U[{},{}] is zero and using it on lu_solve would result in a division by zero. If you still want to perform the "
    "factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
)


def _first_bad_minor(a: Array) -> Array:
    """The order of the first leading minor that isn't positive, 0 if all are: int32 (*)."""
    n = a.shape[-1]
    if not n:
        return jnp.zeros(a.shape[:-2], np.int32)

    def eliminate(k: Any, carry: tuple) -> tuple:
        rest, found = carry
        pivot = jnp.real(jnp.take(jnp.take(rest, k, axis=-1), k, axis=-1))
        found = jnp.where((found == 0) & ~(pivot > 0), k + 1, found).astype(np.int32)
        column = jnp.take(rest, k, axis=-1)
        safe = jnp.where(pivot > 0, pivot, 1).astype(rest.dtype)
        return rest - column[..., :, None] * jnp.conj(column)[..., None, :] / safe[..., None, None], found

    return lax.fori_loop(0, n, eliminate, (from_lower(a), jnp.zeros(a.shape[:-2], np.int32)))[1]


def _cholesky(a: Array) -> tuple[Array, Array]:
    """The lower factor, and 0 or the order of the first minor that isn't positive."""
    factor = lax.linalg.cholesky(from_lower(a), symmetrize_input=False)
    still, seen = lax.stop_gradient(a), lax.stop_gradient(factor)
    failed = jnp.isnan(seen).any((-2, -1))
    info = lax.cond(failed.any(), _first_bad_minor, lambda x: jnp.zeros(x.shape[:-2], np.int32), still)
    return factor, jnp.where(failed, info, 0).astype(np.int32)


@op(namespace="linalg", name="_cholesky_ex", out=False)
def _cholesky_ex(A: Array, upper):  # noqa: N803
    """Cholesky factors and codes."""
    if upper:
        A = adjoint(A)
    factor, info = _cholesky(A)
    return (adjoint(factor) if upper else factor), info


def _factor(name: str, a: Any, upper: bool, check: bool) -> tuple:
    check_square(name, value_as(name, a))
    found = _cholesky_ex(a, bool(upper))
    if check:
        raise_for(found[1], lambda batch, k: LinAlgError(NOT_DEFINITE.format(name, batch, k)))
    return found


@function("linalg")
def cholesky_ex(A: Any, *, upper: bool = False, check_errors: bool = False, out: Any = None) -> Any:  # noqa: N803
    """`cholesky` that reports failure by a code: a named tuple of L and info (*), int32: 0, or the order of the minor that fails.

    Raises:
        RuntimeError: other than square matrices of floats; with ``check_errors`` LinAlgError as `cholesky`.
    """
    return handed(TYPES["linalg_cholesky_ex"]._make(_factor("linalg.cholesky_ex", A, upper, check_errors)), out, "cholesky_ex")


@function("linalg")
def cholesky(A: Any, *, upper: bool = False, out: Any = None) -> Any:  # noqa: N803
    """A = L L^H with a lower triangle L.

    Args:
        A: (*, n, n) Hermitian and positive-definite; its lower triangle is read.
        upper: give L^H, and read the upper triangle.

    Returns:
        (*, n, n).

    Raises:
        LinAlgError: a matrix that isn't positive-definite; in eager code.
        RuntimeError: other than square matrices of floats.

    >>> torch.linalg.cholesky(torch.tensor([[4.0, 2.0], [2.0, 2.0]]))
    tensor([[2., 0.],
            [1., 1.]])
    """
    return handed(_factor("linalg.cholesky", A, upper, True)[0], out, "cholesky")


@function(name="cholesky", method=True)
def _old_cholesky(input: Any, upper: bool = False, *, out: Any = None) -> Any:
    """`linalg.cholesky`, by its old name."""
    return handed(_factor("cholesky", input, upper, True)[0], out, "cholesky")


def handed(result: Any, out: Any, name: str) -> Any:
    """The result, or ``out`` (a Tensor, or as many as there are results) with its values."""
    if out is None:
        return result
    from .assignment import into

    return into(out, result, name)


def _lu(a: Array) -> tuple[Array, Array, Array]:
    """LU in one matrix, pivots counted from 1, and 0 or the number of the first diagonal element of U that is 0."""
    lu, pivots, _ = lax.linalg.lu(a)
    diagonal = lax.stop_gradient(jnp.diagonal(lu, axis1=-2, axis2=-1))
    zero = diagonal == 0
    info = jnp.where(zero.any(-1), jnp.argmax(zero, -1) + 1, 0) if diagonal.shape[-1] else jnp.zeros(a.shape[:-2])
    return lu, (pivots + 1).astype(np.int32), info.astype(np.int32)


def _check_lu(name: str, a: Array, pivot: bool) -> None:
    check_matrices(name, a)
    check_float(name, a)
    if not pivot:
        raise OpError("linalg.lu_factor: LU without pivoting is not implemented on the CPU")


@op(namespace="linalg", name="_lu_factor_ex", out=False)
def _lu_factor_ex(A: Array):  # noqa: N803
    """LU factors, pivots and codes."""
    return _lu(A)


def _lu_checked(name: str, a: Any, pivot: bool, check: bool) -> tuple:
    _check_lu("linalg.lu_factor", value_as(name, a), pivot)
    found = _lu_factor_ex(a)
    if check:
        raise_for(found[2], lambda batch, k: OpError(ZERO_PIVOT.format(name, batch, k, k)))
    return found


@function("linalg")
def lu_factor_ex(A: Any, *, pivot: bool = True, check_errors: bool = False, out: Any = None) -> Any:  # noqa: N803
    """`lu_factor` that reports a zero pivot by a code: a named tuple of LU, pivots and info (*), int32.

    Raises:
        RuntimeError: other than matrices of floats; with ``check_errors`` also a zero pivot.
    """
    found = _lu_checked("linalg.lu_factor_ex", A, pivot, check_errors)
    return handed(TYPES["linalg_lu_factor_ex"]._make(found), out, "lu_factor_ex")


@function("linalg")
def lu_factor(A: Any, *, pivot: bool = True, out: Any = None) -> Any:  # noqa: N803
    """A = P L U in compact form, for `lu_solve`.

    Args:
        A: (*, m, n).
        pivot: must be True.

    Returns:
        LU (*, m, n), with U in the upper triangle and L, whose diagonal is 1, below; and pivots (*, min(m, n)), int32, from 1.

    Raises:
        RuntimeError: other than matrices of floats, or a zero pivot (in eager code).
    """
    found = _lu_checked("linalg.lu_factor", A, pivot, True)
    return handed(TYPES["linalg_lu_factor"]._make(found[:2]), out, "lu_factor")


@function(name="lu", method=True)
def _old_lu(A: Any, pivot: bool = True, get_infos: bool = False, out: Any = None) -> Any:  # noqa: N803
    """`linalg.lu_factor` without its error, by its old name; with ``get_infos`` also the codes."""
    found = _lu_checked("lu", A, pivot, not get_infos)
    return handed(TYPES["linalg_lu_factor_ex"]._make(found) if get_infos else found[:2], out, "lu")


def _unpacked(lu: Array) -> tuple[Array, Array]:
    m, n = lu.shape[-2:]
    k = min(m, n)
    lower = jnp.tril(lu[..., :, :k], -1) + jnp.eye(m, k, dtype=lu.dtype)
    return lower, jnp.triu(lu[..., :k, :])


def _permutation(pivots: Array, m: int, dtype: Any) -> Array:
    """The matrix P of A = P L U."""
    rows = lax.linalg.lu_pivots_to_permutation(pivots - 1, m)
    return jax.nn.one_hot(rows, m, dtype=dtype, axis=-1).swapaxes(-1, -2)


@op(namespace="linalg", result=TYPES["linalg_lu"]._make)
def lu(A: Array, *, pivot=True):  # noqa: N803
    """A = P L U: a permutation, a lower triangle with ones on its diagonal, and an upper one.

    Args:
        A: (*, m, n).
        pivot: must be True.

    Returns:
        P (*, m, m), L (*, m, k) and U (*, k, n) with k = min(m, n).

    Raises:
        RuntimeError: other than matrices of floats.
    """
    _check_lu("linalg.lu_factor", A, pivot)
    packed, pivots, _ = _lu(A)
    return (_permutation(pivots, A.shape[-2], A.dtype), *_unpacked(packed))


@op(result=TYPES["lu_unpack"]._make, method=False)
def lu_unpack(LU_data: Array, LU_pivots: Array, unpack_data=True, unpack_pivots=True):  # noqa: N803
    """P, L and U of what `linalg.lu_factor` gives; what isn't asked for is empty.

    Args:
        LU_data: (*, m, n); LU_pivots: (*, min(m, n)), int32.

    Raises:
        RuntimeError: pivots of another dtype.
    """
    if unpack_pivots and LU_pivots.dtype != np.int32:
        raise OpError(
            "torch.lu_unpack: LU_pivots is expected to be a contiguous tensor of torch.int32 dtype.\n"
            "Note: this function is intended to be used with the output produced by torch.linalg.lu_factor"
        )
    empty = jnp.zeros((0,), LU_data.dtype)
    p = _permutation(LU_pivots, LU_data.shape[-2], LU_data.dtype) if unpack_pivots else empty
    return (p, *(_unpacked(LU_data) if unpack_data else (empty, empty)))


def _reduced_qr(a: Array) -> tuple[Array, Array]:
    m, n = a.shape[-2:]
    if m >= n:
        return lax.linalg.qr(a, full_matrices=False)
    # The first m columns decide; JAX has no derivative for wide matrices.
    q, r = lax.linalg.qr(a[..., :, :m], full_matrices=False)
    return q, jnp.concatenate([r, adjoint(q) @ a[..., :, m:]], -1)


def _qr(name: str, a: Array, mode: str) -> tuple[Array, Array]:
    if mode not in ("reduced", "r", "complete"):
        raise OpError(f"qr received unrecognized mode '{mode}' but expected one of 'reduced' (default), 'r', or 'complete'")
    check_matrices(name, a)
    check_float(name, a)
    if mode == "complete" and a.shape[-2] > a.shape[-1]:
        return lax.linalg.qr(a, full_matrices=True)
    q, r = _reduced_qr(a)
    return (jnp.zeros((0,), a.dtype) if mode == "r" else q), r


@op(namespace="linalg", result=TYPES["linalg_qr"]._make)
def qr(A: Array, mode="reduced"):  # noqa: N803
    """A = Q R: orthonormal columns, and an upper triangle.

    Args:
        A: (*, m, n).
        mode: "reduced", "complete" (Q square) or "r" (R alone; Q is empty).

    Returns:
        Q (*, m, k) and R (*, k, n) with k = min(m, n); with "complete" Q (*, m, m) and R (*, m, n).

    Raises:
        RuntimeError: another mode, or other than matrices of floats.
    """
    return _qr("linalg.qr", A, mode)


@op(name="qr", result=TYPES["qr"]._make)
def _old_qr(input: Array, some=True):
    """`linalg.qr`, by its old name; ``some=False`` is its mode "complete"."""
    return _qr("linalg.qr", input, "reduced" if some else "complete")


@op(result=TYPES["geqrf"]._make)
def geqrf(input: Array):
    """QR as LAPACK's geqrf gives it: R in the upper triangle, below it the reflections that make Q, and their factors tau.

    Args:
        input: (*, m, n).

    Returns:
        a (*, m, n) and tau (*, min(m, n)).

    Raises:
        RuntimeError: other than matrices of floats.
    """
    check_matrices("torch.geqrf", input, label="input")
    check_float("torch.geqrf", input)
    turned, tau = jnp.linalg.qr(input, mode="raw")
    return turned.swapaxes(-1, -2), tau
