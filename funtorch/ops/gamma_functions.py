"""The gamma function's logarithm, its derivatives, incomplete forms, and the zeta function, elementwise."""

from __future__ import annotations

import functools
import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.custom_derivatives import SymbolicZero
from jax.scipy import special

from ..dtypes import default
from ..errors import MissingError, OpError
from . import registry
from .assignment import overwrite
from .declare import Array, Operand, op
from .operands import in_float32, is_inexact, number, refuse, tensor_somewhere, tensors_only


@op(promote="float", inplace=True, alias=("special.gammaln",))
def lgamma(input: Operand):
    """Logarithm of |gamma(x)|. input (*); infinite at 0, -1, -2, ..."""
    refuse("lgamma", input, "c")
    return in_float32(_lgamma)(input)


@jax.custom_jvp
def _lgamma(x: Array) -> Array:
    return jax.lax.lgamma(x)


@_lgamma.defjvp
def _lgamma_jvp(primals: tuple, tangents: tuple) -> tuple:
    (x,), (t,) = primals, tangents
    return _lgamma(x), t * _digamma(x)  # whose own derivative is right at negative x, as that of JAX's rule is not


@op(promote="float", inplace=True, alias=("special.digamma", "special.psi"))
def digamma(input: Operand):
    """Derivative of `lgamma`. input (*); NaN at -1, -2, ..., infinite at 0."""
    refuse("digamma", input, "c")
    return in_float32(_digamma)(input)


@jax.custom_jvp
def _digamma(x: Array) -> Array:
    zero = x == 0
    pole = jnp.copysign(number(math.inf, x.dtype), -x)
    return jnp.where(zero, pole, jax.lax.digamma(jnp.where(zero, 1, x)))


@_digamma.defjvp
def _digamma_jvp(primals: tuple, tangents: tuple) -> tuple:
    (x,), (t,) = primals, tangents
    return _digamma(x), t * _derivative(1, x)


def _derivative(n: int, x: Array) -> Array:
    r"""Derivative n > 0 of `_digamma`, for x < 0 by :math:`\psi_n(x) = (-1)^n \psi_n(1 - x) - \pi \cot^{(n)}(\pi x)`.

    XLA's zeta function, by which JAX computes it everywhere, loses digits from about -7 on, and is wrong beyond -9.
    """
    negative = x < 0
    pole = negative & (x == jnp.floor(x)) & (x > -jnp.inf)
    upper = special.polygamma(n, jnp.where(negative & ~pole, 1 - x, jnp.where(pole, 0, x)))
    inside = jnp.where(negative & ~pole, x, -0.5)
    cotangent = 1 / jnp.tan(math.pi * (inside - jnp.round(inside)))
    below = (-1) ** n * upper - math.pi * jnp.polyval(np.asarray(_cotangent_derivative(n), x.dtype), cotangent)
    return jnp.where(negative & ~pole, below, upper)


@functools.lru_cache(maxsize=256)
def _cotangent_derivative(n: int) -> tuple[float, ...]:
    """Derivative n of cot(pi x) as a polynomial of cot(pi x), highest power first: D c = -pi (1 + c^2)."""
    made = np.array([1.0, 0.0])
    for _ in range(n):
        made = np.polymul(np.polyder(made), [-math.pi, 0.0, -math.pi])
    return tuple(made)


@op(alias=("special.polygamma",), method=False)
def polygamma(n, input: Array):
    """Derivative n of `digamma`. n: an integer from 0; input (*). Raises RuntimeError for a negative n."""
    refuse("polygamma", input, "c")
    if n < 0:
        raise OpError("polygamma(n, x) does not support negative n.")
    x = input if is_inexact(input) else input.astype(default().numpy)
    return in_float32(_digamma if n == 0 else lambda v: _derivative(n, v))(x)


def _polygamma(self: Any, n: int) -> Any:
    """Derivative n of `digamma`. self (*)."""
    return polygamma(n, self)


registry.add_method("polygamma", _polygamma)
registry.add_method("polygamma_", overwrite(_polygamma, "polygamma_"))


@op(promote="float", inplace=True, alias=("special.multigammaln",))
def mvlgamma(input: Operand, p):
    """Logarithm of the multivariate gamma function of dimension p: sum over j of lgamma(x - j / 2), and a constant. input (*)."""
    refuse("mvlgamma", input, "c")
    if p < 1:
        raise OpError("p has to be greater than or equal to 1")
    constant = p * (p - 1) / 4 * math.log(math.pi)
    return in_float32(lambda x: sum(_lgamma(x - j / 2) for j in range(p)) + number(constant, x.dtype))(input)


@op(promote="float", inplace=True, alias=("special.gammainc",), check=tensors_only("igamma"))
def igamma(input: Operand, other: Operand):
    """Regularised lower incomplete gamma function P(a, x). input: a (*) >= 0, other: x (*) >= 0."""
    refuse("igamma", input, "c")
    return in_float32(jax.lax.igamma)(*jnp.broadcast_arrays(input, other))


@op(promote="float", inplace=True, alias=("special.gammaincc",), check=tensors_only("igammac"))
def igammac(input: Operand, other: Operand):
    """Regularised upper incomplete gamma function Q(a, x) = 1 - P(a, x). input: a (*) >= 0, other: x (*) >= 0."""
    refuse("igammac", input, "c")
    return in_float32(jax.lax.igammac)(*jnp.broadcast_arrays(input, other))


@op(promote="float", namespace="special", check=tensor_somewhere("zeta"))
def zeta(input: Operand, other: Operand):
    """Hurwitz zeta function: the sum over k from 0 of (q + k)^-x. input: x (*), other: q (*); differentiable in q.

    Raises NotImplementedError where the derivative in x is asked for.
    """
    refuse("zeta", input, "c")
    return in_float32(_zeta)(*jnp.broadcast_arrays(input, other))


@jax.custom_jvp
def _zeta(x: Array, q: Array) -> Array:
    """XLA's own from q = 0 on, where it is exact; the terms of negative q + k one by one."""
    steps = jnp.where((q < 0) & (q > -jnp.inf), jnp.ceil(-q), 0)

    def add(state: tuple) -> tuple:
        k, total = state
        return k + 1, total + jnp.where(k < steps, (q + k) ** -x, 0)

    most = jnp.max(steps, initial=0)
    _, below = jax.lax.while_loop(lambda s: s[0] < most, add, (jnp.zeros((), q.dtype), jnp.zeros_like(q)))
    positive = q + steps
    total = below + jnp.where(x == jnp.inf, positive**-x, jax.lax.zeta(x, positive))  # XLA has NaN for infinite x
    pole = (q <= 0) & (q == jnp.floor(q))  # where XLA has infinity for even x alone, and for those below 1 too
    return jnp.where(x < 1, jnp.nan, jnp.where((x == 1) | pole, jnp.inf, total))


def _zeta_jvp(primals: tuple, tangents: tuple) -> tuple:
    (x, q), (in_x, in_q) = primals, tangents
    if not isinstance(in_x, SymbolicZero):
        raise MissingError("zeta(): the derivative for 'input' is not implemented")
    slope = -x * _zeta(x + 1, q)
    return _zeta(x, q), in_q if isinstance(in_q, SymbolicZero) else slope * in_q


_zeta.defjvp(_zeta_jvp, symbolic_zeros=True)
