"""Signs and magnitudes, elementwise. JAX's slopes of |x| differ from PyTorch's at 0, so they're given here."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from ..errors import OpError
from .declare import Array, Operand, op
from .operands import number, refuse, tensor_first


def sign_of(x: Array) -> Array:
    """Sign of a real array: -1, 0 or 1, and 0 for NaN."""
    return (x > 0).astype(x.dtype) - (x < 0).astype(x.dtype)


@jax.custom_jvp
def magnitude(x: Array) -> Array:
    """|x| of a real array, with slope 0 at 0."""
    return jnp.abs(x)


@magnitude.defjvp
def _magnitude_jvp(primals: tuple, tangents: tuple) -> tuple:
    # JAX takes 1 as the slope of |x| at 0; PyTorch takes 0.
    (x,), (dx,) = primals, tangents
    return magnitude(x), dx * sign_of(x)


def _squared_modulus(x: Array) -> Array:
    return x.real * x.real + x.imag * x.imag if jnp.iscomplexobj(x) else x * x


@op(inplace=True, alias=("absolute",), squared=lambda: _squared_modulus)
def abs(input: Array):
    """Absolute value: z = |x|. input (*); a complex input gives its real modulus. Its gradient at 0 is 0."""
    refuse("abs", input, "b")
    return jnp.abs(input) if input.dtype.kind in "iuc" else magnitude(input)


@op(inplace=True)
def sign(input: Array):
    """Sign: -1, 0 or 1. input (*). Raises RuntimeError for complex input, where `sgn` is meant."""
    if jnp.iscomplexobj(input):
        raise OpError("sign(): Unlike NumPy, torch.sign doesn't return complex signs: use torch.sgn instead")
    return input if input.dtype == bool else sign_of(input)


@op(inplace=True)
def sgn(input: Array):
    """Sign, for complex input the direction: z = x / |x|, and 0 at 0. input (*)."""
    if not jnp.iscomplexobj(input):
        return input if input.dtype == bool else sign_of(input)
    zero = input == 0
    safe = jnp.where(zero, 1, input)
    return jnp.where(zero, 0, safe / jnp.abs(safe)).astype(input.dtype)


@op(inplace=True)
def signbit(input: Array):
    """Whether the sign bit is set: True for negative numbers and -0.0. input (*); z (*) of bools."""
    if jnp.iscomplexobj(input):
        raise OpError("signbit(): is not implemented for complex tensors.")
    return jnp.signbit(input) if jnp.issubdtype(input.dtype, jnp.floating) else input < 0


@op(promote="float", inplace=True, check=tensor_first("copysign"))
def copysign(input: Operand, other: Operand):
    """The magnitude of x with the sign of y. input (*), other (*). The gradient at x = 0 is 0."""
    refuse("copysign", input, "c")
    y = jax.lax.stop_gradient(other)
    return magnitude(input) * jnp.where(jnp.signbit(y), number(-1, input.dtype), number(1, input.dtype))
