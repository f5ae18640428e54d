"""Trigonometric and hyperbolic functions and their inverses, elementwise. Integers are taken as floats."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np

from .declare import Array, Operand, op
from .direct import elementwise
from .operands import in_float32, number, refuse, tensors_only


@op(promote="float", inplace=True)
def sin(input: Operand):
    """Sine. input (*), in radians."""
    return jnp.sin(input)


@op(promote="float", inplace=True)
def cos(input: Operand):
    """Cosine. input (*), in radians."""
    return jnp.cos(input)


@op(promote="float", inplace=True)
def tan(input: Operand):
    """Tangent. input (*), in radians."""
    return in_float32(jnp.tan)(input)


@op(promote="float", inplace=True, alias=("arcsin",))
def asin(input: Operand):
    """Inverse sine, in radians. input (*) in [-1, 1], otherwise NaN."""
    return in_float32(jnp.arcsin)(input)


@op(promote="float", inplace=True, alias=("arccos",))
def acos(input: Operand):
    """Inverse cosine, in radians. input (*) in [-1, 1], otherwise NaN."""
    return in_float32(jnp.arccos)(input)


@op(promote="float", inplace=True, alias=("arctan",))
def atan(input: Operand):
    """Inverse tangent, in radians. input (*)."""
    return in_float32(jnp.arctan)(input)


@op(promote="float", inplace=True)
def sinh(input: Operand):
    """Hyperbolic sine. input (*)."""
    return in_float32(jnp.sinh)(input)


@op(promote="float", inplace=True)
def cosh(input: Operand):
    """Hyperbolic cosine. input (*)."""
    return in_float32(jnp.cosh)(input)


@op(promote="float", inplace=True, alias=("nn.functional.tanh",), direct=lambda present: elementwise.TANH)
def tanh(input: Operand):
    """Hyperbolic tangent. input (*)."""
    return jnp.tanh(input)


@op(promote="float", inplace=True, alias=("arcsinh",))
def asinh(input: Operand):
    """Inverse hyperbolic sine. input (*)."""
    return in_float32(jnp.arcsinh)(input)


@op(promote="float", inplace=True, alias=("arccosh",))
def acosh(input: Operand):
    """Inverse hyperbolic cosine. input (*), at least 1, otherwise NaN."""
    return in_float32(jnp.arccosh)(input)


@op(promote="float", inplace=True, alias=("arctanh",))
def atanh(input: Operand):
    """Inverse hyperbolic tangent. input (*) in [-1, 1], otherwise NaN."""
    return in_float32(jnp.arctanh)(input)


@op(promote="float", inplace=True, alias=("arctan2",), check=tensors_only("atan2"))
def atan2(input: Operand, other: Operand):
    """Angle of the point (other, input), in (-pi, pi]. input (*), other (*). Its gradient at the origin is 0."""
    refuse("atan2", input, "c")
    return in_float32(angle_of)(*jnp.broadcast_arrays(input, other))


@jax.custom_jvp
def angle_of(y: Array, x: Array) -> Array:
    """Angle of the point (x, y), with slopes 0 at the origin. x, y of one shape."""
    return jnp.arctan2(y, x)


@angle_of.defjvp
def _angle_of_jvp(primals: tuple, tangents: tuple) -> tuple:
    # JAX's rule divides 0 by 0 at the origin; PyTorch gives 0 there.
    (y, x), (dy, dx) = primals, tangents
    square = x * x + y * y
    scale = jnp.where(square == 0, 0, 1 / jnp.where(square == 0, 1, square))
    return angle_of(y, x), dy * (x * scale) - dx * (y * scale)


@op(promote="float", inplace=True, alias=("special.sinc",))
def sinc(input: Operand):
    """Normalised sinc: z = sin(pi x) / (pi x), and 1 at 0. input (*)."""
    return in_float32(lambda x: sinc_of(number(np.pi, x.dtype) * x))(input)


def sinc_of(x: Array) -> Array:
    """sin(x) / x, and 1 at 0."""
    zero = x == 0
    angle = jnp.where(zero, 1, x)
    # At 0 from the series 1 - x^2 / 6, which has the right derivatives there up to the second.
    return jnp.where(zero, 1 - x * x / 6, jnp.sin(angle) / angle)
