"""Bessel functions, elementwise: first and second kind, modified, scaled, spherical. Integers are taken as floats."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from .bessel_series import first_kind, second_kind, third_kind
from .declare import Array, Operand, op
from .operands import in_float32, refuse
from .signs import sign_of
from .trigonometric import sinc_of

# The rules below are the functions' differential equations: JAX's own go through |x|, which has a kink at 0.


@jax.custom_jvp
def _i0(x: Array) -> Array:
    return jnp.exp(jnp.abs(x)) * jax.lax.bessel_i0e(x)


@jax.custom_jvp
def _i1(x: Array) -> Array:
    return jnp.exp(jnp.abs(x)) * jax.lax.bessel_i1e(x)


@jax.custom_jvp
def _i0e(x: Array) -> Array:
    return jax.lax.bessel_i0e(x)


@jax.custom_jvp
def _i1e(x: Array) -> Array:
    return jax.lax.bessel_i1e(x)


def _over(y: Array, x: Array) -> Array:
    """y / x for a y that is about x / 2 near 0."""
    return jnp.where(x == 0, 0.5, y / jnp.where(x == 0, 1, x)).astype(x.dtype)


_i0.defjvp(lambda x, dx: (_i0(*x), dx[0] * _i1(*x)))
_i1.defjvp(lambda x, dx: (_i1(*x), dx[0] * (_i0(*x) - _over(_i1(*x), *x))))
_i0e.defjvp(lambda x, dx: (_i0e(*x), dx[0] * (_i1e(*x) - sign_of(*x) * _i0e(*x))))
_i1e.defjvp(lambda x, dx: (_i1e(*x), dx[0] * (_i0e(*x) - sign_of(*x) * _i1e(*x) - _over(_i1e(*x), *x))))


@op(promote="float", inplace=True, alias=("special.i0", "special.modified_bessel_i0"))
def i0(input: Operand):
    """Modified Bessel function of the first kind of order 0. input (*)."""
    refuse("i0", input, "c")
    return in_float32(_i0)(input)


@op(promote="float", namespace="special")
def i0e(input: Operand):
    """`i0` times exp(-|x|). input (*)."""
    refuse("i0e", input, "c")
    return in_float32(_i0e)(input)


@op(promote="float", namespace="special", alias=("modified_bessel_i1",))
def i1(input: Operand):
    """Modified Bessel function of the first kind of order 1. input (*)."""
    refuse("i1", input, "c")
    return in_float32(_i1)(input)


@op(promote="float", namespace="special")
def i1e(input: Operand):
    """`i1` times exp(-|x|). input (*)."""
    refuse("i1e", input, "c")
    return in_float32(_i1e)(input)


@op(promote="float", namespace="special")
def bessel_j0(input: Operand):
    """Bessel function of the first kind of order 0. input (*)."""
    refuse("bessel_j0", input, "c")
    return in_float32(lambda x: first_kind(x, 0))(input)


@op(promote="float", namespace="special")
def bessel_j1(input: Operand):
    """Bessel function of the first kind of order 1. input (*)."""
    refuse("bessel_j1", input, "c")
    return in_float32(lambda x: first_kind(x, 1))(input)


@op(promote="float", namespace="special")
def bessel_y0(input: Operand):
    """Bessel function of the second kind of order 0. input (*); -inf at 0, NaN below."""
    refuse("bessel_y0", input, "c")
    return in_float32(lambda x: second_kind(x, 0))(input)


@op(promote="float", namespace="special")
def bessel_y1(input: Operand):
    """Bessel function of the second kind of order 1. input (*); -inf at 0, NaN below."""
    refuse("bessel_y1", input, "c")
    return in_float32(lambda x: second_kind(x, 1))(input)


@op(promote="float", namespace="special")
def modified_bessel_k0(input: Operand):
    """Modified Bessel function of the second kind of order 0. input (*); inf at 0, NaN below."""
    refuse("modified_bessel_k0", input, "c")
    return in_float32(lambda x: third_kind(x, 0, False))(input)


@op(promote="float", namespace="special")
def modified_bessel_k1(input: Operand):
    """Modified Bessel function of the second kind of order 1. input (*); inf at 0, NaN below."""
    refuse("modified_bessel_k1", input, "c")
    return in_float32(lambda x: third_kind(x, 1, False))(input)


@op(promote="float", namespace="special")
def scaled_modified_bessel_k0(input: Operand):
    """`modified_bessel_k0` times exp(x). input (*)."""
    refuse("scaled_modified_bessel_k0", input, "c")
    return in_float32(lambda x: third_kind(x, 0, True))(input)


@op(promote="float", namespace="special")
def scaled_modified_bessel_k1(input: Operand):
    """`modified_bessel_k1` times exp(x). input (*)."""
    refuse("scaled_modified_bessel_k1", input, "c")
    return in_float32(lambda x: third_kind(x, 1, True))(input)


@op(promote="float", namespace="special")
def spherical_bessel_j0(input: Operand):
    """Spherical Bessel function of order 0: z = sin(x) / x, and 1 at 0. input (*)."""
    refuse("spherical_bessel_j0", input, "c")
    return in_float32(lambda x: jnp.where(jnp.isinf(x), 0, sinc_of(jnp.where(jnp.isinf(x), 1, x))))(input)
