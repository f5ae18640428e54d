"""Normalisation of features to mean 0 and variance 1, or to size 1. Halves are computed in float32.

The mean is subtracted before squares are taken, so that a mean that is large beside the deviations does no harm.
"""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp

from ..errors import ArgumentTypeError, ArgumentValueError, OpError
from . import registry
from .activation import PURE, floating
from .declare import Array, function, op
from .operands import is_floating, refuse

MIXED = "mixed dtype (CPU): expect parameter to have scalar type of Float"
ONE_VALUE = "Expected more than 1 value per channel when training, got input size {}"


def wide(x: Array) -> Array:
    """Halves as float32, other types as they are."""
    return x.astype(jnp.float32) if x.dtype.itemsize <= 2 else x


def check_types(x: Array, *parameters: Array | None) -> None:
    """Raise RuntimeError for parameters of another type; halves may have parameters of float32."""
    for p in parameters:
        if p is not None and p.dtype != x.dtype:
            if is_floating(x) and x.dtype.itemsize <= 2 and p.dtype == jnp.float32:
                continue
            raise OpError(MIXED if p.dtype != jnp.float32 else "mixed dtype (CPU): all inputs must share same datatype.")


def affine(x: Array, weight: Array | None, bias: Array | None, shape: tuple[int, ...]) -> Array:
    """x times weight plus bias, both of them reshaped to ``shape``."""
    if weight is not None:
        x = x * wide(weight).reshape(shape)
    return x if bias is None else x + wide(bias).reshape(shape)


def standardised(x: Array, axes: tuple[int, ...], eps: float) -> tuple[Array, Array, Array]:
    """x with mean 0 and variance 1 over ``axes``, with the mean and the variance."""
    mean = jnp.mean(x, axis=axes, keepdims=True)
    rest = x - mean
    var = jnp.mean(rest * rest, axis=axes, keepdims=True)
    return rest * jax.lax.rsqrt(var + eps), mean, var


def _trailing(x: Array, shape: Any, name: str, star: str, **parameters: Array | None) -> tuple[int, ...]:
    """The axes that ``normalized_shape`` covers."""
    if not shape:
        raise OpError(
            "Expected normalized_shape to be at least 1-dimensional, i.e., containing at least one element, but got "
            "normalized_shape = []"
        )
    for which, p in parameters.items():
        if p is not None and p.shape != tuple(shape):
            raise OpError(
                f"Expected {which} to be of same shape as normalized_shape, but got {which} of shape {list(p.shape)} and "
                f"normalized_shape = {list(shape)}"
            )
    if x.ndim < len(shape) or x.shape[x.ndim - len(shape) :] != tuple(shape):
        sizes = ", ".join(map(str, shape))
        raise OpError(
            f"Given normalized_shape={list(shape)}, expected input with shape [*{star}{sizes}], but got input of size"
            f"{list(x.shape)}"
        )
    return tuple(range(x.ndim - len(shape), x.ndim))


def _check_shape_argument(input: Any, normalized_shape: Any, *rest: Any) -> None:
    if not isinstance(normalized_shape, (tuple, list)):
        raise ArgumentTypeError(
            f"layer_norm(): argument 'normalized_shape' (position 2) must be tuple of ints, not {type(normalized_shape).__name__}"
        )


@op(namespace="nn.functional", out=False, check=_check_shape_argument)
def layer_norm(input: Array, normalized_shape, weight: Array | None = None, bias: Array | None = None, eps=1e-5):
    """Mean 0 and variance 1 over the last dimensions: z = (x - mean) / sqrt(var + eps) w + b.

    Args:
        input: (*, S) of floats.
        normalized_shape: S, the sizes of the last dimensions.
        weight: S; bias: S.
        eps: keeps the root away from 0.

    Returns:
        (*, S).

    Raises:
        RuntimeError: sizes or types that don't fit.

    Source: Ba et al., "Layer Normalization", 2016.
    """
    axes = _trailing(input, normalized_shape, "layer_norm", ", ", weight=weight, bias=bias)
    refuse("LayerNormKernelImpl", input, "bic")
    check_types(input, weight, bias)
    z, _, _ = standardised(wide(input), axes, eps)
    return affine(z, weight, bias, tuple(normalized_shape)).astype(input.dtype)


@op(namespace="nn.functional", out=False)
def rms_norm(input: Array, normalized_shape, weight: Array | None = None, eps=None):
    """Mean square 1 over the last dimensions: z = x / sqrt(mean(x^2) + eps) w.

    Args:
        input: (*, S) of floats.
        normalized_shape: S, the sizes of the last dimensions.
        weight: S.
        eps: keeps the root away from 0; None: the machine epsilon of input's type, float32's for halves.

    Returns:
        (*, S).

    Raises:
        RuntimeError: sizes that don't fit.

    Source: Zhang and Sennrich, "Root Mean Square Layer Normalization", 2019, eq. 4.
    """
    axes = _trailing(input, normalized_shape, "rms_norm", "", weight=weight)
    refuse("rms_norm", input, "bi")
    x = wide(input)
    # Halves are computed in float32, and it's that type's epsilon which keeps their root away from 0.
    floor = float(jnp.finfo(jnp.promote_types(input.dtype, jnp.float32)).eps) if eps is None else eps
    z = x * jax.lax.rsqrt(jnp.mean(x * x, axis=axes, keepdims=True) + floor)
    return affine(z, weight, None, tuple(normalized_shape)).astype(input.dtype)


@op(namespace=PURE, name="group_norm", out=False)
def _group_norm(input: Array, num_groups, weight: Array | None, bias: Array | None, eps):
    """Mean 0 and variance 1 in each group of channels."""
    refuse("GroupNormKernelImpl", input, "bic")
    batch, channels = input.shape[:2]
    if channels % num_groups:
        raise OpError(
            "Expected number of channels in input to be divisible by num_groups, but got input of shape "
            f"{list(input.shape)} and num_groups={num_groups}"
        )
    for which, p in (("weight", weight), ("bias", bias)):
        if p is not None and p.shape != (channels,):
            raise OpError(
                f"Expected {which} to be a vector of size equal to the number of channels in input, but got {which} of shape "
                f"{list(p.shape)} and input of shape {list(input.shape)}"
            )
    check_types(input, weight, bias)
    x = wide(input).reshape(batch, num_groups, channels // num_groups * math.prod(input.shape[2:]))
    z, _, _ = standardised(x, (2,), eps)
    return affine(z.reshape(input.shape), weight, bias, per_channel(input)).astype(input.dtype)


def per_channel(x: Array) -> tuple[int, ...]:
    """The shape of a vector that belongs to the channels of x (N, C, *)."""
    return (-1,) + (1,) * (x.ndim - 2)


@function("nn.functional")
def group_norm(input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5) -> Any:
    """Mean 0 and variance 1 in each group of channels of each sample, then w and b for each channel.

    Args:
        input: (N, C, *) of floats.
        num_groups: how many groups; divides C.
        weight: (C); bias: (C).
        eps: keeps the root away from 0.

    Returns:
        (N, C, *).

    Raises:
        RuntimeError: sizes that don't fit.
        ValueError: groups of a single value.

    Source: Wu and He, "Group Normalization", 2018.
    """
    shape = input.shape
    if len(shape) < 2:
        raise OpError(f"Expected at least 2 dimensions for input tensor but received {len(shape)}")
    if shape[0] * shape[1] // num_groups * math.prod(shape[2:]) == 1:
        raise ArgumentValueError(ONE_VALUE.format(list(shape)))
    return _group_norm(input, num_groups, weight, bias, eps)


@op(namespace="nn.functional", out=False)
def local_response_norm(input: Array, size, alpha=1e-4, beta=0.75, k=1.0):
    """z = x / (k + alpha mean(x^2))^beta, with the mean over ``size`` neighbouring channels, zeros beyond the ends.

    Args:
        input: (N, C, *) with three dimensions or more.

    Raises:
        ValueError: fewer dimensions.

    Source: Krizhevsky et al., "ImageNet Classification with Deep Convolutional Neural Networks", 2012, section 3.3.
    """
    if input.ndim < 3:
        raise ArgumentValueError(f"Expected 3D or higher dimensionality input (got {input.ndim} dimensions)")
    if input.size == 0:
        return input
    x = wide(floating(input))
    channels = x.shape[1]
    padding = [(0, 0)] * x.ndim
    padding[1] = (size // 2, (size - 1) // 2)
    squares = jnp.pad(x * x, padding)
    total = sum(jax.lax.slice_in_dim(squares, i, i + channels, axis=1) for i in range(size))
    return (x / (total / size * alpha + k) ** beta).astype(floating(input).dtype)


# torch has its own forms of these, with the arguments in other orders.


def _torch_layer_norm(
    input: Any, normalized_shape: Any, weight: Any = None, bias: Any = None, eps: float = 1e-5, cudnn_enable: bool = True
) -> Any:
    """`nn.functional.layer_norm`. input (*, S)."""
    return layer_norm(input, normalized_shape, weight, bias, eps)


def _torch_group_norm(
    input: Any, num_groups: int, weight: Any = None, bias: Any = None, eps: float = 1e-5, cudnn_enabled: bool = True
) -> Any:
    """`nn.functional.group_norm`. input (N, C, *)."""
    return group_norm(input, num_groups, weight, bias, eps)


for _name, _form in {
    "layer_norm": _torch_layer_norm,
    "group_norm": _torch_group_norm,
    "rms_norm": rms_norm,
}.items():
    _form.__name__ = _name
    registry.add("torch", _name, _form)
