"""torch's own forms of the norms, which return the statistics too (with gradient only for groups, as in PyTorch)."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from .activation import PURE
from .assignment import into
from .batch_norm import batch_norm
from .creation import empty
from .declare import Array, function, op
from .norm import group_norm, layer_norm, wide


@op(namespace=PURE, out=False)
def moments(input: Array, axes, eps, shape):
    """Mean and 1 / sqrt(var + eps) over ``axes`` of input, seen as ``shape``; halves give float32."""
    x = wide(input).reshape(shape)
    mean = jnp.mean(x, axis=axes, keepdims=True)
    var = jnp.mean((x - mean) ** 2, axis=axes, keepdims=True)
    return jnp.squeeze(mean, axes), jnp.squeeze(jax.lax.rsqrt(var + eps), axes)


@function()
def native_layer_norm(input: Any, normalized_shape: Any, weight: Any, bias: Any, eps: float) -> tuple[Any, Any, Any]:
    """`nn.functional.layer_norm`, with the mean and 1 / sqrt(var + eps).

    input (*, S), weight S, bias S; z (*, S), and two of (*, 1, ...).
    """
    z = layer_norm(input, normalized_shape, weight, bias, eps)
    count = len(normalized_shape)
    axes = tuple(range(input.dim() - count, input.dim()))
    kept = (*input.shape[: input.dim() - count], *([1] * count))
    kind = input.dtype if weight is None else weight.dtype
    mean, scale = (s.reshape(kept).to(kind) for s in moments(input.detach(), axes, float(eps), tuple(input.shape)))
    return z, mean, scale


@function()
def native_group_norm(
    input: Any, weight: Any, bias: Any, N: int, C: int, HxW: int, group: int, eps: float
) -> tuple[Any, Any, Any]:
    """`nn.functional.group_norm`, with the mean and 1 / sqrt(var + eps) of each group.

    input (N, C, *), weight (C), bias (C); z the same, and two of (N, group).
    """
    z = group_norm(input, group, weight, bias, eps)
    mean, scale = moments(input, (2,), float(eps), (N, group, C // group * HxW))
    return z, mean.to(input.dtype), scale.to(input.dtype)


@function()
def native_batch_norm(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, momentum: float, eps: float,
    *, out: Any = None,
) -> tuple[Any, Any, Any]:  # fmt: skip
    """`nn.functional.batch_norm`, with the mean and 1 / sqrt(var + eps) of each channel (empty without ``training``).

    input (N, C, *), weight (C), bias (C); z the same, and two of (C).
    """
    z = batch_norm(input, running_mean, running_var, weight, bias, training, momentum, eps)
    found = (z, *_channel_statistics(input, weight, training, eps))
    return found if out is None else into(out, found, "native_batch_norm")


@function(name="_native_batch_norm_legit")
def _native_batch_norm_legit(input: Any, weight: Any, bias: Any, *rest: Any, out: Any = None) -> tuple[Any, Any, Any]:
    """`native_batch_norm`, also without running statistics: ``(input, weight, bias, training, momentum, eps)``.

    input (N, C, *), weight (C), bias (C); z the same, and two of (C).
    """
    statistics, numbers = (rest[:2], rest[2:]) if len(rest) == 5 else ((None, None), rest)
    return native_batch_norm(input, weight, bias, *statistics, *numbers, out=out)


def _channel_statistics(input: Any, weight: Any, training: bool, eps: float) -> tuple[Any, Any]:
    if not training:
        return empty(0, dtype=input.dtype, device=input.device), empty(0, dtype=input.dtype, device=input.device)
    axes = (0, *range(2, input.dim()))
    mean, scale = moments(input.detach(), axes, float(eps), tuple(input.shape))
    kind = input.dtype if weight is None else weight.dtype
    return mean.to(kind), scale.to(kind)
