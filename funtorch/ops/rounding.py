"""Rounding to whole numbers and to neighbours, elementwise. The gradients are 0, except of `frac`."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from ..errors import MissingError
from .declare import Array, Operand, op
from .operands import in_float32, is_floating, kind_of, number, refuse, tensors_only


@op(inplace=True)
def floor(input: Array):
    """Largest whole number that is at most x. input (*)."""
    refuse("floor", input, "bc")
    return jnp.floor(input) if is_floating(input) else input


@op(inplace=True)
def ceil(input: Array):
    """Smallest whole number that is at least x. input (*)."""
    refuse("ceil", input, "bc")
    return jnp.ceil(input) if is_floating(input) else input


@op(inplace=True, alias=("fix",))
def trunc(input: Array):
    """Whole part: x rounded towards 0. input (*)."""
    refuse("trunc", input, "bc")
    return jnp.trunc(input) if is_floating(input) else input


@op(inplace=True)
def frac(input: Array):
    """Fractional part: z = x - trunc(x), with the sign of x. input (*) of floats. Its gradient is 1."""
    refuse("frac", input, "bic")
    return input - jax.lax.stop_gradient(jnp.trunc(input))


@op(inplace=True, alias=("special.round",))
def round(input: Array, *, decimals=0):
    """Nearest number with ``decimals`` digits after the point; halves go to the even one. input (*).

    Raises NotImplementedError for integers with ``decimals`` other than 0.
    """
    refuse("round", input, "bc")
    if not is_floating(input):
        if decimals:
            raise MissingError(f"\"round_cpu\" not implemented for '{kind_of(input)}'")
        return input
    if decimals == 0:
        return jnp.round(input)
    return in_float32(lambda x: _to_decimals(x, decimals))(input)


def _to_decimals(x: Array, decimals: int) -> Array:
    scale = number(10.0 ** abs(decimals), x.dtype)
    return jnp.round(x * scale) / scale if decimals > 0 else jnp.round(x / scale) * scale


@op(promote="arith", inplace=True, check=tensors_only("nextafter"))
def nextafter(input: Operand, other: Operand):
    """The next number after x in the direction of y. input (*), other (*) of floats. Its gradient for x is 1, unless x = y."""
    refuse("nextafter", input, "bic")
    return _next(*jnp.broadcast_arrays(input, other))


@jax.custom_jvp
def _next(x: Array, y: Array) -> Array:
    return jnp.nextafter(x, y)


@_next.defjvp
def _next_jvp(primals: tuple, tangents: tuple) -> tuple:
    # JAX has no rule for it; a step to the neighbour moves along with x.
    (x, y), (dx, _) = primals, tangents
    return _next(x, y), jnp.where(x == y, 0, dx)
