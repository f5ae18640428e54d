"""Activation functions with PyTorch's ``inplace`` argument, and those that draw random numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..cautions import caution
from ..core.dims import wrap_dim
from ..core.generators import default_generator
from ..core.meta import is_meta
from ..core.rounding import narrow
from ..core.state import state
from ..errors import OpError
from . import activation, registry
from .activation import PURE, one_hot_of_largest, with_slopes
from .assignment import overwrite
from .declare import function
from .laws import by_values
from .normalised import softmax
from .operands import kind_of, refuse
from .random import sample

changing = registry.names(PURE)  # the in-place forms


@function("nn.functional")
def silu(input: Any, inplace: bool = False) -> Any:
    """z = x / (1 + e^-x). input (*) of floats; inplace: change ``input``."""
    return changing["silu_"](input) if inplace else activation.silu(input)


@function("nn.functional")
def mish(input: Any, inplace: bool = False) -> Any:
    """z = x tanh(log(1 + e^x)). input (*) of floats; inplace: change ``input``."""
    return changing["mish_"](input) if inplace else activation.mish(input)


@function("nn.functional")
def leaky_relu(input: Any, negative_slope: float = 0.01, inplace: bool = False) -> Any:
    """z = x for x > 0, else slope x. input (*) of floats; inplace: change ``input``."""
    return changing["leaky_relu_"](input, negative_slope) if inplace else activation.leaky_relu(input, negative_slope)


@function("nn.functional")
def elu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """z = x for x > 0, else alpha (e^x - 1). input (*) of floats; inplace: change ``input``."""
    return changing["elu_"](input, alpha) if inplace else activation.elu(input, alpha)


@function("nn.functional")
def selu(input: Any, inplace: bool = False) -> Any:
    """z = s x for x > 0, else s a (e^x - 1), with constants that keep mean 0 and variance 1. input (*); inplace: change it."""
    return changing["selu_"](input) if inplace else activation.selu(input)


@function("nn.functional")
def celu(input: Any, alpha: float = 1.0, inplace: bool = False) -> Any:
    """z = x for x > 0, else alpha (e^(x / alpha) - 1). input (*) of floats; inplace: change ``input``."""
    return changing["celu_"](input, alpha) if inplace else activation.celu(input, alpha)


@function("nn.functional")
def hardtanh(input: Any, min_val: float = -1.0, max_val: float = 1.0, inplace: bool = False) -> Any:
    """z = x between ``min_val`` and ``max_val``, and these outside. input (*); inplace: change ``input``.

    Raises ValueError if min_val > max_val, RuntimeError for bools.
    """
    return changing["hardtanh_"](input, min_val, max_val) if inplace else activation.hardtanh(input, min_val, max_val)


@function("nn.functional")
def relu6(input: Any, inplace: bool = False) -> Any:
    """z = min(max(x, 0), 6). input (*); inplace: change ``input``."""
    return hardtanh(input, 0.0, 6.0, inplace)


@function("nn.functional")
def hardsigmoid(input: Any, inplace: bool = False) -> Any:
    """z = min(max(x + 3, 0), 6) / 6. input (*) of floats; inplace: change ``input``."""
    return changing["hardsigmoid_"](input) if inplace else activation.hardsigmoid(input)


@function("nn.functional")
def hardswish(input: Any, inplace: bool = False) -> Any:
    """z = x min(max(x + 3, 0), 6) / 6. input (*) of floats; inplace: change ``input``."""
    return changing["hardswish_"](input) if inplace else activation.hardswish(input)


@function("nn.functional")
def threshold(input: Any, threshold: float, value: float, inplace: bool = False) -> Any:
    """z = x where x > threshold, else ``value``. input (*); inplace: change ``input``."""
    return changing["threshold_"](input, threshold, value) if inplace else activation.threshold(input, threshold, value)


def _drawn_slopes(input: Any, lower: float, upper: float, generator: Any) -> Any:
    """A slope for each element that is not positive, in row-major order, as PyTorch draws them; 1 for the others."""
    if is_meta(input):
        return input
    if state.recorder is not None and state.recorder.keyed:
        return sample("uniform", tuple(input.shape), input.dtype, generator, lower, upper)
    twister = (generator or default_generator).twister

    def slopes(values: np.ndarray) -> np.ndarray:
        made = np.ones(values.shape, values.dtype)
        sloping = np.asarray(values <= 0)
        made[sloping] = narrow(twister.doubles(int(np.count_nonzero(sloping))) * (upper - lower) + lower, values.dtype)
        return made

    return by_values(input, "rrelu", slopes)


@function("nn.functional")
def rrelu(
    input: Any,
    lower: float = 1.0 / 8,
    upper: float = 1.0 / 3,
    training: bool = False,
    inplace: bool = False,
    generator: Any = None,
) -> Any:
    """z = x for x > 0, else a x, with a drawn from [lower, upper] for each such element, or their mean if not ``training``.

    Args:
        input: (*) of floats.
        inplace: change ``input``.

    Raises:
        RuntimeError: lower > upper.
    """
    refuse("leaky_relu_cpu", input._payload, "bic")
    if lower > upper:
        raise OpError("Lower bound should be less than or equal to the upper bound")
    if not training:
        return leaky_relu(input, (lower + upper) / 2, inplace)
    slopes = _drawn_slopes(input, float(lower), float(upper), generator)
    return with_slopes_(input, slopes) if inplace else with_slopes(input, slopes)


with_slopes_ = overwrite(with_slopes, "rrelu_")

IN_PLACE = ("leaky_relu_", "elu_", "selu_", "celu_", "hardtanh_", "threshold_")
for _name in IN_PLACE:
    registry.add("nn.functional", _name, changing[_name])


@function("nn.functional", name="rrelu_")
def rrelu_(input: Any, lower: float = 1.0 / 8, upper: float = 1.0 / 3, training: bool = False) -> Any:
    """In-place form of ``rrelu``."""
    return rrelu(input, lower, upper, training, inplace=True)


for _name in ("selu", "celu", "threshold"):
    registry.add("torch", _name, getattr(activation, _name))
    registry.add("torch", f"{_name}_", changing[f"{_name}_"])
registry.add("torch", "rrelu", rrelu)
registry.add("torch", "rrelu_", rrelu_)


@function("nn.functional")
def glu(input: Any, dim: int = -1) -> Any:
    """z = x * 1 / (1 + e^-y), where x and y are the halves of the input along a dimension. input (*, 2 K, *); z (*, K, *).

    Raises RuntimeError for an odd size, IndexError for a dimension out of range.
    """
    if not input.dim():
        raise OpError("glu does not support 0-dimensional tensors")
    axis = wrap_dim(dim, input.dim())
    if input.shape[axis] % 2:
        raise OpError(f"Halving dimension must be even, but dimension {axis} is size {input.shape[axis]}")
    return activation._glu(input, axis)


@function("nn.functional")
def gumbel_softmax(logits: Any, tau: float = 1, hard: bool = False, eps: float = 1e-10, dim: int = -1) -> Any:
    """A sample of the Gumbel-softmax distribution: softmax((x + g) / tau), g with Gumbel's law.

    Args:
        logits: (*) of floats: unnormalised log-probabilities along ``dim``.
        tau: the temperature, above 0.
        hard: one-hot samples, whose gradient is that of the soft ones.
        eps: has no effect.
        dim: the dimension of the categories.

    Returns:
        (*), adding up to 1 along ``dim``.

    Source: Jang et al., "Categorical Reparameterization with Gumbel-Softmax", 2016, eq. 1.
    """
    if eps != 1e-10:
        caution("`eps` parameter is deprecated and has no effect.")
    if not logits.dtype.is_floating_point:
        raise OpError(
            "Exponential distribution is a continuous probability distribution. dtype must be a floating point but you "
            f"specified {kind_of(logits._payload)}"
        )
    axis = wrap_dim(dim, logits.dim())
    if not is_meta(logits):  # without data nothing is drawn
        logits = logits - sample("exponential", tuple(logits.shape), logits.dtype, None, 1.0).log()
    soft = softmax(logits / tau, axis)
    return one_hot_of_largest(soft, axis) if hard else soft
