"""Initialisation of parameters, in place and without history. Draws are PyTorch's, in its order.

Each function changes its Tensor and returns it.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..autograd.modes import no_grad
from ..cautions import caution
from ..core.call import call
from ..core.op import Op
from ..core.strides import memory_order
from ..dtypes import bool_
from ..errors import ArgumentValueError
from ..ops import registry
from ..ops.random import in_memory_order, sample

__all__ = [
    "calculate_gain", "uniform_", "normal_", "trunc_normal_", "constant_", "ones_", "zeros_", "eye_", "dirac_",
    "xavier_uniform_", "xavier_normal_", "kaiming_uniform_", "kaiming_normal_", "orthogonal_", "sparse_",
    "uniform", "normal", "constant", "eye", "dirac", "xavier_uniform", "xavier_normal", "kaiming_uniform", "kaiming_normal",
    "orthogonal", "sparse",
]  # fmt: skip

GAINS = {
    **dict.fromkeys(
        ("linear", "conv1d", "conv2d", "conv3d", "conv_transpose1d", "conv_transpose2d", "conv_transpose3d", "sigmoid"), 1
    ),
    "tanh": 5.0 / 3,
    "relu": math.sqrt(2.0),
    "selu": 3.0 / 4,  # as PyTorch has it: found by trial for deep networks with SELU
}
_torch = registry.names("torch")
LIKELY = 0.3  # the chance to lie in [a, b] from which drawing again is cheaper
NO_OP = "Initializing zero-element tensors is a no-op"
FANS = "Fan in and fan out can not be computed for tensor with fewer than 2 dimensions"


def _filled(tensor: Any, name: str, *args: Any, **named: Any) -> Any:
    with no_grad():
        return getattr(tensor, name)(*args, **named)


def _no_grad_uniform_(tensor: Any, a: float, b: float, generator: Any = None) -> Any:
    return _filled(tensor, "uniform_", a, b, generator=generator)


def _no_grad_normal_(tensor: Any, mean: float, std: float, generator: Any = None) -> Any:
    return _filled(tensor, "normal_", mean, std, generator=generator)


def _no_grad_trunc_normal_(tensor: Any, mean: float, std: float, a: float, b: float, generator: Any = None) -> Any:
    return trunc_normal_(tensor, mean, std, a, b, generator)


def _no_grad_fill_(tensor: Any, val: float) -> Any:
    return _filled(tensor, "fill_", val)


def _no_grad_zero_(tensor: Any) -> Any:
    return _filled(tensor, "zero_")


def calculate_gain(nonlinearity: str, param: Any = None) -> float:
    """The factor by which a nonlinearity's weights are scaled: 1 for linear ones, 5/3 for tanh, sqrt(2) for relu,
    sqrt(2 / (1 + slope^2)) for leaky_relu, 3/4 for selu.

    Args:
        nonlinearity: the name of a function of `nn.functional`.
        param: the slope of ``leaky_relu`` (0.01 if None).

    Raises:
        ValueError: another name, or a slope that is no number.
    """
    if nonlinearity in GAINS:
        return GAINS[nonlinearity]
    if nonlinearity != "leaky_relu":
        raise ArgumentValueError(f"Unsupported nonlinearity {nonlinearity}")
    if param is not None and (isinstance(param, bool) or not isinstance(param, (int, float))):
        raise ArgumentValueError(f"negative_slope {param} not a valid number")
    return math.sqrt(2.0 / (1 + (0.01 if param is None else param) ** 2))


def uniform_(tensor: Any, a: float = 0.0, b: float = 1.0, generator: Any = None) -> Any:
    """Numbers uniform on [a, b). tensor (*)."""
    return _no_grad_uniform_(tensor, a, b, generator)


def normal_(tensor: Any, mean: float = 0.0, std: float = 1.0, generator: Any = None) -> Any:
    """Normal numbers. tensor (*)."""
    return _no_grad_normal_(tensor, mean, std, generator)


def trunc_normal_(
    tensor: Any, mean: float = 0.0, std: float = 1.0, a: float = -2.0, b: float = 2.0, generator: Any = None
) -> Any:
    """Normal numbers on the condition that they lie in [a, b]. tensor (*) of floats.

    Warns where the mean is more than two deviations outside [a, b]: the distribution may be off.
    """

    def below(x: float) -> float:
        return (1.0 + math.erf(x / math.sqrt(2.0))) / 2.0

    if mean < a - 2 * std or mean > b + 2 * std:
        caution("mean is more than 2 std from [a, b] in nn.init.trunc_normal_. The distribution of values may be incorrect.")
    if tensor.is_meta:
        return tensor
    likely = below((b - mean) / std) - below((a - mean) / std) > LIKELY
    with no_grad():
        (_redrawn_normal if likely else _accepted_uniform)(tensor, mean, std, a, b, generator)
    return tensor


def _redrawn_normal(tensor: Any, mean: float, std: float, a: float, b: float, generator: Any) -> None:
    """Draw from the normal distribution, and draw all anew as long as one to be replaced lies outside."""
    tensor.normal_(mean, std, generator=generator)
    low, high = (float(np.asarray(end, tensor.dtype.numpy)) for end in (a, b))
    while bool((outside := (tensor < low) | (tensor > high)).any()):
        fresh = _drawn_like(tensor, "normal", generator, mean, std, contiguous=memory_order(tensor) is None)
        tensor.copy_(_torch["where"](outside, fresh, tensor))


def _accepted_uniform(tensor: Any, mean: float, std: float, a: float, b: float, generator: Any) -> None:
    """Propose numbers uniform on [a, b], and take each with the share of the greatest density that its own has."""
    mode = max(a, min(mean, b))
    highest = -0.5 * ((mode - mean) / std) ** 2
    pending = _torch["ones_like"](tensor, dtype=bool_)
    while bool(pending.any()):
        proposal = _drawn_like(tensor, "uniform", generator, a, b)
        tensor.copy_(_torch["where"](pending, proposal, tensor))
        height = ((proposal - mean) / std).pow(2) * -0.5 - highest
        pending = pending & (_drawn_like(tensor, "uniform", generator).log() > height)


def _drawn_like(tensor: Any, kind: str, generator: Any, *parameters: float, **named: Any) -> Any:
    """New numbers for a tensor's elements, in the order in which they lie in memory."""
    return in_memory_order(tensor, lambda shape: sample(kind, shape, tensor.dtype, generator, *map(float, parameters), **named))


def constant_(tensor: Any, val: float) -> Any:
    """The same number everywhere. tensor (*)."""
    return _no_grad_fill_(tensor, val)


def ones_(tensor: Any) -> Any:
    """Ones. tensor (*)."""
    return _no_grad_fill_(tensor, 1.0)


def zeros_(tensor: Any) -> Any:
    """Zeros. tensor (*)."""
    return _no_grad_zero_(tensor)


def eye_(tensor: Any) -> Any:
    """The identity. tensor (N, M). Raises ValueError for another rank."""
    if tensor.dim() != 2:
        raise ArgumentValueError("Only tensors with 2 dimensions are supported")
    identity = _torch["eye"](*tensor.shape, dtype=tensor.dtype)
    return _filled(tensor, "copy_", identity)


def dirac_(tensor: Any, groups: int = 1) -> Any:
    """The convolution that keeps as many of its input's channels as it can, in each group. tensor (C_out, C_in, *).

    Raises ValueError for another rank than 3, 4 or 5, or if ``groups`` doesn't divide C_out.
    """
    shape = tuple(tensor.shape)
    if len(shape) not in (3, 4, 5):
        raise ArgumentValueError("Only tensors with 3, 4, or 5 dimensions are supported")
    if shape[0] % groups:
        raise ArgumentValueError("dim 0 must be divisible by groups")
    per_group = shape[0] // groups
    middle = tuple(n // 2 for n in shape[2:])
    with no_grad():
        tensor.zero_()
        for g in range(groups):
            for d in range(min(per_group, shape[1])):
                tensor[(g * per_group + d, d, *middle)] = 1
    return tensor


def _calculate_fan_in_and_fan_out(tensor: Any) -> tuple[int, int]:
    """How many inputs and outputs a weight (out, in, *) has for each of its units."""
    shape = tuple(tensor.shape)
    if len(shape) < 2:
        raise ArgumentValueError(FANS)
    field = math.prod(shape[2:])
    return shape[1] * field, shape[0] * field


def _calculate_correct_fan(tensor: Any, mode: str) -> int:
    mode = mode.lower()
    if mode not in ("fan_in", "fan_out"):
        raise ArgumentValueError(f"Mode {mode} not supported, please use one of ['fan_in', 'fan_out']")
    return _calculate_fan_in_and_fan_out(tensor)[mode == "fan_out"]


def xavier_uniform_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Uniform on [-a, a) with a = gain sqrt(6 / (fan_in + fan_out)). tensor (out, in, *). Raises ValueError for a vector.

    Source: Glorot and Bengio, "Understanding the difficulty of training deep feedforward neural networks", 2010.
    """
    bound = math.sqrt(3.0) * gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return uniform_(tensor, -bound, bound, generator)


def xavier_normal_(tensor: Any, gain: float = 1.0, generator: Any = None) -> Any:
    """Normal with deviation gain sqrt(2 / (fan_in + fan_out)). tensor (out, in, *). Raises ValueError for a vector."""
    std = gain * math.sqrt(2.0 / sum(_calculate_fan_in_and_fan_out(tensor)))
    return normal_(tensor, 0.0, std, generator)


def _kaiming_std(tensor: Any, a: float, mode: str, nonlinearity: str) -> float | None:
    if 0 in tensor.shape:
        caution(NO_OP)
        return None
    return calculate_gain(nonlinearity, a) / math.sqrt(_calculate_correct_fan(tensor, mode))


def kaiming_uniform_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Any:
    """Uniform on [-b, b) with b = gain sqrt(3 / fan).

    Args:
        tensor: (out, in, *).
        a: the slope of ``leaky_relu``.
        mode: "fan_in" or "fan_out".
        nonlinearity: whose gain (see `calculate_gain`).

    Raises:
        ValueError: a vector, or an unknown mode or nonlinearity.

    Source: He et al., "Delving Deep into Rectifiers", 2015.
    """
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    if std is None:
        return tensor
    return uniform_(tensor, -math.sqrt(3.0) * std, math.sqrt(3.0) * std, generator)


def kaiming_normal_(
    tensor: Any, a: float = 0, mode: str = "fan_in", nonlinearity: str = "leaky_relu", generator: Any = None
) -> Any:
    """Normal with deviation gain / sqrt(fan). Arguments and errors: as in `kaiming_uniform_`."""
    std = _kaiming_std(tensor, a, mode, nonlinearity)
    return tensor if std is None else normal_(tensor, 0, std, generator)


def _orthonormal_columns(x: Any) -> Any:
    q, r = jnp.linalg.qr(x)
    return q * jnp.sign(jnp.diagonal(r))  # the signs make the distribution uniform


_orthonormal = Op(_orthonormal_columns, "orthonormal_columns")


def orthogonal_(tensor: Any, gain: float = 1, generator: Any = None) -> Any:
    """A matrix with orthogonal rows or columns of length gain. tensor (N, *), seen as (N, M). Raises ValueError for a vector.

    Source: Saxe et al., "Exact solutions to the nonlinear dynamics of learning in deep linear neural networks", 2013.
    """
    if tensor.dim() < 2:
        raise ArgumentValueError("Only tensors with 2 or more dimensions are supported")
    if not tensor.numel():
        return tensor
    rows = tensor.shape[0]
    columns = tensor.numel() // rows
    with no_grad():
        flat = _torch["empty"](rows, columns, dtype=tensor.dtype).normal_(0, 1, generator=generator)
        q = call(_orthonormal, (flat.t() if rows < columns else flat,))
        tensor.copy_((q.t() if rows < columns else q).reshape(tensor.shape))
        tensor.mul_(gain)
    return tensor


def sparse_(tensor: Any, sparsity: float, std: float = 0.01, generator: Any = None) -> Any:
    """Normal numbers of which a share ``sparsity`` in each column is 0. tensor (N, M). Raises ValueError for another rank.

    Source: Martens, "Deep learning via Hessian-free optimization", 2010.
    """
    if tensor.dim() != 2:
        raise ArgumentValueError("Only tensors with 2 dimensions are supported")
    rows, columns = tensor.shape
    zeros = math.ceil(sparsity * rows)
    with no_grad():
        tensor.normal_(0, std, generator=generator)
        for column in range(columns):
            tensor[_torch["randperm"](rows)[:zeros], column] = 0
    return tensor


def _old(new: Callable) -> Callable:
    """The form without underscore, which warns."""

    def old(*args: Any, **kwargs: Any) -> Any:
        caution(f"`nn.init.{old.__name__}` is now deprecated in favor of `nn.init.{new.__name__}`.", FutureWarning)
        return new(*args, **kwargs)

    old.__name__ = old.__qualname__ = new.__name__[:-1]
    old.__doc__ = f"`{new.__name__}`, with a warning."
    return old


uniform, normal, constant, eye, dirac = (_old(f) for f in (uniform_, normal_, constant_, eye_, dirac_))
xavier_uniform, xavier_normal = _old(xavier_uniform_), _old(xavier_normal_)
kaiming_uniform, kaiming_normal = _old(kaiming_uniform_), _old(kaiming_normal_)
orthogonal, sparse = _old(orthogonal_), _old(sparse_)
