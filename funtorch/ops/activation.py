"""Activation functions, elementwise. Halves are computed in float32; at a kink the gradient is PyTorch's."""

from __future__ import annotations

import math

import jax
import jax.numpy as jnp

from ..dtypes import FROM_NUMPY, default
from ..errors import ArgumentValueError, OpError
from .declare import Array, op
from .number_ranges import check_fits
from .operands import in_float32, is_inexact, kind_of, number, refuse

SELU_ALPHA = 1.6732632423543772848170429916717
SELU_SCALE = 1.0507009873554804934193349852946
PURE = "nn.functional.pure"  # without the argument ``inplace``: the public forms are in `inplace_activation`


@op(namespace="nn.functional")
def gelu(input: Array, *, approximate="none"):
    """z = x P(X <= x) for a standard normal X. input (*) of floats; approximate: "none", or "tanh" for a faster formula.

    Raises RuntimeError for another ``approximate``.
    """
    refuse("GeluKernelImpl", input, "bic")
    if approximate not in ("none", "tanh"):
        raise OpError(f"approximate argument must be either none or tanh, got {approximate!r}")
    return in_float32(_gelu_tanh if approximate == "tanh" else _gelu)(input)


def _gelu(x: Array) -> Array:
    return 0.5 * x * (1 + jax.lax.erf(x * math.sqrt(0.5)))


def _gelu_tanh(x: Array) -> Array:
    return 0.5 * x * (1 + jnp.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x * x * x)))


@op(namespace=PURE, inplace=True, out=False)
def silu(input: Array):
    """z = x / (1 + e^-x). input (*) of floats."""
    refuse("silu_cpu", input, "bi")
    return in_float32(lambda x: x * jax.lax.logistic(x))(input)


@op(namespace=PURE, inplace=True, out=False)
def mish(input: Array):
    """z = x tanh(log(1 + e^x)). input (*) of floats."""
    refuse("mish_cpu", input, "bic")
    return in_float32(lambda x: x * jnp.tanh(jnp.logaddexp(x, 0.0)))(input)


@op(namespace=PURE, inplace=True, out=False)
def leaky_relu(input: Array, negative_slope=0.01):
    """z = x for x > 0, else slope x. input (*) of floats."""
    refuse("leaky_relu_cpu", input, "bic")
    return in_float32(lambda x: jnp.where(x > 0, x, x * number(negative_slope, x.dtype)))(input)


@jax.custom_jvp
def _expm1(x: Array) -> Array:
    return jnp.expm1(x)


@_expm1.defjvp
def _expm1_jvp(primals: tuple, tangents: tuple) -> tuple:
    # JAX's slope is (e^x - 1) + 1, of which nothing is left far below 0.
    (x,), (t,) = primals, tangents
    return _expm1(x), t * jnp.exp(x)


def _elu(x: Array, alpha: float, scale: float, rate: float) -> Array:
    below = jnp.where(x > 0, 0, x)  # so that the exponential can't overflow where it isn't used
    return jnp.where(x > 0, scale * x, (alpha * scale) * _expm1(below * rate))


@op(namespace=PURE, inplace=True, out=False)
def elu(input: Array, alpha=1.0):
    """z = x for x > 0, else alpha (e^x - 1). input (*) of floats."""
    refuse("elu_cpu", input, "bic")
    return in_float32(_elu)(input, alpha=alpha, scale=1.0, rate=1.0)


@op(namespace=PURE, inplace=True, out=False)
def selu(input: Array):
    """z = s x for x > 0, else s a (e^x - 1), with the constants that keep mean 0 and variance 1. input (*) of floats."""
    refuse("elu_cpu", input, "bic")
    return in_float32(_elu)(input, alpha=SELU_ALPHA, scale=SELU_SCALE, rate=1.0)


@op(namespace=PURE, inplace=True, out=False)
def celu(input: Array, alpha=1.0):
    """z = x for x > 0, else alpha (e^(x / alpha) - 1). input (*) of floats. Raises RuntimeError for alpha = 0."""
    refuse("elu_cpu", input, "bic")
    if alpha == 0:
        raise OpError("ZeroDivisionError: alpha cannot be 0 for CELU")
    return in_float32(_elu)(input, alpha=alpha, scale=1.0, rate=1.0 / alpha)


@op(namespace="nn.functional")
def softplus(input: Array, beta=1, threshold=20):
    """z = log(1 + e^(beta x)) / beta, and x where beta x > threshold. input (*) of floats."""
    refuse("softplus_cpu", input, "bic")
    return in_float32(_softplus)(input, beta=beta, threshold=threshold)


def _softplus(x: Array, beta: float, threshold: float) -> Array:
    scaled = x * beta
    linear = scaled > threshold
    return jnp.where(linear, x, jnp.logaddexp(jnp.where(linear, 0, scaled), 0.0) / beta)


@op(namespace="nn.functional")
def logsigmoid(input: Array):
    """z = log(1 / (1 + e^-x)), without overflow. input (*) of floats."""
    refuse("log_sigmoid_cpu", input, "bic")
    return in_float32(lambda x: -jnp.logaddexp(-x, 0.0))(input)


@op(namespace=PURE, inplace=True, out=False)
def hardtanh(input: Array, min_val=-1.0, max_val=1.0):
    """z = x between ``min_val`` and ``max_val``, and these outside. input (*). The gradient at both ends is 0.

    Raises ValueError if min_val > max_val, RuntimeError for bools.
    """
    if input.dtype == bool:
        raise OpError("Bool inputs not supported for hardtanh")
    refuse("hardtanh", input, "c")
    if min_val > max_val:
        raise ArgumentValueError("min_val cannot be greater than max_val")
    if jnp.issubdtype(input.dtype, jnp.unsignedinteger) and min_val < 0:
        raise OpError("cannot do hardtanh on an unsigned type with negative limits")
    low, high = (_fitting(bound, input) for bound in (min_val, max_val))
    return jnp.where(input <= low, low, jnp.where(input >= high, high, input))


@op(namespace=PURE, inplace=True, out=False)
def hardsigmoid(input: Array):
    """z = min(max(x + 3, 0), 6) / 6. input (*) of floats. The gradient at both ends is 0."""
    refuse("hardsigmoid_cpu", input, "bic")
    return in_float32(lambda x: jnp.where(x <= -3, 0, jnp.where(x >= 3, 1, (x + 3) / 6)).astype(x.dtype))(input)


@op(namespace=PURE, inplace=True, out=False)
def hardswish(input: Array):
    """z = x min(max(x + 3, 0), 6) / 6. input (*) of floats."""
    refuse("hardswish_cpu", input, "bic")

    def curved(x: Array) -> Array:
        inner = jnp.where(jnp.abs(x) >= 3, 0, x)  # whose square is finite: its slope counts for nothing beyond, not for NaN
        return jnp.where(x <= -3, 0, jnp.where(x >= 3, x, inner * (inner + 3) / 6)).astype(x.dtype)

    return in_float32(curved)(input)


@op(namespace="nn.functional", out=False)
def tanhshrink(input: Array):
    """z = x - tanh(x). input (*)."""
    if input.dtype == bool:
        raise OpError("Subtraction, the `-` operator, with a bool tensor is not supported (in tanhshrink)")
    return in_float32(lambda x: x - jnp.tanh(x))(floating(input))


@op(namespace="nn.functional", out=False)
def softsign(input: Array):
    """z = x / (1 + |x|). input (*)."""
    refuse("abs_cpu", input, "b")
    return in_float32(lambda x: x / (1 + jnp.abs(x)))(floating(input))


def _fitting(value: float, x: Array) -> Array:
    """A number in the type of floats x. Raises RuntimeError where it doesn't fit."""
    if is_inexact(x):
        check_fits(value, FROM_NUMPY[x.dtype])
    return number(value, x.dtype)


def floating(x: Array) -> Array:
    """Integers as floats of the default type."""
    return x if is_inexact(x) else x.astype(default().numpy)


@op(namespace="nn.functional")
def softshrink(input: Array, lambd=0.5):
    """z = x - lambda above lambda, x + lambda below -lambda, 0 between. input (*) of floats.

    Raises RuntimeError for a negative ``lambd``, or one that the type can't hold.
    """
    refuse("softshrink_check", input, "bic")
    largest = float(jnp.finfo(input.dtype).max)
    if not 0 <= lambd <= largest:
        raise OpError(f"lambda must be in range [0, {largest:g}] for input dtype {kind_of(input)}, but found {lambd:g}")
    return in_float32(lambda x: jnp.where(x > lambd, x - lambd, jnp.where(x < -lambd, x + lambd, x * 0)))(input)


@op(alias=("nn.functional.hardshrink",))
def hardshrink(input: Array, lambd=0.5):
    """z = x outside of [-lambda, lambda], 0 inside. input (*) of floats."""
    refuse("hardshrink_cpu", input, "bic")
    bound = _fitting(lambd, input)
    return jnp.where((input >= -bound) & (input <= bound), 0, input)


@op(namespace=PURE, inplace=True, out=False)
def threshold(input: Array, threshold, value):
    """z = x where x > threshold, else ``value``. input (*)."""
    refuse("threshold_cpu", input, "bc")
    return jnp.where(in_float32(lambda x: x <= number(threshold, x.dtype))(input), _fitting(value, input), input)


@op(alias=("nn.functional.prelu",), out=False)
def prelu(input: Array, weight: Array):
    """z = x for x > 0, else w x. input (N, C, *), weight (C) or of one element.

    Raises RuntimeError for a weight of another size or type.
    """
    if input.dtype != weight.dtype:
        raise OpError(f"prelu: Type promoting not supported. Got {kind_of(input)} and {kind_of(weight)}")
    if weight.size != 1:
        if not input.ndim:
            raise OpError("Not allow zero-dim input tensor.")
        channels = input.shape[1] if input.ndim > 1 else 1
        if channels != weight.size:
            raise OpError(
                f"Mismatch of parameter numbers and input channel size. Found parameter numbers = {weight.size} and channel "
                f"size = {channels}."
            )
    if weight.ndim > 1:
        raise OpError(f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {weight.ndim}")
    shape = (-1,) + (1,) * (input.ndim - 2) if input.ndim > 1 else (() if not input.ndim else (-1,))
    return jnp.where(input > 0, input, weight.reshape(shape) * input)


@op(namespace=PURE, name="_glu", out=False)
def _glu(input: Array, dim):
    """First half times the logistic function of the second half."""
    refuse("glu_cpu", input, "bic")
    first, second = jnp.split(input, 2, axis=dim)
    return in_float32(lambda x, y: x * jax.lax.logistic(y))(first, second)


@op(namespace=PURE, out=False)
def with_slopes(input: Array, slopes: Array):
    """z = x for x > 0, else the slope of its place times x. input (*), slopes (*)."""
    return jnp.where(input > 0, input, slopes * input)


@op(namespace=PURE, out=False)
def one_hot_of_largest(input: Array, dim):
    """1 where the largest element along ``dim`` is, else 0; the gradient passes as if it were x. input (*)."""
    size = input.shape[dim] if input.ndim else 1
    axes = [1] * input.ndim
    if input.ndim:
        axes[dim] = size
    places = jnp.arange(size).reshape(axes)
    hard = (places == jnp.argmax(input, axis=dim if input.ndim else None, keepdims=True)).astype(input.dtype)
    return hard - jax.lax.stop_gradient(input) + input
