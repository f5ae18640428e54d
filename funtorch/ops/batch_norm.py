"""Normalisation of each channel over a batch or over a sample, with running statistics. Halves are computed in float32."""

from __future__ import annotations

import math
from typing import Any

import jax

from ..core.handle import Handle
from ..errors import ArgumentValueError, OpError
from ..size import Size
from . import registry
from .activation import PURE
from .buffers import update
from .declare import Array, function, op
from .norm import ONE_VALUE, affine, check_types, per_channel, standardised, wide
from .operands import refuse

ONE_PLACE = "Expected more than 1 spatial element when training, got input size {}"


def _check_channels(x: Array, statistics: int, **parameters: Array | None) -> None:
    channels = x.shape[1] if x.ndim > 1 else 0
    for which, p in parameters.items():
        expected = statistics if which.startswith("running") else channels
        if p is not None and p.size != expected:
            raise OpError(f"{which} should contain {expected} elements not {p.size}")


@op(namespace=PURE, name="batch_norm", out=False)
def _normalised_batch(
    input: Array, running_mean: Array | None, running_var: Array | None, weight: Array | None, bias: Array | None,
    average: Array | None, momentum, eps, instances,
):  # fmt: skip
    """z, and the running statistics moved towards those of the batch (of each sample: the mean of theirs)."""
    refuse("batch_norm", input, "bic")
    _check_channels(
        input, input.shape[1] if input.ndim > 1 else 0,
        running_mean=running_mean, running_var=running_var, weight=weight, bias=bias,
    )  # fmt: skip
    check_types(input, weight, bias, running_mean, running_var)
    axes = tuple(d for d in range(input.ndim) if d != 1 and not (instances and d == 0))
    z, mean, var = standardised(wide(input), axes, eps)
    z = affine(z, weight, bias, per_channel(input)).astype(input.dtype)
    if running_mean is None or running_var is None:
        return z
    count = math.prod(input.shape[d] for d in axes)
    step = momentum if average is None else average
    moved = []
    for running, new in ((running_mean, mean), (running_var, var * (count / max(count - 1, 1)))):
        new = jax.lax.stop_gradient(new).reshape((input.shape[0] if instances else 1), -1).mean(0)
        moved.append((wide(running) * (1 - step) + new * step).astype(running.dtype))
    return z, *moved


@op(namespace=PURE, name="batch_norm_eval", out=False)
def _with_statistics(input: Array, running_mean: Array, running_var: Array, weight: Array | None, bias: Array | None, eps):
    """z = (x - mean) / sqrt(var + eps) w + b with given statistics."""
    refuse("batch_norm", input, "bic")
    _check_channels(
        input, input.shape[1] if input.ndim > 1 else 0,
        running_mean=running_mean, running_var=running_var, weight=weight, bias=bias,
    )  # fmt: skip
    check_types(input, weight, bias, running_mean, running_var)
    shape = per_channel(input)
    z = (wide(input) - wide(running_mean).reshape(shape)) * jax.lax.rsqrt(wide(running_var).reshape(shape) + eps)
    return affine(z, weight, bias, shape).astype(input.dtype)


def _by_batch(input: Any, mean: Any, var: Any, weight: Any, bias: Any, momentum: Any, eps: float, instances: bool) -> Any:
    """Normalise by the statistics of the batch, and move the running ones in place."""
    average = momentum if isinstance(momentum, Handle) else None
    step = 0.0 if average is not None or momentum is None else float(momentum)
    result = _normalised_batch(input, mean, var, weight, bias, average, step, eps, instances)
    if mean is None:
        return result
    z, new_mean, new_var = result
    update(mean, new_mean)
    update(var, new_var)
    return z


@function("nn.functional")
def batch_norm(
    input: Any, running_mean: Any, running_var: Any, weight: Any = None, bias: Any = None, training: bool = False,
    momentum: Any = 0.1, eps: float = 1e-5,
) -> Any:  # fmt: skip
    """Mean 0 and variance 1 for each channel: z = (x - mean) / sqrt(var + eps) w + b.

    Args:
        input: (N, C, *) of floats.
        running_mean: (C), running_var: (C); both or neither.
        weight: (C); bias: (C).
        training: use the statistics of the batch, and move the running ones in place, the variance unbiased:
            r <- (1 - momentum) r + momentum s. Otherwise use the running ones.
        momentum: a number, or a Tensor ().
        eps: keeps the root away from 0.

    Returns:
        (N, C, *).

    Raises:
        ValueError: training with a single value for each channel, or with only one of the running statistics.
        RuntimeError: sizes or types that don't fit, or no running statistics without ``training``.

    Source: Ioffe and Szegedy, "Batch Normalization", 2015, algorithms 1 and 2.
    """
    if training:
        shape = input.shape
        if len(shape) > 1 and shape[0] * math.prod(shape[2:]) == 1:
            raise ArgumentValueError(ONE_VALUE.format(Size(shape)))
        if (running_mean is None) != (running_var is None):
            raise ArgumentValueError("running_mean and running_var must either both be None or neither be None")
        return _by_batch(input, running_mean, running_var, weight, bias, momentum, eps, False)
    for name, statistic in (("running_mean", running_mean), ("running_var", running_var)):
        if statistic is None:
            raise OpError(f"{name} must be defined in evaluation mode")
    return _with_statistics(input, running_mean, running_var, weight, bias, eps)


@function("nn.functional")
def instance_norm(
    input: Any, running_mean: Any = None, running_var: Any = None, weight: Any = None, bias: Any = None,
    use_input_stats: bool = True, momentum: float = 0.1, eps: float = 1e-5,
) -> Any:  # fmt: skip
    """Mean 0 and variance 1 for each channel of each sample.

    Args:
        input: (N, C, *) of floats.
        running_mean: (C), running_var: (C): moved towards the mean of the samples' statistics.
        weight: (C); bias: (C).
        use_input_stats: whether to use the samples' statistics, or the running ones.
        momentum, eps: as in `batch_norm`.

    Raises:
        ValueError: a single place in each channel.
        RuntimeError: sizes or types that don't fit, or no running statistics without ``use_input_stats``.

    Source: Ulyanov et al., "Instance Normalization", 2016.
    """
    if use_input_stats:
        if math.prod(input.shape[2:]) == 1:
            raise ArgumentValueError(ONE_PLACE.format(Size(input.shape)))
        return _by_batch(input, running_mean, running_var, weight, bias, momentum, eps, True)
    if running_mean is None or running_var is None:
        raise OpError("Expected running_mean and running_var to be defined when use_input_stats is false")
    return _with_statistics(input, running_mean, running_var, weight, bias, eps)


def _torch_batch_norm(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, training: bool, momentum: float, eps: float,
    cudnn_enabled: bool,
) -> Any:  # fmt: skip
    """`nn.functional.batch_norm` with the arguments in another order. input (N, C, *)."""
    if training:
        return _by_batch(input, running_mean, running_var, weight, bias, momentum, eps, False)
    return batch_norm(input, running_mean, running_var, weight, bias, False, momentum, eps)


def _torch_instance_norm(
    input: Any, weight: Any, bias: Any, running_mean: Any, running_var: Any, use_input_stats: bool, momentum: float, eps: float,
    cudnn_enabled: bool,
) -> Any:  # fmt: skip
    """`nn.functional.instance_norm` with the arguments in another order. input (N, C, *)."""
    return instance_norm(input, running_mean, running_var, weight, bias, use_input_stats, momentum, eps)


for _name, _form in {"batch_norm": _torch_batch_norm, "instance_norm": _torch_instance_norm}.items():
    _form.__name__ = _name
    registry.add("torch", _name, _form)
