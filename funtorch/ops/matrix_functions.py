"""Functions of matrices: power, exponential, pseudo-inverse, rank, least squares, products of reflections."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import jax.scipy.linalg
import numpy as np
from jax import lax

from ..core.handle import Handle
from ..core.views import concrete
from ..errors import ArgumentTypeError, OpError
from . import registry
from .declare import Array, function, op
from .factorizations import handed
from .matrices import adjoint, broadcast_batches, check_float, check_matrices, value_as
from .operands import in_float32, is_inexact, kind_of
from .return_types import TYPES
from .solvers import _inverse, _is_vector
from .spectra import _eigh, singular_values


@op(namespace="linalg", alias=("torch.matrix_exp",))
def matrix_exp(A: Array):  # noqa: N803
    """sum_k A^k / k!. A (*, n, n), z the same. Raises RuntimeError for other than square matrices of floats."""
    check_matrices("linalg.matrix_exp", A, square=True)
    check_float("linalg.matrix_exp", A, low=True)
    if not A.size:
        return A
    return in_float32(lambda x: jax.scipy.linalg.expm(x, max_squarings=64))(A)


@op(namespace="linalg", name="_matrix_power", out=False)
def _matrix_power(A: Array, n):  # noqa: N803
    """A^n for n >= 0."""
    return jnp.linalg.matrix_power(A, n)


@function("linalg", alias=("torch.matrix_power",))
def matrix_power(A: Any, n: int, *, out: Any = None) -> Any:  # noqa: N803
    """The n-th power of square matrices, of their inverses if n is negative.

    Args:
        A: (*, n, n).
        n: a whole number.

    Raises:
        LinAlgError: a singular matrix where n is negative; RuntimeError: other than square matrices; TypeError: another n.
    """
    if not isinstance(n, int):
        raise ArgumentTypeError(f"linalg_matrix_power(): argument 'n' (position 2) must be int, not {type(n).__name__}")
    check_matrices("linalg.matrix_power", value_as("linalg_matrix_power", A), square=True)
    base = _inverse("linalg.inv", A) if n < 0 else A
    return handed(_matrix_power(base, abs(n)), out, "matrix_power")


registry.add_method("matrix_exp", matrix_exp)
registry.add_method("matrix_power", matrix_power)


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
    A: Any, tol: Any = None, hermitian: bool = False, *, atol: Any = None, rtol: Any = None, out: Any = None  # noqa: N803
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
    vector = _is_vector(A, B)
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
    vector = _is_vector(a, b)
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
        raise OpError(f"{name}: Expected tau to have one dimension less than input, but got tau {list(tau.shape)} for input {list(a.shape)}")
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
    eye = jnp.broadcast_to(jnp.eye(*A.shape[-2:], dtype=A.dtype), A.shape)
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
