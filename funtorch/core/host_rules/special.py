"""Special functions, by scipy.special; float16 and bfloat16 go through float32."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .table import Equation, is_narrow_float, rule

FUNCTIONS: dict[str, str] = {
    "erf": "erf",
    "erfc": "erfc",
    "lgamma": "gammaln",
    "bessel_i0e": "i0e",
    "bessel_i1e": "i1e",
    "regularized_incomplete_beta": "betainc",
    "zeta": "zeta",
}


def widened(function: Callable, dtype: np.dtype) -> Callable:
    """``function`` for ``dtype``, in float32 where that is narrower."""
    if not is_narrow_float(dtype):
        return function
    return lambda *xs: function(*(x.astype(np.float32) for x in xs)).astype(dtype)


@rule(*FUNCTIONS, elementwise=True)
def special(eqn: Equation) -> Callable:
    import scipy.special

    return widened(getattr(scipy.special, FUNCTIONS[eqn.name]), np.dtype(eqn.dtype))


@rule("erf_inv", elementwise=True)
def erf_inv(eqn: Equation) -> Callable:
    from scipy.special import erfinv

    return widened(lambda x: np.copysign(erfinv(x), x), np.dtype(eqn.dtype))  # -0.0 stays


@rule("digamma", elementwise=True)
def digamma(eqn: Equation) -> Callable:
    from scipy.special import psi

    def run(x):  # at its poles XLA gives NaN
        return np.where(np.less_equal(x, 0) & np.equal(x, np.floor(x)), x.dtype.type(np.nan), psi(x))

    return widened(run, np.dtype(eqn.dtype))


@rule("igamma", "igammac", elementwise=True)
def incomplete_gamma(eqn: Equation) -> Callable:
    from scipy.special import gammainc, gammaincc

    function = gammainc if eqn.name == "igamma" else gammaincc

    def run(a, x):
        return np.where(np.less(x, 0) | np.less_equal(a, 0), x.dtype.type(np.nan), function(a, x))

    return widened(run, np.dtype(eqn.dtype))


@rule("polygamma", elementwise=True)
def polygamma(eqn: Equation) -> Callable:
    from scipy.special import gammaln, psi, zeta

    def run(order, x):
        sign = np.where(np.equal(np.fmod(order, 2), 0), x.dtype.type(-1), x.dtype.type(1))
        value = sign * np.exp(gammaln(order + 1)) * zeta(order + 1, x)
        value = np.where(np.equal(order, 0), psi(x), value)
        wrong = np.less(order, 0) | np.not_equal(order, np.floor(order))
        return np.where(wrong, x.dtype.type(np.nan), value).astype(x.dtype)

    return widened(run, np.dtype(eqn.dtype))
