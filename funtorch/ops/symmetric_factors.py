"""A = P L D L^T P^T for symmetric and Hermitian matrices that need not be positive: LAPACK's sytrf and sytrs, called on the host.

JAX has neither. As in PyTorch, nothing here has a derivative.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.state import state
from ..errors import LinAlgError, MissingError, OpError
from .declare import Array, function, op
from .matrices import check_square, handed, raise_for, value_as
from .operands import kind_of
from .return_types import TYPES

FAILED = "torch.linalg.ldl_factor: {}D[{},{}] is zero, so that the matrix is singular"
NO_DERIVATIVE = "the derivative for '{}' is not implemented: detach its arguments"


def _routine(stem: str, dtype: np.dtype, hermitian: bool) -> Callable:
    from scipy.linalg import lapack

    kind = "he" if hermitian and dtype.kind == "c" else "sy"
    return getattr(lapack, f"{'sdcz'['fdFD'.index(dtype.char)]}{kind}{stem}")


def _factored_on_host(a: np.ndarray, hermitian: bool) -> tuple:
    a = np.asarray(a)
    n = a.shape[-1]
    factors, pivots, info = np.zeros_like(a), np.zeros(a.shape[:-1], np.int32), np.zeros(a.shape[:-2], np.int32)
    for at in np.ndindex(*a.shape[:-2]) if n else ():
        found, pivots[at], info[at] = _routine("trf", a.dtype, hermitian)(a[at], lower=1)
        factors[at] = np.tril(found)
    return factors, pivots, info


def _solved_on_host(factors: np.ndarray, pivots: np.ndarray, b: np.ndarray, hermitian: bool) -> np.ndarray:
    factors, pivots, b = np.asarray(factors), np.asarray(pivots), np.asarray(b)
    z = np.zeros_like(b)
    for at in np.ndindex(*b.shape[:-2]) if b.size else ():
        z[at], _ = _routine("trs", b.dtype, hermitian)(factors[at], pivots[at], b[at], lower=1)
    return z


@op(namespace="linalg", name="_ldl_factor_ex", out=False)
def _factor(A: Array, hermitian):  # noqa: N803
    """L and D in one matrix, pivots and codes."""
    shapes = (
        jax.ShapeDtypeStruct(A.shape, A.dtype),
        jax.ShapeDtypeStruct(A.shape[:-1], np.int32),
        jax.ShapeDtypeStruct(A.shape[:-2], np.int32),
    )
    return jax.pure_callback(lambda a: _factored_on_host(a, hermitian), shapes, A, vmap_method="expand_dims")


@op(namespace="linalg", name="_ldl_solve", out=False)
def _solve(LD: Array, pivots: Array, B: Array, hermitian):  # noqa: N803
    """The solution of AX = B from A's factors."""
    batch = np.broadcast_shapes(LD.shape[:-2], B.shape[:-2])
    LD, B = (jnp.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (LD, B))  # noqa: N806
    pivots = jnp.broadcast_to(pivots, (*batch, pivots.shape[-1]))
    shape = jax.ShapeDtypeStruct(B.shape, B.dtype)
    return jax.pure_callback(
        lambda factors, places, b: _solved_on_host(factors, places, b, hermitian),
        shape,
        LD,
        pivots,
        B,
        vmap_method="broadcast_all",
    )


def _check_no_derivative(name: str, *tensors: Any) -> None:
    if state.grad and any(t.requires_grad for t in tensors):
        raise MissingError(NO_DERIVATIVE.format(name))


@function("linalg")
def ldl_factor_ex(A: Any, *, hermitian: bool = False, check_errors: bool = False, out: Any = None) -> Any:  # noqa: N803
    """`ldl_factor` that reports a zero on D's diagonal by a code: a named tuple of LD, pivots and info (*), int32.

    Raises:
        RuntimeError: other than square matrices of floats, or an argument that requires grad; with ``check_errors`` also a zero in D.
    """
    check_square("torch.linalg.ldl_factor_ex", value_as("linalg.ldl_factor_ex", A))
    _check_no_derivative("linalg_ldl_factor_ex", A)
    found = _factor(A, bool(hermitian))
    if check_errors:
        raise_for(found[2], lambda batch, k: LinAlgError(FAILED.format(batch, k, k)))
    return handed(TYPES["linalg_ldl_factor_ex"]._make(found), out, "ldl_factor_ex")


@function("linalg")
def ldl_factor(A: Any, *, hermitian: bool = False, out: Any = None) -> Any:  # noqa: N803
    """A = P L D L^T P^T in compact form, for `ldl_solve`. It has no derivative, as in PyTorch.

    Args:
        A: (*, n, n), symmetric, or Hermitian with ``hermitian=True``; the lower triangle is read.

    Returns:
        LD (*, n, n), with D's blocks of 1 x 1 and 2 x 2 on the diagonal and L, whose diagonal is 1, below; and LAPACK's pivots
        (*, n), int32: from 1, negative for the two rows of a 2 x 2 block.

    Raises:
        RuntimeError: other than square matrices of floats, an argument that requires grad, or a zero in D (in eager code).
    """
    found = ldl_factor_ex(A, hermitian=hermitian, check_errors=True)
    return handed(TYPES["linalg_ldl_factor"]._make(found[:2]), out, "ldl_factor")


@function("linalg")
def ldl_solve(LD: Any, pivots: Any, B: Any, *, hermitian: bool = False, out: Any = None) -> Any:  # noqa: N803
    """The solution of AX = B from what `ldl_factor` gives for A. It has no derivative, as in PyTorch.

    Args:
        LD: (*, n, n); pivots: (*, n), int32.
        B: (*, n, k).

    Returns:
        X, of B's shape with the batch dimensions broadcast.

    Raises:
        RuntimeError: shapes or dtypes that don't fit, or an argument that requires grad.
    """
    name = "torch.linalg.ldl_solve"
    factors, places, right = (value_as(name, x) for x in (LD, pivots, B))
    check_square(name, factors)
    if right.ndim < 2:
        raise OpError(f"{name}: Expected B to have at least 2 dimensions, but it has {right.ndim} dimensions instead")
    if places.shape != factors.shape[:-1]:
        raise OpError(
            f"{name}: Expected LD.shape[:-1] and pivots.shape to be the same, but got pivots with shape {list(places.shape)} instead"
        )
    if places.dtype.kind not in "iu":
        raise OpError(f"{name}: Expected pivots to be integers. Got {kind_of(places)}")
    if factors.dtype != right.dtype:
        raise OpError(f"{name}: LD dtype {kind_of(factors)} does not match b dtype {kind_of(right)}")
    if right.shape[-2] != factors.shape[-1]:
        raise OpError(
            f"Incompatible matrix sizes for {name}: each A matrix is {factors.shape[-1]} by {factors.shape[-1]} but each b matrix is "
            f"{right.shape[-2]} by {right.shape[-1]}"
        )
    _check_no_derivative("linalg_ldl_solve", LD, B)
    return handed(_solve(LD, pivots, B, bool(hermitian)), out, "ldl_solve")
