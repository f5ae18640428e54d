"""The error function and the normal distribution, elementwise. Integers are taken as floats."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import special

from .declare import Array, Operand, op
from .operands import in_float32, number, refuse

_TERMS = 12
_FAR = {4: 6.0, 8: 10.0}  # by itemsize: from here on the asymptotic series of erfcx is exact to the last place


@op(promote="float", inplace=True, alias=("special.erf",))
def erf(input: Operand):
    """Error function: z = 2 / sqrt(pi) times the integral of exp(-t^2) from 0 to x. input (*)."""
    refuse("erf", input, "c")
    return in_float32(jax.lax.erf)(input)


@op(promote="float", inplace=True, alias=("special.erfc",))
def erfc(input: Operand):
    """Complementary error function: z = 1 - erf(x), exact for large x. input (*)."""
    refuse("erfc", input, "c")
    return in_float32(jax.lax.erfc)(input)


@op(promote="float", inplace=True, alias=("special.erfinv",))
def erfinv(input: Operand):
    """Inverse of the error function. input (*) in [-1, 1], otherwise NaN."""
    refuse("erfinv", input, "c")
    return in_float32(jax.lax.erf_inv)(input)


@jax.custom_jvp
def _scaled_erfc(x: Array) -> Array:
    far = _FAR[x.dtype.itemsize]
    y = jnp.abs(x)
    near = jnp.minimum(y, far)
    small = jnp.exp(near * near) * jax.lax.erfc(near)
    large = jnp.maximum(y, far)
    step, total, term = 1 / (2 * large * large), jnp.ones_like(y), jnp.ones_like(y)
    for n in range(1, _TERMS):
        term = -term * (2 * n - 1) * step
        total = total + term
    positive = jnp.where(y < far, small, total / (large * number(np.sqrt(np.pi), x.dtype)))
    # erfc(-y) = 2 - erfc(y)
    return jnp.where(x < 0, 2 * jnp.exp(x * x) - positive, jnp.where(jnp.isnan(x), x, positive))


@_scaled_erfc.defjvp
def _scaled_erfc_jvp(primals: tuple, tangents: tuple) -> tuple:
    # The branches above are made for values; this is the function's own differential equation.
    (x,), (dx,) = primals, tangents
    z = _scaled_erfc(x)
    return z, dx * (2 * x * z - number(2 / np.sqrt(np.pi), x.dtype))


@op(promote="float", namespace="special")
def erfcx(input: Operand):
    """Scaled complementary error function: z = exp(x^2) erfc(x), without overflow. input (*)."""
    refuse("erfcx", input, "c")
    return in_float32(_scaled_erfc)(input)


@op(promote="float", namespace="special")
def ndtr(input: Operand):
    """Normal distribution function: the area under the standard normal density up to x. input (*)."""
    refuse("ndtr", input, "c")
    return in_float32(lambda x: jax.lax.erfc(x * number(-np.sqrt(0.5), x.dtype)) / 2)(input)


@op(promote="float", namespace="special")
def ndtri(input: Operand):
    """Inverse of `ndtr`: the quantile of the standard normal distribution. input (*) in [0, 1], otherwise NaN."""
    refuse("ndtri", input, "c")
    return in_float32(special.ndtri)(input)


@op(promote="float", namespace="special")
def log_ndtr(input: Operand):
    """Logarithm of `ndtr`, exact for very negative x. input (*)."""
    refuse("log_ndtr", input, "c")
    return in_float32(_log_ndtr)(input)


@jax.custom_jvp
def _log_ndtr(x: Array) -> Array:
    half = number(np.sqrt(0.5), x.dtype)
    low = jnp.minimum(x, -1)
    # For x < -1 from erfcx, whose factor exp(-x^2 / 2) is taken out.
    below = jnp.log(_scaled_erfc(-low * half) / 2) - low * low / 2
    return jnp.where(x < -1, below, jnp.log1p(-jax.lax.erfc(jnp.maximum(x, -1) * half) / 2)).astype(x.dtype)


@_log_ndtr.defjvp
def _log_ndtr_jvp(primals: tuple, tangents: tuple) -> tuple:
    # density / area, with the common exponential cancelled.
    (x,), (dx,) = primals, tangents
    half = number(np.sqrt(0.5), x.dtype)
    return _log_ndtr(x), dx * number(np.sqrt(2 / np.pi), x.dtype) / _scaled_erfc(-x * half)


@op(promote="float", namespace="special")
def entr(input: Operand):
    """Entropy: z = -x log(x), 0 at 0, -inf below. input (*)."""
    refuse("entr", input, "c")
    return in_float32(_entropy)(input)


@jax.custom_jvp
def _entropy(x: Array) -> Array:
    inside = x > 0
    value = -x * jnp.log(jnp.where(inside, x, 1))
    return jnp.where(inside, value, jnp.where(x == 0, 0, jnp.where(x < 0, -jnp.inf, x))).astype(x.dtype)


@_entropy.defjvp
def _entropy_jvp(primals: tuple, tangents: tuple) -> tuple:
    # The slope at 0 is infinite, which the branch of the constant 0 would hide.
    (x,), (dx,) = primals, tangents
    return _entropy(x), dx * (-jnp.log(x) - 1)
