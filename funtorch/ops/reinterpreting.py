"""The same bytes read as another dtype: what ``x.view(dtype)`` does."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from ..core.strides import layout
from ..core.views import alias
from ..dtypes import dtype
from ..errors import OpError
from .kept import viewing

Sizes = tuple[int, ...]


def _bits(x: Any, to: Any) -> Any:
    """The bytes of ``x`` read as ``to``; sizes along the last axis change with the width."""
    have = x.dtype.itemsize
    if x.dtype.kind == "c":
        x = jnp.stack([x.real, x.imag], -1).reshape(*x.shape[:-1], -1) if x.ndim else jnp.stack([x.real, x.imag], -1)
        return _bits(x, to) if to.kind != "c" else x
    if to.kind == "c":
        part = jnp.finfo(to).dtype
        pairs = _bits(x, part)
        return lax.complex(pairs[..., ::2], pairs[..., 1::2]).reshape(*x.shape[:-1], -1)
    if to.kind == "b":
        return _bits(x, jnp.dtype(jnp.uint8)) != 0
    x = x.astype(jnp.uint8) if x.dtype.kind == "b" else x
    if to.itemsize > have:
        x = x.reshape(*x.shape[:-1], -1, to.itemsize // have)
    read = lax.bitcast_convert_type(x, to)
    return read.reshape(*x.shape[:-1], -1) if to.itemsize < have else read


def _bits_layout(shape: Sizes, strides: Sizes, offset: int, to: Any, have: Any) -> tuple:
    width, new = have.itemsize, to.itemsize
    if width == new:
        return shape, strides, offset
    sizes = (*shape[:-1], shape[-1] * width // new)
    return sizes, (*(s * width // new for s in strides[:-1]), 1), offset * width // new


@viewing("view", lambda base, value, to, have: _bits(value, have).reshape(base.shape), _bits_layout, retypes=True)
def _read_as(x: Any, to: Any, have: Any) -> Any:
    return _bits(x, to)


def reinterpreted(x: Any, to: dtype) -> Any:
    """A view of the bytes of ``x`` as ``to``. Raises RuntimeError where the widths do not fit."""
    have, shape = x.dtype, tuple(x.shape)
    if to is have:
        return alias(x, detached=False)
    if to.itemsize != have.itemsize and not shape:
        raise OpError(f"self.dim() cannot be 0 to view {have} as {to} (different element sizes)")
    if to.itemsize != have.itemsize and layout(x)[0][-1] != 1:
        raise OpError(f"self.stride(-1) must be 1 to view {have} as {to} (different element sizes), but got {layout(x)[0][-1]}")
    if to.itemsize > have.itemsize and shape[-1] * have.itemsize % to.itemsize:
        raise OpError(
            f"self.size(-1) must be divisible by {to.itemsize // have.itemsize} to view {have} as {to} (different element "
            f"sizes), but got {shape[-1]}"
        )
    return _read_as(x, to.numpy, have.numpy)
