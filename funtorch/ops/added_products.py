"""Products of matrices and vectors that are added to something: z = beta x + alpha product."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..errors import OpError
from .declare import Array, op
from .linear import C_NAMES, batch_product, check_batches, check_expands, check_fitting, check_matrix_vector, contract
from .operands import is_floating, is_inexact, kind_of, refuse


def _weighted(input: Array, product: Array, beta: Any, alpha: Any) -> Array:
    """beta x + alpha product; with beta = 0, x is not read, so that its NaN doesn't matter."""
    if not is_inexact(product):
        beta, alpha = int(beta), int(alpha)
    kind = input.dtype
    scaled = product if alpha == 1 else product * jnp.asarray(alpha, product.dtype)
    if beta == 0:
        return scaled.astype(kind)
    x = jnp.broadcast_to(input, product.shape).astype(product.dtype)
    return ((x if beta == 1 else x * jnp.asarray(beta, x.dtype)) + scaled).astype(kind)


@op(inplace=True, older=("beta", "alpha"))
def addmm(input: Array, mat1: Array, mat2: Array, *, beta=1, alpha=1):
    """z = beta x + alpha (mat1 mat2). input (N, M) or broadcast to it, mat1 (N, K), mat2 (K, M).

    Raises RuntimeError for other ranks, sizes or types.
    """
    for a, name in ((mat1, "mat1"), (mat2, "mat2")):
        if a.ndim != 2:
            raise OpError(f"{name} must be a matrix, got {a.ndim}-D tensor")
    check_fitting(mat1.shape[0], mat1.shape[1], mat2.shape)
    for a in (mat1, mat2):
        if a.dtype != input.dtype:
            raise OpError(f"self and mat2 must have the same dtype, but got {kind_of(input)} and {kind_of(a)}")
    refuse("addmm_impl_cpu_", mat1, "b")
    check_expands(input, (mat1.shape[0], mat2.shape[1]), "addmm")
    return _weighted(input, contract(mat1, mat2, 1, 0), beta, alpha)


@op(inplace=True, older=("beta", "alpha"))
def addmv(input: Array, mat: Array, vec: Array, *, beta=1, alpha=1):
    """z = beta x + alpha (mat vec). input (N) or broadcast to it, mat (N, K), vec (K). Raises RuntimeError as `mv`."""
    check_matrix_vector(mat, vec, input)
    return _weighted(input, contract(mat, vec, 1, 0), beta, alpha)


@op(inplace=True, older=("beta", "alpha"))
def baddbmm(input: Array, batch1: Array, batch2: Array, *, beta=1, alpha=1):
    """z = beta x + alpha (batch1 batch2). input (B, N, M) or broadcast to it, batch1 (B, N, K), batch2 (B, K, M).

    Raises RuntimeError for other ranks, sizes or types.
    """
    check_batches(batch1, batch2)
    if input.dtype != batch1.dtype:
        names = [C_NAMES.get(np.dtype(a.dtype).name, str(a.dtype)) for a in (input, batch1, batch2)]
        raise OpError(f"Input dtypes must be the same, got: input {names[0]}, batch1: {names[1]}, batch2: {names[2]}")
    check_expands(input, (*batch1.shape[:2], batch2.shape[2]), "baddbmm")
    return _weighted(input, batch_product(batch1, batch2), beta, alpha)


@op(inplace=True, older=("beta", "alpha"))
def addbmm(input: Array, batch1: Array, batch2: Array, *, beta=1, alpha=1):
    """z = beta x + alpha sum_b (batch1_b batch2_b). input (N, M) or broadcast to it, batch1 (B, N, K), batch2 (B, K, M).

    Raises RuntimeError for other ranks, sizes or types.
    """
    check_batches(batch1, batch2)
    if input.dtype != batch1.dtype:
        raise OpError(f"self and mat2 must have the same dtype, but got {kind_of(input)} and {kind_of(batch2)}")
    check_expands(input, (batch1.shape[1], batch2.shape[2]), "addbmm")
    wide = jnp.float32 if is_floating(batch1) and batch1.dtype.itemsize <= 2 else None
    product = jax.lax.dot_general(batch1, batch2, (((0, 2), (0, 1)), ((), ())), preferred_element_type=wide)
    return _weighted(input, product, beta, alpha)


@op(inplace=True, older=("beta", "alpha"))
def addr(input: Array, vec1: Array, vec2: Array, *, beta=1, alpha=1):
    """z = beta x + alpha (vec1 outer vec2). input (N, M) or broadcast to it, vec1 (N), vec2 (M).

    Raises RuntimeError for other ranks or sizes.
    """
    for a, name in ((vec1, "vec1"), (vec2, "vec2")):
        if a.ndim != 1:
            raise OpError(f"addr: Expected 1-D argument {name}, but got {a.ndim}-D")
    check_expands(input, (vec1.shape[0], vec2.shape[0]), "addr")
    wide = jnp.result_type(input, vec1, vec2)
    if wide.kind == "b":
        return (input & bool(beta)) | (vec1[:, None] & vec2 & bool(alpha))
    inside = jnp.float32 if wide.itemsize <= 2 and jnp.issubdtype(wide, jnp.floating) else wide
    return _weighted(input.astype(wide), vec1.astype(inside)[:, None] * vec2.astype(inside), beta, alpha)
