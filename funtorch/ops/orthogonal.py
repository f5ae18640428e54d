"""QR, and orthogonal matrices as products of reflections."""

from __future__ import annotations

import jax.numpy as jnp
from jax import lax

from ..errors import OpError
from . import registry
from .declare import Array, op
from .matrices import adjoint, check_float, check_matrices
from .operands import kind_of
from .return_types import TYPES


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


def _reflect(vectors: Array, tau: Array, x: Array, backwards: bool, adjoined: bool) -> Array:
    """The reflections 1 - tau_i v_i v_i^H applied to x one after the other, the last one first if ``backwards``."""
    m = vectors.shape[-2]
    below = jnp.tril(jnp.ones((m, vectors.shape[-1]), bool), -1)
    v = jnp.where(below, vectors, 0) + jnp.eye(m, vectors.shape[-1], dtype=vectors.dtype)
    v = jnp.moveaxis(v[..., : tau.shape[-1]], -1, 0)  # (k, *, m)
    t = jnp.moveaxis(jnp.conj(tau) if adjoined else tau, -1, 0)  # (k, *)

    def step(x: Array, reflection: tuple) -> tuple:
        v, t = reflection
        return x - t[..., None, None] * v[..., :, None] * (jnp.conj(v)[..., None, :] @ x), None

    return lax.scan(step, x, (v, t), reverse=backwards)[0]


def _check_reflections(name: str, a: Array, tau: Array) -> None:
    check_matrices(name, a, label="input")
    check_float(name, a)
    if a.shape[-2] < a.shape[-1]:
        raise OpError(f"{name}: input.shape[-2] must be greater than or equal to input.shape[-1]")
    if a.shape[-1] < tau.shape[-1]:
        raise OpError(f"{name}: input.shape[-1] must be greater than or equal to tau.shape[-1]")
    if a.ndim - tau.ndim != 1 or a.shape[:-2] != tau.shape[:-1]:
        raise OpError(
            f"{name}: Expected tau to have one dimension less than input, but got tau {list(tau.shape)} for input {list(a.shape)}"
        )
    if a.dtype != tau.dtype:
        raise OpError(f"{name}: tau dtype {kind_of(tau)} does not match input dtype {kind_of(a)}")


@op(namespace="linalg", alias=("torch.orgqr",))
def householder_product(A: Array, tau: Array):  # noqa: N803
    """The first columns of the product of the reflections 1 - tau_i v_i v_i^H that `geqrf` gives.

    Args:
        A: (*, m, n) with the v_i below its diagonal.
        tau: (*, k), k <= n <= m.

    Returns:
        (*, m, n).

    Raises:
        RuntimeError: other shapes.
    """
    _check_reflections("torch.linalg.householder_product", A, tau)
    eye = jnp.broadcast_to(jnp.eye(A.shape[-2], A.shape[-1], dtype=A.dtype), A.shape)
    return _reflect(A, tau, eye, True, False)


registry.add_method("orgqr", householder_product)


@op()
def ormqr(input: Array, tau: Array, other: Array, left=True, transpose=False):
    """The product of the square matrix Q, which `geqrf` gives in parts, and another one.

    Args:
        input: (*, m, n) with reflections below its diagonal; tau: (*, k).
        other: (*, m, p), or (*, p, m) with ``left=False``.
        left: Q other, else other Q; transpose: Q^H in place of Q.

    Returns:
        other's shape.

    Raises:
        RuntimeError: other shapes.
    """
    for a, name in ((input, "input"), (other, "other")):
        if a.ndim < 2:
            raise OpError(f"torch.ormqr: {name} must have at least 2 dimensions.")
    if other.shape[-2 if left else -1] != input.shape[-2]:
        raise OpError(f"torch.ormqr: other.shape[{-2 if left else -1}] must be equal to input.shape[-2]")
    if tau.shape[-1] > other.shape[-2 if left else -1]:
        raise OpError(f"torch.ormqr: other.shape[{-2 if left else -1}] must be greater than or equal to tau.shape[-1]")
    if left:
        return _reflect(input, tau, other, not transpose, transpose)
    return adjoint(_reflect(input, tau, adjoint(other), transpose, not transpose))
