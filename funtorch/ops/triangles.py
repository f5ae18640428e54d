"""Linear equations whose matrix is a triangle."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax

from ..errors import OpError
from .declare import Array, op
from .matrices import batch_shape, broadcast_batches, check_float, check_matrices, check_product, check_square
from .return_types import TYPES


def triangular(a: Array, b: Array, upper: bool, left: bool, unit: bool, transpose: bool = False) -> Array:
    """The solution of a x = b (x a = b unless ``left``) for triangular a (*, N, N), batches broadcast together."""
    a, b = broadcast_batches(a, b)
    return lax.linalg.triangular_solve(a, b, left_side=left, lower=not upper, unit_diagonal=unit, transpose_a=transpose)


@op(namespace="linalg")
def solve_triangular(A: Array, B: Array, *, upper, left=True, unitriangular=False):  # noqa: N803
    """The solution of AX = B (XA = B with ``left=False``) for triangles A.

    Args:
        A: (*, n, n); upper: which triangle is read; unitriangular: count its diagonal as ones.
        B: (*, n, k), or (*, k, n) with ``left=False``; of another dtype it is converted to A's.

    Returns:
        X, of B's shape with the batch dimensions broadcast.

    Raises:
        RuntimeError: other than square matrices of floats, or shapes that don't fit.
    """
    name = "linalg.solve_triangular"
    check_matrices(name, A, square=True)
    check_matrices(name, B, label="B")
    check_float(name, A)
    check_product(name, A, B, left)
    if B.dtype != A.dtype:
        B = (B if jnp.iscomplexobj(A) else jnp.real(B)).astype(A.dtype)  # noqa: N806
    return triangular(A, B, upper, left, unitriangular)


@op(result=TYPES["triangular_solve"]._make)
def triangular_solve(b: Array, A: Array, upper=True, transpose=False, unitriangular=False):  # noqa: N803
    """`linalg.solve_triangular`, by its old name: the solution of AX = b (A^T X = b with ``transpose``), and A.

    b (*, n, k), A (*, n, n). Raises RuntimeError for shapes that don't fit.
    """
    for x, name in ((b, "b"), (A, "A")):
        if x.ndim < 2:
            raise OpError(
                f"torch.triangular_solve: Expected {name} to have at least 2 dimensions, but it has {x.ndim} dimensions instead"
            )
    check_square("triangular_solve", A)
    if A.shape[-1] != b.shape[-2]:
        raise OpError(
            f"Incompatible matrix sizes for triangular_solve: each A matrix is {A.shape[-1]} by {A.shape[-1]} but each b matrix is "
            f"{b.shape[-2]} by {b.shape[-1]}"
        )
    batch = batch_shape(A, b)
    x = triangular(A, b, upper, True, unitriangular, transpose)
    return x, jnp.broadcast_to(A, (*batch, *A.shape[-2:]))
