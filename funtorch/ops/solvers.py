"""Inverses and solutions of linear equations, from matrices or from their factorisations."""

from __future__ import annotations

from math import prod
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..core.handle import value_of
from ..errors import LinAlgError, OpError
from . import registry
from .declare import Array, function, op
from .factorizations import _lu, handed
from .matrices import (
    adjoint,
    batch_shape,
    broadcast_batches,
    check_float,
    check_matrices,
    check_product,
    check_same_type,
    check_square,
    raise_for,
    value_as,
)
from .operands import kind_of
from .return_types import TYPES

SINGULAR = "{}: {}The diagonal element {} is zero, the inversion could not be completed because the input matrix is singular."
NO_SOLUTION = "torch.linalg.solve: {}The solver failed because the input matrix is singular."


def _solved(a: Array, b: Array) -> Array:
    """The solution of AX = B; dimensions before the matrices are broadcast."""
    a, b = broadcast_batches(a, b)
    return jnp.linalg.solve(a, b)


@op(namespace="linalg", name="_inv_ex", out=False)
def _inv_ex(A: Array):  # noqa: N803
    """Inverses, and codes that are 0 or the number of the first pivot that is 0."""
    check_square("linalg.inv", A)
    eye = jnp.broadcast_to(jnp.eye(A.shape[-1], dtype=A.dtype), A.shape)
    return jnp.linalg.solve(A, eye), _lu(lax.stop_gradient(A))[2]


def _inverse(name: str, a: Any) -> Any:
    value_as(name, a)
    inverse, info = _inv_ex(a)
    raise_for(info, lambda batch, k: LinAlgError(SINGULAR.format(name, batch, k)))
    return inverse


@function("linalg", alias=("torch.inverse",))
def inv(A: Any, *, out: Any = None) -> Any:  # noqa: N803
    """The inverse of square matrices.

    Args:
        A: (*, n, n).

    Returns:
        (*, n, n).

    Raises:
        LinAlgError: a singular matrix; in eager code.
        RuntimeError: other than square matrices of floats.

    >>> torch.linalg.inv(torch.tensor([[2.0, 0.0], [0.0, 4.0]]))
    tensor([[0.5000, 0.0000],
            [0.0000, 0.2500]])
    """
    return handed(_inverse("linalg.inv", A), out, "inv")


registry.add_method("inverse", inv)


@function("linalg")
def inv_ex(A: Any, *, check_errors: bool = False, out: Any = None) -> Any:  # noqa: N803
    """`inv` that reports failure by a code: a named tuple of the inverse and info (*), int32.

    Raises:
        RuntimeError: other than square matrices of floats; with ``check_errors`` LinAlgError as `inv`.
    """
    found = _inv_ex(A)
    if check_errors:
        raise_for(found[1], lambda batch, k: LinAlgError(SINGULAR.format("linalg.inv_ex", batch, k)))
    return handed(TYPES["linalg_inv_ex"]._make(found), out, "inv_ex")


def _is_vector(a: Array, b: Array) -> bool:
    return b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])


@op(namespace="linalg", name="_solve_ex", out=False)
def _solve_ex(A: Array, B: Array, left):  # noqa: N803
    """Solutions and codes."""
    check_square("linalg.solve", A)
    check_same_type("linalg.solve", A, B)
    vector = _is_vector(A, B)
    b = B[..., None] if vector else B
    check_product("linalg.solve", A, b, left)
    if vector and not left:
        raise OpError("linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In this case linalg.solve is equivalent to B / A.squeeze(-1)")
    batch_shape(A, b)
    x = _solved(A, b) if left else _solved(A.swapaxes(-1, -2), b.swapaxes(-1, -2)).swapaxes(-1, -2)
    return (x[..., 0] if vector else x), _lu(lax.stop_gradient(A))[2]


@function("linalg")
def solve(A: Any, B: Any, *, left: bool = True, out: Any = None) -> Any:  # noqa: N803
    """The solution of AX = B, or of XA = B with ``left=False``.

    Args:
        A: (*, n, n).
        B: (*, n, k), or vectors (*, n) as many as there are matrices; (*, k, n) with ``left=False``.

    Returns:
        X, of B's shape with the batch dimensions broadcast.

    Raises:
        LinAlgError: a singular matrix; in eager code.
        RuntimeError: other than square matrices of floats, or shapes that don't fit.

    >>> torch.linalg.solve(torch.tensor([[2.0, 0.0], [0.0, 4.0]]), torch.tensor([2.0, 2.0]))
    tensor([1.0000, 0.5000])
    """
    x, info = _solve_ex(A, B, bool(left))
    raise_for(info, lambda batch, k: LinAlgError(NO_SOLUTION.format(batch)))
    return handed(x, out, "solve")


@function("linalg")
def solve_ex(A: Any, B: Any, *, left: bool = True, check_errors: bool = False, out: Any = None) -> Any:  # noqa: N803
    """`solve` that reports failure by a code: a named tuple of the result and info (*), int32. Raises as `inv_ex`."""
    found = _solve_ex(A, B, bool(left))
    if check_errors:
        raise_for(found[1], lambda batch, k: LinAlgError(NO_SOLUTION.format(batch)))
    return handed(TYPES["linalg_solve_ex"]._make(found), out, "solve_ex")


def _triangular(a: Array, b: Array, upper: bool, left: bool, unit: bool, transpose: bool = False) -> Array:
    a, b = broadcast_batches(a, b)
    return lax.linalg.triangular_solve(a, b, left_side=left, lower=not upper, unit_diagonal=unit, transpose_a=transpose)


@op(namespace="linalg")
def solve_triangular(A: Array, B: Array, *, upper, left=True, unitriangular=False):  # noqa: N803
    """The solution of AX = B (XA = B with ``left=False``) for triangles A.

    Args:
        A: (*, n, n); upper: which triangle is read; unitriangular: count its diagonal as ones.
        B: (*, n, k), or (*, k, n) with ``left=False``.

    Returns:
        X, of B's shape with the batch dimensions broadcast.

    Raises:
        RuntimeError: other than square matrices of floats, or shapes that don't fit.
    """
    name = "linalg.solve_triangular"
    check_same_type(name, A, B)
    check_matrices(name, A, square=True)
    check_matrices(name, B, label="B")
    check_float(name, A)
    check_product(name, A, B, left)
    return _triangular(A, B, upper, left, unitriangular)


@op(result=TYPES["triangular_solve"]._make)
def triangular_solve(b: Array, A: Array, upper=True, transpose=False, unitriangular=False):  # noqa: N803
    """`linalg.solve_triangular`, by its old name: the solution of AX = b (A^T X = b with ``transpose``), and A.

    b (*, n, k), A (*, n, n). Raises RuntimeError for shapes that don't fit.
    """
    for x, name in ((b, "b"), (A, "A")):
        if x.ndim < 2:
            raise OpError(f"torch.triangular_solve: Expected {name} to have at least 2 dimensions, but it has {x.ndim} dimensions instead")
    check_square("triangular_solve", A)
    if A.shape[-1] != b.shape[-2]:
        raise OpError(
            f"Incompatible matrix sizes for triangular_solve: each A matrix is {A.shape[-1]} by {A.shape[-1]} but each b matrix is "
            f"{b.shape[-2]} by {b.shape[-1]}"
        )
    batch = batch_shape(A, b)
    x = _triangular(A, b, upper, True, unitriangular, transpose)
    return x, jnp.broadcast_to(A, (*batch, *A.shape[-2:]))


def _check_factor(name: str, b: Array, factor: Array) -> None:
    for x, label in ((b, "b"), (factor, "u")):
        if x.ndim < 2:
            raise OpError(f"{label} should have at least 2 dimensions, but has {x.ndim} dimensions instead")
    if factor.shape[-1] != factor.shape[-2]:
        raise OpError(f"{name}: A must be batches of square matrices, but they are {factor.shape[-2]} by {factor.shape[-1]} matrices")
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
    half = _triangular(lower, B, False, True, False)
    return _triangular(adjoint(lower), half, True, True, False)


@op()
def cholesky_inverse(L: Array, upper=False):  # noqa: N803
    """The inverse of A from its Cholesky factor. L (*, n, n), z (*, n, n). Raises RuntimeError for other than square matrices."""
    check_square("cholesky_inverse", L)
    lower = adjoint(L) if upper else L
    eye = jnp.broadcast_to(jnp.eye(L.shape[-1], dtype=L.dtype), L.shape)
    half = _triangular(lower, eye, False, True, False)
    return adjoint(half) @ half


def _from_lu(lu: Array, pivots: Array, b: Array) -> Array:
    """The solution of P L U X = B."""
    batch = np.broadcast_shapes(lu.shape[:-2], b.shape[:-2])
    n = lu.shape[-1]
    rows = jnp.broadcast_to(lax.linalg.lu_pivots_to_permutation(pivots - 1, n), (*batch, n))
    b = jnp.broadcast_to(b, (*batch, *b.shape[-2:]))
    b = jnp.take_along_axis(b, rows[..., None], axis=-2)
    return _triangular(lu, _triangular(lu, b, False, True, True), True, True, False)


def _from_lu_adjoint(lu: Array, pivots: Array, b: Array) -> Array:
    """The solution of (P L U)^H X = B."""
    n = lu.shape[-1]
    half = _triangular(adjoint(lu), b, False, True, False)
    half = _triangular(adjoint(lu), half, True, True, True)
    rows = lax.linalg.lu_pivots_to_permutation(pivots - 1, n)
    back = jnp.broadcast_to(jnp.argsort(rows, -1), (*half.shape[:-2], n))
    return jnp.take_along_axis(half, back[..., None], axis=-2)


def _lu_solved(name: str, lu: Array, pivots: Array, b: Array, left: bool, adjoined: bool) -> Array:
    check_square(name, lu)
    check_matrices(name, b, label="B")
    if lu.dtype != b.dtype:
        raise OpError(f"{name}: Expected LU and B to have the same dtype, but found LU of type {kind_of(lu)} and B of type {kind_of(b)} instead")
    if pivots.dtype != np.int32:
        raise OpError(f"{name}: pivots should be a Tensor of scalar type torch.int32")
    check_product(name, lu, b, left)
    if lu.shape[:-1] != pivots.shape:
        raise OpError(f"{name}: Number of pivots per batch should be same as the dimension of the matrix, got {list(pivots.shape)} for {list(lu.shape)}")
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


@function("linalg")
def tensorinv(A: Any, ind: int = 2, *, out: Any = None) -> Any:  # noqa: N803
    """The inverse of the map that `tensordot` with A over its last dimensions is.

    Args:
        A: (*first, *last), with ``ind`` dimensions in ``first`` and as many elements in both.

    Returns:
        (*last, *first).

    Raises:
        LinAlgError: a singular map; RuntimeError: other shapes.
    """
    shape = tuple(value_of(A).shape)
    if ind <= 0:
        raise OpError(f"Expected a strictly positive integer for 'ind', but got {ind}")
    first, last = prod(shape[:ind]), prod(shape[ind:])
    if first != last:
        raise OpError(f"Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got {last} != {first}")
    inverse = _inverse("inv", A.reshape(first, last)).reshape(*shape[ind:], *shape[:ind])
    return handed(inverse, out, "tensorinv")


@function("linalg")
def tensorsolve(A: Any, B: Any, dims: Any = None, *, out: Any = None) -> Any:  # noqa: N803
    """The solution X of ``tensordot(A, X, X.ndim) = B``.

    Args:
        A: (*B's shape, *X's shape), after moving ``dims`` to its end.
        B: any shape.

    Raises:
        LinAlgError: a singular map; RuntimeError: other shapes.
    """
    if dims is not None:
        A = A.movedim(tuple(dims), tuple(range(A.dim() - len(dims), A.dim())))
    at = B.dim()
    shape = tuple(A.shape)
    first, last = prod(shape[:at]), prod(shape[at:])
    if first != last:
        raise OpError(
            f"Expected self to satisfy the requirement prod(self.shape[other.ndim:]) == prod(self.shape[:other.ndim]), but got {last} != {first}"
        )
    x = solve(A.reshape(first, last), B.reshape(-1)).reshape(shape[at:])
    return handed(x, out, "tensorsolve")
