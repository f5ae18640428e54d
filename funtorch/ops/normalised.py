"""Softmax and its kin: exponentials normalised along a dimension. Halves are computed in float32."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..cautions import caution, caution_once
from ..core.dims import wrap_dim
from ..dtypes import dtype
from .arithmetic import neg
from .assignment import ONLY_REAL
from .declare import Array, function, op
from .operands import in_float32, refuse


def _in_type(input: Array, kind: dtype | None, name: str) -> Array:
    if kind is not None and jnp.iscomplexobj(input) and not kind.is_complex:
        caution_once(ONLY_REAL)
        input = input.real
    x = input if kind is None else input.astype(kind.numpy)
    refuse(name, x, "bic")
    return x


@op(alias=("special.softmax",))
def softmax(input: Array, dim, dtype=None):
    """Normalised exponentials along a dimension: z_i = e^x_i / sum_j e^x_j. input (*), dtype: the type to convert to first.

    Raises IndexError for a dimension out of range, RuntimeError for integers.
    """
    x = _in_type(input, dtype, "softmax")
    return in_float32(_normalised)(x, axis=wrap_dim(dim, x.ndim))


def _normalised(x: Array, axis: int) -> Array:
    if not x.ndim or not x.size:
        return jnp.ones_like(x) + 0 * x
    exps = jnp.exp(x - jax.lax.stop_gradient(jnp.max(x, axis=axis, keepdims=True)))
    return exps / jnp.sum(exps, axis=axis, keepdims=True)


@op(alias=("special.log_softmax",))
def log_softmax(input: Array, dim, dtype=None):
    """Logarithm of `softmax`: z_i = x_i - log sum_j e^x_j. input (*), dtype: the type to convert to first.

    Raises IndexError for a dimension out of range, RuntimeError for integers.
    """
    x = _in_type(input, dtype, "log_softmax")
    return in_float32(_log_normalised)(x, axis=wrap_dim(dim, x.ndim))


def _log_normalised(x: Array, axis: int) -> Array:
    if not x.ndim or not x.size:
        return 0 * x
    shifted = x - jax.lax.stop_gradient(jnp.max(x, axis=axis, keepdims=True))
    return shifted - jnp.log(jnp.sum(jnp.exp(shifted), axis=axis, keepdims=True))


def implicit_dim(name: str, rank: int) -> int:
    """The dimension that PyTorch chooses where none is given, with its warning."""
    caution(f"Implicit dimension choice for {name} has been deprecated. Change the call to include dim=X as an argument.")
    return 0 if rank in (0, 1, 3) else 1


@function("nn.functional", name="softmax")
def _functional_softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Normalised exponentials along a dimension (see `softmax`). input (*); without dim a warning and PyTorch's choice."""
    return softmax(input, implicit_dim("softmax", input.dim()) if dim is None else dim, dtype)


@function("nn.functional", name="log_softmax")
def _functional_log_softmax(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Logarithm of `softmax`. input (*); without dim a warning and PyTorch's choice."""
    return log_softmax(input, implicit_dim("log_softmax", input.dim()) if dim is None else dim, dtype)


@function("nn.functional")
def softmin(input: Any, dim: int | None = None, _stacklevel: int = 3, dtype: Any = None) -> Any:
    """Normalised exponentials of -x along a dimension. input (*)."""
    return softmax(neg(input), implicit_dim("softmin", input.dim()) if dim is None else dim, dtype)
