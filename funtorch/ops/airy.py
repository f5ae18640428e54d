r"""The Airy function.

For x from -9 from :math:`\mathrm{Ai}(x) = \frac1{\pi}\int_0^\infty\cos(t^3/3 + xt)\,dt`, moved to a line above the real one,
where the integrand falls off like a Gaussian and the trapezoidal rule is exact to the last place.
"""

from __future__ import annotations

import math

import jax.numpy as jnp
import numpy as np

from .declare import Array, Operand, op
from .operands import number, refuse

_AIRY_FAR, _AIRY_STEP, _AIRY_POINTS, _TERMS = -9.0, 0.0625, 105, 16


def _airy_line(x: Array) -> Array:
    """Ai by its integral over a line parallel to the real one, at a height that suits x > _AIRY_FAR."""
    height = jnp.sqrt(jnp.maximum(x, 1))[..., None]
    t = (_AIRY_STEP * np.arange(_AIRY_POINTS)).astype(x.dtype)
    weights = np.full(_AIRY_POINTS, _AIRY_STEP / np.pi).astype(x.dtype)
    weights[0] /= 2
    y = x[..., None]
    wave = jnp.exp(-height * t * t) * jnp.cos(t * t * t / 3 + (y - height * height) * t)
    level = (height**3 / 3 - y * height)[..., 0]
    return jnp.exp(level) * jnp.sum(weights * wave, axis=-1)


def _airy_far(x: Array) -> Array:
    """Ai by its asymptotic series, for x < _AIRY_FAR."""
    size = -x
    phase = 2 / 3 * size * jnp.sqrt(size)
    term, p, q = jnp.ones_like(x), jnp.ones_like(x), jnp.zeros_like(x)
    for k in range(1, _TERMS):
        term = term * number((6 * k - 5) * (6 * k - 3) * (6 * k - 1) / (216 * k * (2 * k - 1)), x.dtype) / phase
        sign = -1 if k % 4 in (2, 3) else 1
        p, q = (p + sign * term, q) if k % 2 == 0 else (p, q + sign * term)
    angle = phase - math.pi / 4
    return (p * jnp.cos(angle) + q * jnp.sin(angle)) / (math.sqrt(math.pi) * jnp.sqrt(jnp.sqrt(size)))


def _airy(x: Array) -> Array:
    close = (x > _AIRY_FAR) | jnp.isnan(x)
    # Beyond 100 the function is below the smallest number there is.
    near = _airy_line(jnp.where(close, jnp.minimum(x, 110), 0))
    far = _airy_far(jnp.where(close, _AIRY_FAR, jnp.maximum(x, -1e30 if x.dtype.itemsize == 4 else -1e200)))
    return jnp.where(jnp.isinf(x), jnp.where(x > 0, 0, jnp.nan), jnp.where(close, near, far)).astype(x.dtype)


@op(promote="float", namespace="special")
def airy_ai(input: Operand):
    """Airy function Ai. input (*)."""
    refuse("airy_ai", input, "c")
    # In float32 the terms of the integral, about e^9 times their sum, would leave three digits.
    return _airy(input.astype(np.float64)).astype(input.dtype)
