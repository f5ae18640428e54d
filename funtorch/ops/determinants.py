"""Determinants and their logarithms."""

from __future__ import annotations

import jax.numpy as jnp

from .declare import Array, op
from .matrices import check_square
from .return_types import TYPES


@op(alias=("linalg.det",))
def det(A: Array):  # noqa: N803
    """The determinant of square matrices. A (*, n, n), z (*). Raises RuntimeError for other than square matrices of floats."""
    check_square("linalg.det", A)
    return jnp.linalg.det(A) if A.shape[-1] else jnp.ones(A.shape[:-2], A.dtype)


@op(namespace="linalg", result=TYPES["linalg_slogdet"]._make)
def slogdet(A: Array):  # noqa: N803
    """The determinant's sign (of modulus 1) and the logarithm of its modulus: (*) and (*), real. A (*, n, n).

    Raises RuntimeError for other than square matrices of floats.
    """
    check_square("linalg.slogdet", A)
    return tuple(jnp.linalg.slogdet(A))


@op(name="slogdet", result=TYPES["slogdet"]._make)
def _old_slogdet(input: Array):
    """`linalg.slogdet`."""
    check_square("linalg.slogdet", input)
    return tuple(jnp.linalg.slogdet(input))


@op()
def logdet(input: Array):
    """The logarithm of the determinant, NaN if that is negative. input (*, n, n), z (*).

    Raises RuntimeError for other than square matrices of floats.
    """
    check_square("linalg.slogdet", input)
    sign, size = jnp.linalg.slogdet(input)
    if jnp.iscomplexobj(input):
        return jnp.log(sign) + size
    return jnp.where(sign < 0, jnp.nan, size)
