r"""Random numbers that are differentiable with respect to the parameters of their law, where no simple formula makes them.

The derivative of a number x with distribution function F(x; a) is the one that leaves F unchanged (implicit reparameterisation,
Figurnov et al., 2018): :math:`dx/da = -(\partial F / \partial a) / (\partial F / \partial x)`.
"""

from __future__ import annotations

import math
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax.scipy import special

from ..core.call import call
from ..core.generators import Generator
from ..core.op import Op
from ..tensor import Tensor
from .declare import Array, function, op
from .laws import by_values
from .random import twister_of

# Nodes and weights on (0, inf), in units of the integrand's scale: w = exp(pi/2 sinh t), even steps of t (Takahasi, Mori 1974).
_STEP = 0.05
_T = np.arange(-3.4, 2.6, _STEP)
_NODES = np.exp(0.5 * math.pi * np.sinh(_T))
_WEIGHTS = _STEP * 0.5 * math.pi * np.cosh(_T) * _NODES
_FARTHEST = 600.0  # exp(w) is finite up to there, and the integrands vanish long before


def _integral(integrand: Callable[[Array], Array], scale: Array) -> Array:
    """The integral of a function that decays over about ``scale`` from 0 to infinity, elementwise."""
    scale = jax.lax.stop_gradient(scale)

    def add(total: Array, node: tuple) -> tuple:
        return total + node[1] * integrand(jnp.minimum(node[0] * scale, _FARTHEST * jnp.maximum(scale, 1))), None

    total, _ = jax.lax.scan(add, jnp.zeros_like(scale), (jnp.asarray(_NODES), jnp.asarray(_WEIGHTS)))
    return total * scale


def _gamma_slope_by_integral(a: Array, z: Array) -> Array:
    """dz/da of a gamma number z, differentiable to any order: an integral over log t, away from the mode."""
    side = jnp.where(z < a, -1.0, 1.0)
    centre = jnp.log(z) - special.digamma(a)

    def integrand(w: Array) -> Array:
        w = side * jnp.minimum(w, jnp.where(side > 0, _FARTHEST, jnp.inf))
        return jnp.exp(a * w - z * jnp.expm1(w)) * (centre + w)

    return side * z * _integral(integrand, 1 / (jnp.abs(a - z) + jnp.sqrt(z)))


@jax.custom_jvp
def _gamma_slope(a: Array, z: Array) -> Array:
    return jax.lax.random_gamma_grad(a, z)


@_gamma_slope.defjvp
def _gamma_slope_jvp(primals: tuple, tangents: tuple) -> tuple:
    # JAX has no derivative of its primitive.
    wide = [x.astype(jnp.float64) for x in primals]
    _, slope = jax.jvp(_gamma_slope_by_integral, wide, [t.astype(jnp.float64) for t in tangents])
    return _gamma_slope(*primals), slope.astype(primals[0].dtype)


def _beta_slope(a: Array, b: Array, x: Array) -> Array:
    """dx/da / (1 - x) of a beta number x: an integral over the log-odds of t, away from the mode."""
    dtype = x.dtype
    a, b, x = (v.astype(jnp.float64) for v in (a, b, x))
    log_x, log_rest = jnp.log(x), jnp.log1p(-x)
    odds = log_x - log_rest
    lean = a * (1 - x) - b * x
    side = jnp.where(lean > 0, -1.0, 1.0)
    centre = special.digamma(a) - special.digamma(a + b)

    def integrand(w: Array) -> Array:
        u = odds + side * w
        log_t = jax.nn.log_sigmoid(u)
        log_other = log_t - u
        return jnp.exp(a * (log_t - log_x) + b * (log_other - log_rest)) * (log_t - centre)

    scale = 1 / (jnp.abs(lean) + jnp.sqrt((a + b) * x * (1 - x)))
    return (side * x * _integral(integrand, scale)).astype(dtype)


@jax.custom_jvp
def _gamma_number(concentration: Array, drawn: Array) -> Array:
    return jax.lax.stop_gradient(drawn)


@_gamma_number.defjvp
def _gamma_number_jvp(primals: tuple, tangents: tuple) -> tuple:
    z = _gamma_number(*primals)
    return z, _gamma_slope(primals[0], z) * tangents[0]


@jax.custom_jvp
def _shares(concentration: Array, drawn: Array) -> Array:
    return jax.lax.stop_gradient(drawn)


@_shares.defjvp
def _shares_jvp(primals: tuple, tangents: tuple) -> tuple:
    a, x = primals[0], _shares(*primals)
    # A share's own law is a beta law; what it gains, all lose in proportion.
    gained = _beta_slope(a, a.sum(-1, keepdims=True) - a, x) * tangents[0]
    return x, gained - x * gained.sum(-1, keepdims=True)


_GAMMA = Op(_gamma_number, "_standard_gamma")
_DIRICHLET = Op(_shares, "_sample_dirichlet")


@function(name="_standard_gamma")
def standard_gamma(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Gamma numbers of rate 1 with the concentrations that ``input`` (*) holds, differentiable: (*).

    Raises NotImplementedError for dtypes other than float32 and float64.
    """
    twister = twister_of(generator)
    return call(_GAMMA, (input, by_values(input, "_standard_gamma", lambda v: twister.standard_gamma(v))))


@op(name="_standard_gamma_grad", method=False)
def standard_gamma_grad(input: Array, output: Array):
    """The derivative of gamma numbers ``output`` (*) with respect to their concentrations ``input`` (*): (*)."""
    return _gamma_slope(input, output)


@function(name="_sample_dirichlet")
def sample_dirichlet(input: Tensor, generator: Generator | None = None) -> Tensor:
    """Shares (*, K) by Dirichlet's law of concentrations ``input`` (*, K), differentiable.

    Raises NotImplementedError for dtypes other than float32 and float64.
    """
    twister = twister_of(generator)
    return call(_DIRICHLET, (input, by_values(input, "_sample_dirichlet", lambda v: twister.dirichlet(v))))


@op(name="_dirichlet_grad", method=False)
def dirichlet_grad(x: Array, alpha: Array, total: Array):
    """dx/dalpha / (1 - x) of shares x (*), whose law is that of beta(alpha, total - alpha): (*)."""
    return _beta_slope(alpha, total - alpha, x)
