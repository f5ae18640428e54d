"""Bits of integers, and divisors. Operands (*) are integers or bools, broadcast together in their common type."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from .declare import Array, Operand, op
from .operands import number, refuse, tensor_somewhere, tensors_only


@op(promote="arith", inplace=True, check=tensor_somewhere("bitwise_and"))
def bitwise_and(input: Operand, other: Operand):
    """Bits set in both; for bools logical and. input (*), other (*). Raises NotImplementedError for floats."""
    refuse("bitwise_and", input, "fc")
    return input & other


@op(promote="arith", inplace=True, check=tensor_somewhere("bitwise_or"))
def bitwise_or(input: Operand, other: Operand):
    """Bits set in one or both; for bools logical or. input (*), other (*). Raises NotImplementedError for floats."""
    refuse("bitwise_or", input, "fc")
    return input | other


@op(promote="arith", inplace=True, check=tensor_somewhere("bitwise_xor"))
def bitwise_xor(input: Operand, other: Operand):
    """Bits set in exactly one; for bools logical xor. input (*), other (*). Raises NotImplementedError for floats."""
    refuse("bitwise_xor", input, "fc")
    return input ^ other


@op(inplace=True)
def bitwise_not(input: Array):
    """Each bit inverted; for bools logical not. input (*). Raises NotImplementedError for floats."""
    refuse("bitwise_not", input, "fc")
    return ~input


def _shift(x: Array, y: Array, name: str, shifted: Any, beyond: Any) -> Array:
    """``shifted(x, y)``, and ``beyond`` where the number of places is negative or more than there are bits."""
    refuse(name, x, "bfc")
    x, y = jnp.broadcast_arrays(x, y)
    bits = 8 * x.dtype.itemsize
    outside = (y < 0) | (y >= bits)
    return jnp.where(outside, beyond(x), shifted(x, jnp.where(outside, number(0, x.dtype), y)))


@op(promote="arith", inplace=True, check=tensor_somewhere("bitwise_left_shift"))
def bitwise_left_shift(input: Operand, other: Operand):
    """Bits moved up by y places: z = x 2^y, wrapping around. input (*), other (*)."""
    return _shift(input, other, "lshift", jax.lax.shift_left, jnp.zeros_like)


@op(promote="arith", inplace=True, check=tensor_somewhere("bitwise_right_shift"))
def bitwise_right_shift(input: Operand, other: Operand):
    """Bits moved down by y places, the sign kept: z = floor(x / 2^y). input (*), other (*)."""
    if input.dtype.kind == "u":
        return _shift(input, other, "rshift", jax.lax.shift_right_logical, jnp.zeros_like)
    return _shift(input, other, "rshift", jax.lax.shift_right_arithmetic, lambda x: jnp.where(x < 0, -1, 0).astype(x.dtype))


@op(promote="arith", inplace=True, check=tensors_only("gcd"))
def gcd(input: Operand, other: Operand):
    """Greatest common divisor, not negative. input (*), other (*) of integers."""
    refuse("gcd", input, "bfc")
    return jnp.gcd(input, other)


@op(promote="arith", inplace=True, check=tensors_only("lcm"))
def lcm(input: Operand, other: Operand):
    """Least common multiple, not negative. input (*), other (*) of integers."""
    refuse("lcm", input, "bfc")
    return jnp.lcm(input, other)
