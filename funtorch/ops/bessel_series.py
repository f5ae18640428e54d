r"""The values of Bessel functions of the first, second and third kind, of orders 0 and 1.

Near the origin from integrals over a circle or a line, where the trapezoidal rule is exact to the last place:
:math:`J_0(x) = \frac1{2\pi}\int\cos(x\sin\theta)\,d\theta`, :math:`K_0(x) = \int_0^\infty e^{-x\cosh t}\,dt`. Far from it
from Hankel's asymptotic series.
"""

from __future__ import annotations

import functools
import math
from typing import Any

import jax.numpy as jnp
import numpy as np

from .declare import Array
from .operands import number
from .signs import magnitude

FAR = 25.0  # from here on Hankel's series
_CIRCLE = 128  # points on the circle: harmonics up to half of them are negligible for |x| < FAR
_TERMS = 16
_LINE_STEP, _LINE_POINTS = 0.125, 40
_SERIES_TERMS = 20


@functools.cache
def _circle() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sines of the points, the mean's weights, and those of the sum of (-1)^k J_2k(x) / k; a quarter circle is enough."""
    quarter = np.arange(_CIRCLE // 4 + 1)
    angles = quarter * 2 * np.pi / _CIRCLE
    mean = np.full(len(quarter), 4 / _CIRCLE)
    mean[[0, -1]] /= 2
    k = np.arange(1, _CIRCLE // 4)
    neumann = mean * (((-1.0) ** k / k) * np.cos(2 * np.outer(angles, k))).sum(1)
    return np.sin(angles), mean, neumann


def _summed(x: Array, weights: np.ndarray, points: np.ndarray, wave: Any) -> Array:
    """The weighted sum of ``wave(x * point)``."""
    return jnp.sum(wave(x[..., None] * points.astype(x.dtype)) * weights.astype(x.dtype), axis=-1)


def _hankel(x: Array, order: int) -> tuple[Array, Array, Array]:
    """The series P and Q, and the phase x - (order / 2 + 1 / 4) pi."""
    inverse, term = 1 / x, jnp.ones_like(x)
    p, q = jnp.ones_like(x), jnp.zeros_like(x)
    for k in range(1, _TERMS):
        term = term * inverse * number((4 * order**2 - (2 * k - 1) ** 2) / (8 * k), x.dtype)
        sign = -1 if k % 4 in (2, 3) else 1
        p, q = (p + sign * term, q) if k % 2 == 0 else (p, q + sign * term)
    return p, q, x - number((order / 2 + 0.25) * math.pi, x.dtype)


def _split(x: Array, near: Any, far: Any) -> Array:
    """``near`` below FAR and ``far`` above, each kept away from where it isn't valid."""
    close = x < FAR
    return jnp.where(close, near(jnp.where(close, x, 1)), far(jnp.where(close, FAR, x)))


def first_kind(x: Array, order: int) -> Array:
    """J_order(x) for order 0 or 1 and any real x (*), in its dtype."""
    sines, mean, _ = _circle()

    def near(y: Array) -> Array:
        if order == 0:
            return _summed(y, mean, sines, jnp.cos)
        return _summed(y, mean * sines, sines, jnp.sin)

    def far(y: Array) -> Array:
        p, q, phase = _hankel(y, order)
        return jnp.sqrt(2 / (math.pi * y)) * (p * jnp.cos(phase) - q * jnp.sin(phase))

    size = magnitude(x)
    found = _split(size, near, far)
    found = jnp.where(jnp.isinf(size), 0, jnp.where(jnp.isnan(x), x, found))
    return (found if order == 0 else jnp.where(x < 0, -found, found)).astype(x.dtype)


def second_kind(x: Array, order: int) -> Array:
    """Y_order(x) for order 0 or 1: -inf at 0, NaN below. x (*), in its dtype."""
    sines, mean, neumann = _circle()

    def near(y: Array) -> Array:
        level = jnp.log(y / 2) + number(np.euler_gamma, y.dtype)
        zeroth = _summed(y, mean, sines, jnp.cos)
        if order == 0:
            return 2 / math.pi * level * zeroth - 4 / math.pi * _summed(y, neumann, sines, jnp.cos)
        first = _summed(y, mean * sines, sines, jnp.sin)
        rest = _summed(y, neumann * sines, sines, jnp.sin)
        return 2 / math.pi * (level * first - zeroth / y) - 4 / math.pi * rest

    def far(y: Array) -> Array:
        p, q, phase = _hankel(y, order)
        return jnp.sqrt(2 / (math.pi * y)) * (p * jnp.sin(phase) + q * jnp.cos(phase))

    found = jnp.where(jnp.isinf(x), 0, _split(jnp.where(x > 0, x, 1), near, far))
    return jnp.where(x > 0, found, jnp.where(x == 0, -jnp.inf, jnp.nan)).astype(x.dtype)


def _small_third(x: Array, order: int) -> Array:
    """K by its power series, for x up to 1."""
    square, term = x * x / 4, jnp.ones_like(x)
    regular, harmonic = jnp.zeros_like(x), jnp.zeros_like(x)
    for k in range(_SERIES_TERMS):
        sum_k = float(np.sum(1 / np.arange(1, k + 1)))
        weight = sum_k if order == 0 else sum_k + 1 / (2 * (k + 1))
        regular, harmonic = regular + term, harmonic + weight * term
        term = term * square / ((k + 1) * (k + 1 + order))
    level = jnp.log(x / 2) + number(np.euler_gamma, x.dtype)
    if order == 0:
        return harmonic - level * regular
    return 1 / x + x / 2 * (level * regular - harmonic)


def _line_third(x: Array, order: int) -> Array:
    """exp(x) K by its integral over a line, for x from 1 to FAR."""
    t = _LINE_STEP * np.arange(_LINE_POINTS)
    weights = _LINE_STEP * np.cosh(t * order)
    weights[0] /= 2
    return _summed(x, weights, np.cosh(t) - 1, lambda y: jnp.exp(-y))


def _far_third(x: Array, order: int) -> Array:
    """exp(x) K by its asymptotic series."""
    total, term = jnp.ones_like(x), jnp.ones_like(x)
    for k in range(1, _TERMS):
        term = term * number((4 * order**2 - (2 * k - 1) ** 2) / (8 * k), x.dtype) / x
        total = total + term
    return jnp.sqrt(math.pi / (2 * x)) * total


def third_kind(x: Array, order: int, scaled: bool) -> Array:
    """K_order(x) for order 0 or 1, times e^x if ``scaled``: inf at 0, NaN below. x (*), in its dtype."""
    inner = jnp.where(x > 0, x, 1)
    small = _small_third(jnp.where(inner <= 1, inner, 1), order)
    large = _split(jnp.maximum(inner, 1), lambda y: _line_third(y, order), lambda y: _far_third(y, order))
    if scaled:
        found = jnp.where(inner <= 1, small * jnp.exp(jnp.minimum(inner, 1)), large)
    else:
        found = jnp.where(inner <= 1, small, large * jnp.exp(-inner))
    return jnp.where(x > 0, found, jnp.where(x == 0, jnp.inf, jnp.nan)).astype(x.dtype)
