"""Cholesky factors, and what is solved and inverted with them."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..errors import LinAlgError, OpError
from .declare import Array, function, op
from .matrices import adjoint, check_float, check_square, from_lower, handed, raise_for, value_as
from .operands import kind_of
from .return_types import TYPES
from .triangles import triangular

NOT_DEFINITE = (
    "{}: {}The factorization could not be completed because the input is not positive-definite (the leading minor of order {} is "
    "not positive-definite)."
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
        return rest - column[..., :, None] * (jnp.conj(column) / safe[..., None])[..., None, :], found

    return lax.fori_loop(0, n, eliminate, (from_lower(a), jnp.zeros(a.shape[:-2], np.int32)))[1]


def _cholesky(a: Array) -> tuple[Array, Array]:
    """The lower factor, and 0 or the order of the first minor that isn't positive."""
    factor = lax.linalg.cholesky(from_lower(a), symmetrize_input=False)
    still, seen = lax.stop_gradient(a), lax.stop_gradient(factor)
    failed = ~jnp.isfinite(seen).all((-2, -1))  # infinite ones may have divided by one another
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


def _check_factor(name: str, b: Array, factor: Array) -> None:
    for x, label in ((b, "b"), (factor, "u")):
        if x.ndim < 2:
            raise OpError(f"{label} should have at least 2 dimensions, but has {x.ndim} dimensions instead")
    if factor.shape[-1] != factor.shape[-2]:
        raise OpError(
            f"{name}: A must be batches of square matrices, but they are {factor.shape[-2]} by {factor.shape[-1]} matrices"
        )
    if factor.shape[-1] != b.shape[-2]:
        raise OpError(
            f"Incompatible matrix sizes for {name}: each A matrix is {factor.shape[-1]} by {factor.shape[-1]} but each b matrix is "
            f"{b.shape[-2]} by {b.shape[-1]}"
        )
    if b.dtype != factor.dtype:
        raise OpError(f"{name}: expected b and A to have the same dtype, but found {kind_of(b)} and {kind_of(factor)}")
    check_float(name, b)


@op()
def cholesky_solve(B: Array, L: Array, upper=False):  # noqa: N803
    """The solution of AX = B from the Cholesky factor of A = L L^H (A = L^H L with ``upper``).

    B (*, n, k), L (*, n, n); X (*, n, k). Raises RuntimeError for shapes that don't fit.
    """
    _check_factor("cholesky_solve", B, L)
    lower = adjoint(L) if upper else L
    half = triangular(lower, B, False, True, False)
    return triangular(adjoint(lower), half, True, True, False)


@op()
def cholesky_inverse(L: Array, upper=False):  # noqa: N803
    """The inverse of A from its Cholesky factor. L (*, n, n), z (*, n, n). Raises RuntimeError for other than square matrices."""
    check_square("cholesky_inverse", L)
    lower = adjoint(L) if upper else L
    eye = jnp.broadcast_to(jnp.eye(L.shape[-1], dtype=L.dtype), L.shape)
    half = triangular(lower, eye, False, True, False)
    return adjoint(half) @ half
