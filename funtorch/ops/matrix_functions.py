"""Powers and exponentials of matrices."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import jax.scipy.linalg

from ..core import casting
from ..errors import ArgumentTypeError
from . import registry
from .declare import Array, function, op
from .matrices import check_float, check_matrices, handed, value_as
from .operands import in_float32
from .solvers import inverse_of


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
    base = A
    if n < 0:
        base = inverse_of("linalg.inv", *casting.cast_arguments("linalg.inv", (A,)))
    if abs(n) > 1 and out is None:
        (base,) = casting.cast_arguments("mm", (base,))
    return handed(_matrix_power(base, abs(n)), out, "matrix_power")


registry.add_method("matrix_exp", matrix_exp)
registry.add_method("matrix_power", matrix_power)
