"""LU factors with pivoting, and what is solved with them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from ..errors import OpError
from .declare import Array, function, op
from .matrices import adjoint, batch_shape, check_float, check_matrices, check_product, check_square, handed, raise_for, value_as
from .operands import kind_of
from .return_types import TYPES
from .triangles import triangular

ZERO_PIVOT = (
    "torch.{}: {}U[{},{}] is zero and using it on lu_solve would result in a division by zero. If you still want to perform the "
    "factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)"
)


def lu_of(a: Array) -> tuple[Array, Array, Array]:
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
    return lu_of(A)


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


def _without_gradient_of_p(name: str) -> Callable:
    """What makes P, L and U a named tuple; P, which is piecewise constant, requires no grad."""

    def named(found: tuple) -> Any:
        p, *rest = found
        return TYPES[name]._make((p.detach() if p.requires_grad else p, *rest))

    return named


def _permutation(pivots: Array, m: int, dtype: Any) -> Array:
    """The matrix P of A = P L U."""
    rows = lax.linalg.lu_pivots_to_permutation(pivots - 1, m)
    return jax.nn.one_hot(rows, m, dtype=dtype, axis=-1).swapaxes(-1, -2)


@op(namespace="linalg", result=_without_gradient_of_p("linalg_lu"))
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
    packed, pivots, _ = lu_of(A)
    return (_permutation(pivots, A.shape[-2], A.dtype), *_unpacked(packed))


@op(result=_without_gradient_of_p("lu_unpack"), method=False)
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


def _from_lu(lu: Array, pivots: Array, b: Array) -> Array:
    """The solution of P L U X = B."""
    batch = np.broadcast_shapes(lu.shape[:-2], b.shape[:-2])
    n = lu.shape[-1]
    rows = jnp.broadcast_to(lax.linalg.lu_pivots_to_permutation(pivots - 1, n), (*batch, n))
    b = jnp.broadcast_to(b, (*batch, *b.shape[-2:]))
    b = jnp.take_along_axis(b, rows[..., None], axis=-2)
    return triangular(lu, triangular(lu, b, False, True, True), True, True, False)


def _from_lu_adjoint(lu: Array, pivots: Array, b: Array) -> Array:
    """The solution of (P L U)^H X = B."""
    n = lu.shape[-1]
    half = triangular(adjoint(lu), b, False, True, False)
    half = triangular(adjoint(lu), half, True, True, True)
    rows = lax.linalg.lu_pivots_to_permutation(pivots - 1, n)
    back = jnp.broadcast_to(jnp.argsort(rows, -1), (*half.shape[:-2], n))
    return jnp.take_along_axis(half, back[..., None], axis=-2)


def _lu_solved(name: str, lu: Array, pivots: Array, b: Array, left: bool, adjoined: bool) -> Array:
    check_square(name, lu)
    check_matrices(name, b, label="B")
    if lu.dtype != b.dtype:
        raise OpError(
            f"{name}: Expected LU and B to have the same dtype, but found LU of type {kind_of(lu)} and B of type {kind_of(b)} instead"
        )
    if pivots.dtype != np.int32:
        raise OpError(f"{name}: pivots should be a Tensor of scalar type torch.int32")
    check_product(name, lu, b, left)
    if lu.shape[:-1] != pivots.shape:
        raise OpError(
            f"{name}: Number of pivots per batch should be same as the dimension of the matrix, got {list(pivots.shape)} for {list(lu.shape)}"
        )
    batch_shape(lu, b)
    if left:
        return (_from_lu_adjoint if adjoined else _from_lu)(lu, pivots, b)
    # XA = B is A^H X^H = B^H.
    return adjoint((_from_lu if adjoined else _from_lu_adjoint)(lu, pivots, adjoint(b)))


@op(namespace="linalg")
def lu_solve(LU: Array, pivots: Array, B: Array, *, left=True, adjoint=False):  # noqa: N803
    """The solution of AX = B from what `lu_factor` gives for A.

    Args:
        LU: (*, n, n); pivots: (*, n), int32.
        B: (*, n, k), or (*, k, n) with ``left=False``.
        left: solve XA = B if False; adjoint: take A^H in place of A.

    Returns:
        X, of B's shape with the batch dimensions broadcast.

    Raises:
        RuntimeError: shapes or dtypes that don't fit.
    """
    return _lu_solved("linalg.lu_solve", LU, pivots, B, left, adjoint)


@op(name="lu_solve")
def _old_lu_solve(b: Array, LU_data: Array, LU_pivots: Array):  # noqa: N803
    """`linalg.lu_solve`, by its old name. b (*, n, k), LU_data (*, n, n), LU_pivots (*, n), int32."""
    return _lu_solved("linalg.lu_solve", LU_data, LU_pivots, b, True, False)
