"""Sums of products over named or numbered dimensions: einsum and its special cases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from ..core import casting
from ..core.dims import wrap_dim
from ..core.handle import Handle
from ..core.promotion import result_type
from ..errors import OpError
from .declare import Array, Arrays, function, op
from .operands import is_floating, kind_of, refuse


@op(name="_outer", method=False)
def _outer(input: Array, vec2: Array, kind):
    """Products of all pairs of elements."""
    for a, name in ((input, "self"), (vec2, "vec2")):
        if a.ndim != 1:
            raise OpError(f"outer: Expected 1-D argument {name}, but got {a.ndim}-D")
    return input.astype(kind.numpy)[:, None] * vec2.astype(kind.numpy)


@function(alias=("ger",), method=True)
def outer(input: Any, vec2: Any, *, out: Any = None) -> Any:
    """Products of all pairs of elements of two vectors. input (N), vec2 (M); z (N, M). Raises RuntimeError for other ranks."""
    return _outer(input, vec2, result_type((input, vec2)), out=out)


@function(method=True)
def kron(input: Any, other: Any, *, out: Any = None) -> Any:
    """Kronecker product: each element of x times all of y. input (*), other (*); z has the products of their sizes."""
    return _kron(input, other, result_type((input, other)), out=out)


@op(name="_kron", method=False)
def _kron(input: Array, other: Array, kind):
    """Kronecker product."""
    input, other = input.astype(kind.numpy), other.astype(kind.numpy)
    rank = max(input.ndim, other.ndim)
    x, y = (a.reshape((1,) * (rank - a.ndim) + a.shape) for a in (input, other))
    x, y = jnp.expand_dims(x, tuple(range(1, 2 * rank, 2))), jnp.expand_dims(y, tuple(range(0, 2 * rank, 2)))
    z = x & y if x.dtype == bool else x * y
    return z.reshape(tuple(z.shape[2 * d] * z.shape[2 * d + 1] for d in range(rank)))


@op()
def inner(input: Array, other: Array):
    """Sums of products over the last dimensions. input (*A, K), other (*B, K) of one type; z (*A, *B).

    A Tensor without dimensions multiplies the other. Raises RuntimeError for sizes or types that don't fit.
    """
    if not input.ndim or not other.ndim:
        return input * other
    if input.dtype != other.dtype:
        raise OpError("inner(): both inputs should have same dtype")
    if input.shape[-1] != other.shape[-1]:
        raise OpError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(input.shape)} and {list(other.shape)}"
        )
    return _over(input, other, (input.ndim - 1,), (other.ndim - 1,))


def _over(x: Array, y: Array, x_dims: Sequence[int], y_dims: Sequence[int]) -> Array:
    refuse("addmm_impl_cpu_", x, "b")
    wide = jnp.float32 if is_floating(x) and x.dtype.itemsize <= 2 else None
    return jnp.tensordot(x, y, (tuple(x_dims), tuple(y_dims)), preferred_element_type=wide).astype(x.dtype)


@op(name="_tensordot", method=False)
def _tensordot(a: Array, b: Array, x_dims, y_dims):
    """Sums of products over pairs of dimensions."""
    if a.dtype != b.dtype:
        raise OpError("tensordot(): both inputs should have same dtype")
    xs, ys = ([wrap_dim(d, t.ndim) for d in dims] for t, dims in ((a, x_dims), (b, y_dims)))
    for given, other, i, j in zip(x_dims, y_dims, xs, ys, strict=True):
        # A size of 1 is broadcast: the other side's elements are added up.
        if a.shape[i] == 1 and b.shape[j] != 1:
            b = jnp.sum(b, axis=j, keepdims=True, dtype=b.dtype)
        elif b.shape[j] == 1 and a.shape[i] != 1:
            a = jnp.sum(a, axis=i, keepdims=True, dtype=a.dtype)
        if a.shape[i] != b.shape[j]:
            raise OpError(
                f"contracted dimensions need to match, but first has size {a.shape[i]} in dim {given} and second has size "
                f"{b.shape[j]} in dim {other}"
            )
    return _over(a, b, xs, ys)


@function()
def tensordot(a: Any, b: Any, dims: Any = 2, out: Any = None) -> Any:
    """Sum of products over pairs of dimensions.

    Args:
        a: (*A, *K).
        b: (*K, *B), of the same type.
        dims: how many of a's last and b's first dimensions; or two lists of dimensions.

    Returns:
        The dimensions of a that remain, then those of b.

    Raises:
        RuntimeError: sizes, types or numbers of dimensions that don't fit.
    """
    if isinstance(dims, Handle):
        dims = dims.tolist() if dims.numel() > 1 else dims.item()
    if isinstance(dims, (list, tuple)):
        x_dims, y_dims = ((d,) if isinstance(d, int) else tuple(d) for d in dims)
    else:
        if dims < 0:
            raise OpError(f"tensordot expects dims >= 0, but got dims={dims}")
        if dims > min(a.dim(), b.dim()):
            raise OpError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
        x_dims, y_dims = tuple(range(-dims, 0)), tuple(range(dims))
    if len(x_dims) != len(y_dims):
        raise OpError("both dimension lists should have same length")
    left = max(a.dim(), b.dim()) - len(x_dims)  # without dimensions left it is no product of matrices
    if casting.active and out is None and left > 0:
        a, b = casting.cast_arguments("mm", (a, b))
    return _tensordot(a, b, x_dims, y_dims, out=out)


@function()
def chain_matmul(*matrices: Any, out: Any = None) -> Any:
    """Product of several matrices in the cheapest order (see `linalg.multi_dot`)."""
    given = matrices[0] if len(matrices) == 1 and isinstance(matrices[0], (list, tuple)) else matrices
    return given[0] if len(given) == 1 else multi_dot(given, out=out)


@function("linalg")
def multi_dot(tensors: Sequence[Any], *, out: Any = None) -> Any:
    """Product of two or more matrices in the order that needs the fewest multiplications.

    Args:
        tensors: (N0, N1), (N1, N2), ...; the first and the last may be vectors, whose dimension the result lacks.

    Raises:
        RuntimeError: fewer than two, other ranks, or sizes that don't fit.
    """
    return _multi_dot(tensors, out=out)


@op(name="_multi_dot", method=False)
def _multi_dot(tensors: Arrays):
    """Product of matrices."""
    if len(tensors) < 2:
        raise OpError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    for i, a in enumerate(tensors):
        ranks = (1, 2) if i in (0, len(tensors) - 1) else (2,)
        if a.ndim not in ranks:
            wanted = "1D or 2D" if len(ranks) == 2 else "2D"
            raise OpError(f"multi_dot(): tensor {i} must be {wanted} but got {a.ndim}D")
        if a.dtype != tensors[0].dtype:
            raise OpError(
                f"multi_dot(): all tensors must have be the same dtype but tensor 0 is {kind_of(tensors[0])} and tensor {i} "
                f"{kind_of(a)}"
            )
    for i, (a, b) in enumerate(zip(tensors, tensors[1:], strict=False)):
        if a.shape[-1] != b.shape[0]:
            raise OpError(
                f"multi_dot(): tensors {i} and {i + 1} with shapes {list(a.shape)} and {list(b.shape)} cannot be multiplied"
            )
    kind = tensors[0].dtype
    wide = [a.astype(jnp.float32) if is_floating(a) and a.dtype.itemsize <= 2 else a for a in tensors]
    return jnp.linalg.multi_dot(wide).astype(kind)
