"""What the families of linear algebra share: checks of matrices, and errors for values that only show when computed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.handle import Handle, value_of
from ..core.views import of_all_lanes
from ..errors import LinAlgError, OpError
from . import registry
from .arguments import tensor_argument
from .declare import Array
from .operands import is_floating, is_inexact, kind_of

registry.add("linalg", "LinAlgError", LinAlgError)


def value_as(name: str, a: Any, label: str = "A", position: int = 1) -> Any:
    """What is known of a Tensor, traced and batched ones too: its shape and dtype. Raises TypeError for anything else."""
    if not isinstance(a, Handle):
        tensor_argument(a, name, label, position)
    value = value_of(a)
    return jax.ShapeDtypeStruct(value.shape, value.dtype)


def check_matrices(name: str, a: Array, square: bool = False, label: str = "A") -> None:
    """Raise PyTorch's RuntimeError unless ``a`` (*, m, n) holds matrices, square ones if asked."""
    if a.ndim < 2:
        raise OpError(f"{name}: The input tensor {label} must have at least 2 dimensions.")
    if square and a.shape[-1] != a.shape[-2]:
        raise OpError(f"{name}: {label} must be batches of square matrices, but they are {a.shape[-2]} by {a.shape[-1]} matrices")


def check_float(name: str, a: Array, low: bool = False) -> None:
    """Raise PyTorch's RuntimeError unless ``a`` is of floats (of 32 bits at least, if not ``low``) or complex numbers."""
    if not is_inexact(a):
        raise OpError(f"{name}: Expected a floating point or complex tensor as input. Got {kind_of(a)}")
    if not low and is_floating(a) and a.dtype.itemsize <= 2:
        raise OpError(f"{name}: Low precision dtypes not supported. Got {kind_of(a)}")


def check_square(name: str, a: Array) -> None:
    """`check_matrices` of square ones, and `check_float`."""
    check_matrices(name, a, square=True)
    check_float(name, a)


def check_same_type(name: str, a: Array, b: Array) -> None:
    """Raise PyTorch's RuntimeError unless both have one dtype."""
    if a.dtype != b.dtype:
        raise OpError(
            f"{name}: Expected A and B to have the same dtype, but found A of type {kind_of(a)} and B of type {kind_of(b)} instead"
        )


def check_product(name: str, a: Array, b: Array, left: bool) -> None:
    """Raise PyTorch's RuntimeError unless AX = B (XA = B) has a solution's shape."""
    if a.shape[-1] != b.shape[-2 if left else -1]:
        sizes = f"{a.shape[-2]}x{a.shape[-1]} and {b.shape[-2]}x{b.shape[-1]}"
        raise OpError(f"{name}: Incompatible shapes of A and B for the equation {'AX' if left else 'XA'} = B ({sizes})")


def batch_shape(a: Array, b: Array) -> tuple[int, ...]:
    """The shape that the dimensions before the matrices are broadcast to. Raises PyTorch's RuntimeError."""
    x, y = a.shape[:-2], b.shape[:-2]
    for back in range(1, min(len(x), len(y)) + 1):
        if x[-back] != y[-back] and 1 not in (x[-back], y[-back]):
            at = max(len(x), len(y)) - back
            raise OpError(
                f"The size of tensor a ({y[-back]}) must match the size of tensor b ({x[-back]}) at non-singleton dimension {at}"
            )
    return np.broadcast_shapes(x, y)


def broadcast_batches(a: Array, b: Array) -> tuple[Array, Array]:
    """Both with the same dimensions before the matrices."""
    batch = batch_shape(a, b)
    return jnp.broadcast_to(a, (*batch, *a.shape[-2:])), jnp.broadcast_to(b, (*batch, *b.shape[-2:]))


def adjoint(a: Array) -> Array:
    """The conjugate transpose of the matrices in the last two dimensions."""
    return jnp.conj(a.swapaxes(-1, -2))


def reciprocal(x: Array) -> Array:
    """1 / x, and the largest finite number where x is 0.

    PyTorch divides by 0 there, unless nothing depends on the result. Here a gradient of 0 times this is 0, so that eigenvalues
    alone have theirs where they are equal; any other is so large, or overflows, that it can't be taken for a right one.
    """
    zero = x == 0
    largest = jnp.finfo(x.dtype).max
    return jnp.where(zero, largest, 1 / jnp.where(zero, 1, x))


def off_diagonal(gaps: Array) -> Array:
    """`reciprocal` of the elements outside of the diagonal, 0 on it."""
    return jnp.where(np.eye(gaps.shape[-1], dtype=bool), 0, reciprocal(gaps))


def raise_for(info: Any, error: Callable[[str, int], Exception]) -> None:
    """Raise for the first code in ``info`` (*) that isn't 0. Traced ones can't be seen.

    Args:
        info: a Tensor of codes, one for each matrix of a batch.
        error: makes the exception from "" or "(Batch element i): " and the code.
    """
    found = of_all_lanes(info)
    if found is None or not found.any():
        return
    at = int(np.flatnonzero(found)[0])
    raise error(f"(Batch element {at}): " if found.ndim else "", int(found.flat[at]))


@jax.custom_jvp
def from_lower(a: Array) -> Array:
    """Hermitian matrices with the lower triangles of ``a``. The tangent is the Hermitian part, as PyTorch's gradient."""
    strict = jnp.tril(a, -1)
    diagonal = jnp.real(a) * jnp.eye(a.shape[-1], dtype=a.real.dtype)
    return strict + adjoint(strict) + diagonal.astype(a.dtype)


@from_lower.defjvp
def _from_lower_jvp(primals: tuple, tangents: tuple) -> tuple:
    (t,) = tangents
    return from_lower(*primals), (t + adjoint(t)) / 2


def handed(result: Any, out: Any, name: str) -> Any:
    """The result, or ``out`` (a Tensor, or as many as there are results) with its values."""
    if out is None:
        return result
    from .assignment import into

    return into(out, result, name)


def is_vector(a: Array, b: Array) -> bool:
    """Whether ``b`` holds one vector for each matrix of ``a``."""
    return b.ndim == 1 or (b.ndim == a.ndim - 1 and b.shape == a.shape[:-1])
