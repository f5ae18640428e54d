"""Orthogonal polynomials of degree n at x, elementwise, by their three-term recurrences.

A degree below 0 gives 0; one that isn't whole is cut to a whole number, as in PyTorch.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from .declare import Array, Operand, op
from .operands import in_float32, refuse, tensor_somewhere


def _recurrence(x: Array, n: Array, first: Array, step: Callable) -> Array:
    """p_n, where p_0 = 1, p_1 = ``first`` and p_(k+1) = ``step(k, p_k, p_(k-1))``."""
    x, n, first = jnp.broadcast_arrays(x, n, first)
    degree = jnp.trunc(n)
    last = jnp.max(jnp.where(jnp.isfinite(degree), degree, 0), initial=0).astype(np.int64)

    def advance(state: tuple) -> tuple:
        k, p, before, found = state
        after = step(k.astype(x.dtype), p, before)
        return k + 1, after, p, jnp.where(degree == (k + 1).astype(x.dtype), after, found)

    start = jnp.where(degree == 0, 1, jnp.where(degree == 1, first, 0)).astype(x.dtype)
    state = (jnp.asarray(1, np.int64), first, jnp.ones_like(x), start)
    return jax.lax.while_loop(lambda s: s[0] < last, advance, state)[3]


def _polynomial(name: str, first: Callable, step: Callable, doc: str) -> Any:
    """Declare one family: ``first(x)`` is p_1, ``step(x, k, p, before)`` the recurrence."""

    def values(x: Array, n: Array) -> Array:
        return _recurrence(x, n, first(x), lambda k, p, before: step(x, k, p, before))

    def polynomial(x: Operand, n: Operand) -> Any:
        refuse(name, x, "c")
        return in_float32(values)(*jnp.broadcast_arrays(x, n))

    polynomial.__name__ = polynomial.__qualname__ = name
    polynomial.__doc__ = f"{doc} of degree n. x (*), n (*): a number or integers, broadcast together."
    return op(promote="float", namespace="special", check=tensor_somewhere(name))(polynomial)


def _chebyshev(x: Array, k: Array, p: Array, before: Array) -> Array:
    return 2 * x * p - before


def _shifted(x: Array, k: Array, p: Array, before: Array) -> Array:
    return 2 * (2 * x - 1) * p - before


chebyshev_polynomial_t = _polynomial("chebyshev_polynomial_t", lambda x: x, _chebyshev, "Chebyshev polynomial of the first kind")
chebyshev_polynomial_u = _polynomial(
    "chebyshev_polynomial_u", lambda x: 2 * x, _chebyshev, "Chebyshev polynomial of the second kind"
)
chebyshev_polynomial_v = _polynomial(
    "chebyshev_polynomial_v", lambda x: 2 * x - 1, _chebyshev, "Chebyshev polynomial of the third kind"
)
chebyshev_polynomial_w = _polynomial(
    "chebyshev_polynomial_w", lambda x: 2 * x + 1, _chebyshev, "Chebyshev polynomial of the fourth kind"
)
shifted_chebyshev_polynomial_t = _polynomial(
    "shifted_chebyshev_polynomial_t", lambda x: 2 * x - 1, _shifted, "Chebyshev polynomial of the first kind in 2x - 1"
)
shifted_chebyshev_polynomial_u = _polynomial(
    "shifted_chebyshev_polynomial_u", lambda x: 4 * x - 2, _shifted, "Chebyshev polynomial of the second kind in 2x - 1"
)
shifted_chebyshev_polynomial_v = _polynomial(
    "shifted_chebyshev_polynomial_v", lambda x: 4 * x - 3, _shifted, "Chebyshev polynomial of the third kind in 2x - 1"
)
shifted_chebyshev_polynomial_w = _polynomial(
    "shifted_chebyshev_polynomial_w", lambda x: 4 * x - 1, _shifted, "Chebyshev polynomial of the fourth kind in 2x - 1"
)
hermite_polynomial_h = _polynomial(
    "hermite_polynomial_h", lambda x: 2 * x, lambda x, k, p, q: 2 * x * p - 2 * k * q, "Physicist's Hermite polynomial"
)
hermite_polynomial_he = _polynomial(
    "hermite_polynomial_he", lambda x: x, lambda x, k, p, q: x * p - k * q, "Probabilist's Hermite polynomial"
)
laguerre_polynomial_l = _polynomial(
    "laguerre_polynomial_l", lambda x: 1 - x, lambda x, k, p, q: ((2 * k + 1 - x) * p - k * q) / (k + 1), "Laguerre polynomial"
)
legendre_polynomial_p = _polynomial(
    "legendre_polynomial_p", lambda x: x, lambda x, k, p, q: ((2 * k + 1) * x * p - k * q) / (k + 1), "Legendre polynomial"
)
