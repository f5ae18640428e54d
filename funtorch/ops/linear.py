"""Products of matrices and vectors. Operands have one type; halves are multiplied and added up in float32."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp
import numpy as np

from ..core.engine import host_possible
from ..core.state import state
from ..errors import OpError
from . import registry
from .declare import Array, op
from .direct import layers
from .operands import is_floating, kind_of, refuse

# What PyTorch calls the types in the message of a matrix product.
C_NAMES = {
    "float16": "c10::Half", "bfloat16": "c10::BFloat16", "float32": "float", "float64": "double", "int8": "signed char",
    "int16": "short int", "int32": "int", "int64": "long int", "uint8": "unsigned char", "bool": "bool",
    "complex64": "c10::complex<float>", "complex128": "c10::complex<double>",
}  # fmt: skip

NOT_EXPANDED = (
    "The expanded size of the tensor ({}) must match the existing size ({}) at non-singleton dimension {}.  "
    "Target sizes: {}.  Tensor sizes: {}"
)


# Elements of a matrix from which its gradient for a single row is made as a product (see `contract`).
OUTER = 1 << 16


def contract(x: Array, y: Array, last: int, first: int) -> Array:
    """Sum over axis ``last`` of x and ``first`` of y; the other axes of x come first. Halves stay float32.

    For a single row x the gradient of y is an outer product. XLA's CPU code makes that an elementwise one, and computes for each
    element anew what x was made by: where rows are mapped over, and the gradients large, that is most of the work (per-sample
    gradients of a CNN with 1.2M parameters: 430 ms, 230 with a second row of zeros, which keeps it a product).
    """
    wide = jnp.float32 if is_floating(x) and x.dtype.itemsize <= 2 else None
    if state.mapped and x.size == x.shape[last] and y.size >= OUTER and host_possible():
        rows = jnp.stack([x.reshape(-1), jnp.zeros(x.size, x.dtype)])
        z = jax.lax.dot_general(rows, y, (((1,), (first,)), ((), ())), preferred_element_type=wide)[0]
        return z.reshape(*[n for axis, n in enumerate(x.shape) if axis != last], *z.shape)
    return jax.lax.dot_general(x, y, (((last,), (first,)), ((), ())), preferred_element_type=wide)


def batch_product(x: Array, y: Array) -> Array:
    """Products of the matrices in the last two axes; the axes before are broadcast. Halves stay float32."""
    wide = jnp.float32 if is_floating(x) and x.dtype.itemsize <= 2 else None
    return jnp.matmul(x, y, preferred_element_type=wide)


def _one_type(x: Array, y: Array) -> None:
    if x.dtype != y.dtype:
        names = [C_NAMES.get(np.dtype(a.dtype).name, str(a.dtype)) for a in (x, y)]
        raise OpError(f"expected m1 and m2 to have the same dtype, but got: {names[0]} != {names[1]}")
    refuse("addmm_impl_cpu_", x, "b")


def check_fitting(rows: int, inner: int, y_shape: tuple) -> None:
    """Raise RuntimeError unless a matrix (rows, inner) can be multiplied with one of ``y_shape``."""
    if inner != y_shape[0]:
        raise OpError(f"mat1 and mat2 shapes cannot be multiplied ({rows}x{inner} and {y_shape[0]}x{y_shape[1]})")


def _matrices(x: Array, y: Array, x_name: str = "self", y_name: str = "mat2", ranks: bool = False) -> None:
    for a, name in ((x, x_name), (y, y_name)):
        if a.ndim != 2:
            raise OpError(f"{name} must be a matrix" + (f", got {a.ndim}-D tensor" if ranks else ""))
    _one_type(x, y)
    check_fitting(x.shape[0], x.shape[1], y.shape)


def _vectors(x: Array, y: Array, name: str) -> None:
    if x.ndim != 1 or y.ndim != 1:
        raise OpError(f"1D tensors expected, but got {x.ndim}D and {y.ndim}D tensors")
    if x.dtype != y.dtype:
        raise OpError(f"{name} : expected both vectors to have same dtype, but found {kind_of(x)} and {kind_of(y)}")
    refuse(name, x, "b")
    if x.shape != y.shape:
        raise OpError(
            f"inconsistent tensor size, expected tensor [{x.shape[0]}] and src [{y.shape[0]}] to have the same number of "
            f"elements, but got {x.shape[0]} and {y.shape[0]} elements respectively"
        )


def check_matrix_vector(x: Array, y: Array, bias: Array | None = None) -> None:
    """Raise RuntimeError unless x is a matrix, y a vector that fits it, and the bias one that fits the result."""
    ranks = (1 if bias is None else bias.ndim, x.ndim, y.ndim)
    if ranks[0] > 1 or ranks[1:] != (2, 1):
        raise OpError(f"vector + matrix @ vector expected, got {', '.join(map(str, ranks))}")
    length = x.shape[0] if bias is None or bias.size == 1 else bias.shape[0]
    if x.shape[1] != y.shape[0] or length != x.shape[0]:
        raise OpError(f"size mismatch, got input ({length}), mat ({x.shape[0]}x{x.shape[1]}), vec ({y.shape[0]})")
    kinds = [kind_of(a) for a in ((y if bias is None else bias), x, y)]
    if len(set(kinds)) > 1:
        raise OpError(f"addmv input tensors must have the same dtype, but got {kinds[0]}, {kinds[1]}, and {kinds[2]}")
    refuse("addmv_impl_cpu", x, "b")


def check_batches(x: Array, y: Array, names: tuple[str, str] = ("batch1", "batch2")) -> None:
    """Raise RuntimeError unless these are batches of matrices of one type that can be multiplied."""
    for a, name in zip((x, y), names, strict=True):
        if a.ndim != 3:
            raise OpError(f"{name} must be a 3D tensor")
    if x.shape[0] != y.shape[0] or x.shape[2] != y.shape[1]:
        expected, found = [x.shape[0], x.shape[2]], list(y.shape[:2])
        raise OpError(f"Expected size for first two dimensions of batch2 tensor to be: {expected} but got: {found}.")
    if x.dtype != y.dtype:
        raise OpError(f"expected scalar type {kind_of(x)} but found {kind_of(y)}")
    refuse("bmm", x, "b")


@op()
def mm(input: Array, mat2: Array):
    """Product of two matrices. input (N, K), mat2 (K, M) of one type; z (N, M).

    Raises RuntimeError for other ranks, sizes or types.
    """
    _matrices(input, mat2)
    return contract(input, mat2, 1, 0).astype(input.dtype)


@op()
def bmm(input: Array, mat2: Array):
    """Products of matrices in two batches. input (B, N, K), mat2 (B, K, M) of one type; z (B, N, M).

    Raises RuntimeError for other ranks, sizes or types.
    """
    check_batches(input, mat2)
    return batch_product(input, mat2).astype(input.dtype)


@op()
def mv(input: Array, vec: Array):
    """Product of a matrix and a vector. input (N, K), vec (K) of one type; z (N). Raises RuntimeError as `mm`."""
    check_matrix_vector(input, vec)
    return contract(input, vec, 1, 0).astype(input.dtype)


@op()
def dot(input: Array, tensor: Array):
    """Sum of the products of two vectors' elements. input (N), tensor (N) of one type; z (). Raises RuntimeError as `mm`."""
    _vectors(input, tensor, "dot")
    return contract(input, tensor, 0, 0).astype(input.dtype)


@op()
def vdot(input: Array, other: Array):
    """`dot` with the conjugate of ``input``. input (N), other (N) of one type; z (). Raises RuntimeError as `mm`."""
    _vectors(input, other, "vdot")
    return contract(jnp.conj(input), other, 0, 0).astype(input.dtype)


@op(alias=("linalg.matmul",))
def matmul(input: Array, other: Array):
    """Product of matrices, or of a matrix and a vector, with the dimensions before broadcast.

    Args:
        input: (K), (N, K) or (*, N, K).
        other: (K), (K, M) or (*, K, M), of the same type. A vector's missing dimension is also missing in the result.

    Returns:
        (*, N, M).

    Raises:
        RuntimeError: a Tensor without dimensions, sizes that don't fit, or two types.
    """
    x, y = input, other
    if not x.ndim or not y.ndim:
        raise OpError(f"both arguments to matmul need to be at least 1D, but they are {x.ndim}D and {y.ndim}D")
    if x.ndim == 1 and y.ndim == 1:
        _vectors(x, y, "dot")
    elif y.ndim == 1:
        rows = math.prod(x.shape[:-1])
        check_matrix_vector(jax.ShapeDtypeStruct((rows, x.shape[-1]), x.dtype), y)
    elif y.ndim == 2:
        _one_type(x, y)
        check_fitting(math.prod(x.shape[:-1]), x.shape[-1], y.shape)
    else:
        return _broadcast_product(x, y).astype(x.dtype)
    return contract(x, y, x.ndim - 1, 0).astype(x.dtype)


def _broadcast_product(x: Array, y: Array) -> Array:
    for back in range(3, min(x.ndim, y.ndim) + 1):
        a, b = x.shape[-back], y.shape[-back]
        if a != b and 1 not in (a, b):
            at = max(x.ndim, y.ndim) - back
            raise OpError(f"The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton dimension {at}")
    if x.shape[-1] != y.shape[-2]:
        batch = math.prod(np.broadcast_shapes(x.shape[:-2], y.shape[:-2]))
        expected, found = [batch, x.shape[-1]], [batch, y.shape[-2]]
        raise OpError(f"Expected size for first two dimensions of batch2 tensor to be: {expected} but got: {found}.")
    if x.dtype != y.dtype:
        raise OpError(f"expected scalar type {kind_of(x)} but found {kind_of(y)}")
    refuse("bmm", x, "b")
    return batch_product(x, y)


def check_expands(input: Array, shape: tuple, name: str) -> None:
    """Raise PyTorch's error if ``input`` can't be expanded to ``shape``."""
    if input.ndim > len(shape):
        raise OpError(
            f"{name}: expand(torch.{kind_of(input)}Tensor{{{list(input.shape)}}}, size={list(shape)}): the number of sizes "
            f"provided ({len(shape)}) must be greater or equal to the number of dimensions in the tensor ({input.ndim})"
        )
    for back in range(1, input.ndim + 1):
        have, want = input.shape[-back], shape[-back]
        if have not in (1, want):
            at = len(shape) - back
            raise OpError(NOT_EXPANDED.format(want, have, at, list(shape), list(input.shape)))


@op(namespace="nn.functional", gathered=lambda present: layers.LINEAR_CALLS, direct=lambda present: layers.LINEAR)
def linear(input: Array, weight: Array, bias: Array | None = None):
    """z = x W^T + b. input (*, K), weight (M, K) or (K), bias (M) or (); z (*, M) or (*).

    Raises RuntimeError for sizes that don't fit, or several types.
    """
    x = input
    if not x.ndim or not weight.ndim:
        raise OpError(f"both arguments to linear need to be at least 1D, but they are {x.ndim}D and {weight.ndim}D")
    if weight.ndim > 2:
        raise OpError(f"t() expects a tensor with <= 2 dimensions, but self is {weight.ndim}D")
    _one_type(x, weight)
    rows = math.prod(x.shape[:-1])
    turned = weight.shape[::-1]
    check_fitting(rows, x.shape[-1], turned if weight.ndim == 2 else (*turned, 1))
    product = contract(x, weight, x.ndim - 1, weight.ndim - 1)
    if bias is None:
        return product.astype(x.dtype)
    if bias.dtype != x.dtype:
        raise OpError(f"self and mat2 must have the same dtype, but got {kind_of(bias)} and {kind_of(weight)}")
    check_expands(bias, product.shape if bias.ndim > 1 else (rows, *product.shape[-1:]), "linear")
    return (product + bias).astype(x.dtype)


@op(namespace="nn.functional", out=False)
def bilinear(input1: Array, input2: Array, weight: Array, bias: Array | None = None):
    """z_m = x^T W_m y + b_m. input1 (*, K), input2 (*, L), weight (M, K, L), bias (M); z (*, M).

    Raises RuntimeError for sizes or types that don't fit.
    """
    x, y = input1, input2
    named = {"input1": x, "input2": y, "weight": weight} | ({} if bias is None else {"bias": bias})
    if len({a.dtype for a in named.values()}) > 1:
        kinds = ", ".join(f"{name}: {kind_of(a)}" for name, a in named.items())
        raise OpError(f"bilinear(): All tensors must have the same dtype, got {kinds}")
    if x.ndim != y.ndim:
        raise OpError(f"bilinear(): input dimensions do not match: got {x.ndim} and {y.ndim}")
    for at, (a, b) in enumerate(zip(x.shape[:-1], y.shape[:-1], strict=True)):
        if a != b:
            raise OpError(f"bilinear(): input batch dimensions do not match at dim {at}: got {a} and {b}")
    for number, (a, axis) in enumerate(((x, 1), (y, 2)), 1):
        if a.shape[-1] != weight.shape[axis]:
            raise OpError(
                f"bilinear(): input{number} size does not match weight size: got {a.shape[-1]} but expected {weight.shape[axis]}"
            )
    if bias is not None and bias.shape[0] != weight.shape[0]:
        raise OpError(f"bilinear(): bias size does not match weight size: got {bias.shape[0]} but expected {weight.shape[0]}")
    wide = jnp.float32 if x.dtype.itemsize <= 2 else x.dtype
    z = jnp.einsum("...k,mkl,...l->...m", x.astype(wide), weight.astype(wide), y.astype(wide))
    return (z if bias is None else z + bias).astype(x.dtype)


registry.add("torch", "bilinear", bilinear)
