"""Exponentials and logarithms, elementwise. Integers are taken as floats of the default type."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.rounding import HALVES
from .declare import Array, Operand, op
from .direct import elementwise
from .operands import in_float32, number, refuse, rounded_to, tensor_somewhere, tensors_only


@op(promote="float", inplace=True)
def exp(input: Operand):
    """Exponential: z = e^x. input (*)."""
    return jnp.exp(input)


@op(promote="float", inplace=True, alias=("special.exp2",))
def exp2(input: Operand):
    """Power of two: z = 2^x. input (*)."""
    if jnp.iscomplexobj(input):
        return jnp.exp(input * number(np.log(2.0), input.dtype))
    return in_float32(jnp.exp2)(input)


@op(promote="float", inplace=True, alias=("special.expm1",))
def expm1(input: Operand):
    """z = e^x - 1, exact near 0. input (*)."""
    return in_float32(jnp.expm1)(input)


@op(promote="float", inplace=True)
def log(input: Operand):
    """Natural logarithm. input (*); -inf at 0, NaN below."""
    return jnp.log(input)


@op(promote="float", inplace=True)
def log2(input: Operand):
    """Logarithm to base 2. input (*)."""
    return in_float32(lambda x: jnp.log(x) / number(np.log(2.0), x.dtype))(input)


@op(promote="float", inplace=True)
def log10(input: Operand):
    """Logarithm to base 10. input (*)."""
    return in_float32(lambda x: jnp.log(x) / number(np.log(10.0), x.dtype))(input)


@op(promote="float", inplace=True, alias=("special.log1p",))
def log1p(input: Operand):
    """z = log(1 + x), exact near 0. input (*)."""
    return in_float32(jnp.log1p)(input)


@op(promote="float", inplace=True, alias=("special.expit", "nn.functional.sigmoid"), direct=lambda present: elementwise.SIGMOID)
def sigmoid(input: Operand):
    """Logistic function: z = 1 / (1 + e^-x). input (*)."""
    return in_float32(jax.lax.logistic)(input)


@op(promote="arith", check=tensors_only("logaddexp"))
def logaddexp(input: Operand, other: Operand):
    """z = log(e^x + e^y), without overflow. input (*), other (*)."""
    refuse("logaddexp", input, "bi")
    if jnp.iscomplexobj(input):
        return _complex_log_sum(*jnp.broadcast_arrays(input, other))
    return in_float32(log_add)(input, other)


# JAX's own rules for these sums take an infinite result for 0, so that their slopes are wrong or NaN there.


@jax.custom_jvp
def log_add(x: Array, y: Array) -> Array:
    """log(e^x + e^y), with gradient 0 where both are -inf."""
    return jnp.logaddexp(x, y)


@jax.custom_jvp
def log_add_2(x: Array, y: Array) -> Array:
    """log2(2^x + 2^y), with gradient 0 where both are -inf."""
    return jnp.logaddexp2(x, y)


def _shared(primals: tuple, tangents: tuple, base: float) -> Array:
    """The tangent of such a sum: each term's share of it, times the term's tangent."""
    (x, y), (dx, dy) = primals, tangents
    nothing = (x == y) & (x == -jnp.inf)
    if jnp.iscomplexobj(x):
        total = jnp.where(nothing, 0, jnp.logaddexp(x, y))
        return jnp.where(nothing, 0, jnp.exp(x - total) * dx + jnp.exp(y - total) * dy)
    gap = jnp.where(x == y, 0, x - y) * number(np.log(base), x.dtype)
    return jnp.where(nothing, 0, jax.nn.sigmoid(gap) * dx + jax.nn.sigmoid(-gap) * dy)


log_add.defjvp(lambda primals, tangents: (log_add(*primals), _shared(primals, tangents, np.e)))
log_add_2.defjvp(lambda primals, tangents: (log_add_2(*primals), _shared(primals, tangents, 2.0)))


def _complex_log_sum(x: Array, y: Array) -> Array:
    """From the one with the larger real part, whose imaginary part is kept as it is: not brought into (-pi, pi]."""
    first = x.real >= y.real
    larger, smaller = jnp.where(first, x, y), jnp.where(first, y, x)
    infinite = (x == y) & jnp.isinf(x.real)
    return jnp.where(infinite, x, larger + jnp.log1p(jnp.exp(smaller - larger)))


@op(promote="arith", check=tensors_only("logaddexp2"))
def logaddexp2(input: Operand, other: Operand):
    """z = log2(2^x + 2^y), without overflow. input (*), other (*)."""
    refuse("logaddexp2", input, "bi")
    return in_float32(log_add_2)(input, other)


@op(inplace=True, alias=("special.logit",), promote="float")
def logit(input: Operand, eps=None):
    """Inverse of the logistic function: z = log(x / (1 - x)). input (*) in (0, 1); eps: clamps x to [eps, 1 - eps] first.

    Outside of [0, 1] z is NaN, and infinite at its ends.
    """
    refuse("logit", input, "c")
    return in_float32(_logit)(input, eps=eps)


def _logit(x: Array, eps: Any) -> Array:
    if eps is not None:
        low, high = number(eps, x.dtype), number(1 - eps, x.dtype)
        # Outside of the ends the gradient is 0, at them it passes.
        x = jnp.where(x < low, low, jnp.where(x > high, high, x))
    return jnp.log(x / (1 - x))


@op(promote="float", inplace=True, alias=("special.xlogy",), check=tensor_somewhere("xlogy"))
def xlogy(input: Operand, other: Operand):
    """z = x log(y), and 0 where x is 0. input (*), other (*)."""
    refuse("xlogy", input, "c")
    return _times_log(input, other, jnp.log, 0)


@op(promote="float", namespace="special", check=tensor_somewhere("xlog1py"))
def xlog1py(input: Operand, other: Operand):
    """z = x log(1 + y), and 0 where x is 0. input (*), other (*)."""
    refuse("xlog1py", input, "c")
    return _times_log(input, other, jnp.log1p, 1)


def _times_log(input: Array, other: Array, log: Any, shift: float) -> Array:
    """x log(y + shift), whose product with an infinite logarithm is 0 where x is 0; the logarithm is rounded to the half of halves."""
    half = input.dtype if input.dtype in HALVES else None

    def product(x: Array, y: Array) -> Array:
        empty = (x == 0) & ((y <= -shift) | (y == jnp.inf))
        logarithm = log(jnp.where(empty, 1, y))
        return jnp.where(empty, 0, x * (logarithm if half is None else rounded_to(half, logarithm)))

    return in_float32(product)(*jnp.broadcast_arrays(input, other))
