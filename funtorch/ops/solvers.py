"""Inverses of matrices, and solutions of linear equations."""

from __future__ import annotations

from math import prod
from typing import Any

import jax.numpy as jnp
from jax import lax

from ..core.handle import value_of
from ..errors import LinAlgError, OpError
from . import registry
from .declare import Array, function, op
from .lu import lu_of
from .matrices import (
    batch_shape,
    broadcast_batches,
    check_product,
    check_same_type,
    check_square,
    handed,
    is_vector,
    raise_for,
    value_as,
)
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
    return jnp.linalg.solve(A, eye), lu_of(lax.stop_gradient(A))[2]


def inverse_of(name: str, a: Any) -> Any:
    """The inverse of each matrix of a batch (*, N, N)."""
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
    return handed(inverse_of("linalg.inv", A), out, "inv")


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


@op(namespace="linalg", name="_solve_ex", out=False)
def _solve_ex(A: Array, B: Array, left):  # noqa: N803
    """Solutions and codes."""
    check_square("linalg.solve", A)
    check_same_type("linalg.solve", A, B)
    vector = is_vector(A, B)
    b = B[..., None] if vector else B
    check_product("linalg.solve", A, b, left)
    if vector and not left:
        raise OpError(
            "linalg.solve: Vector broadcasting of the left hand side is not supported for left=False. In this case linalg.solve is equivalent to B / A.squeeze(-1)"
        )
    batch_shape(A, b)
    x = _solved(A, b) if left else _solved(A.swapaxes(-1, -2), b.swapaxes(-1, -2)).swapaxes(-1, -2)
    return (x[..., 0] if vector else x), lu_of(lax.stop_gradient(A))[2]


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
        raise OpError(
            f"Expected self to satisfy the requirement prod(self.shape[ind:]) == prod(self.shape[:ind]), but got {last} != {first}"
        )
    inverse = inverse_of("inv", A.reshape(first, last)).reshape(*shape[ind:], *shape[:ind])
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
