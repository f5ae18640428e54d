"""Special functions, where SciPy's algorithms and XLA's differ: compared where both are good."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st
from jax import lax

from .drawing import FLOATS, WIDE, Case, seeds, shapes, tame
from .elementwise import unary


@st.composite
def of_ranges(draw, fn: Callable, ranges, ulps: float, scale: float | None = None) -> Case:
    """Arguments each from its own range; 64-bit ones need ``scale`` where XLA is less exact."""
    dtype, seed, shape = draw(st.sampled_from(WIDE)), draw(seeds), draw(st.one_of(st.just((30,)), shapes))
    return Case(fn, tuple(tame(seed + i, shape, dtype, *r) for i, r in enumerate(ranges)), ulps, scale)


@st.composite
def polygammas(draw) -> Case:
    dtype, order = draw(st.sampled_from(WIDE)), draw(st.sampled_from([1.0, 2.0, 3.0, 0.5, -1.0]))
    x = tame(draw(seeds), (30,), dtype, 0.3, 9)
    return Case(lambda m, x: lax.polygamma(m, x), (np.full_like(x, order), x), 200)


CASES = {
    "erf": unary(lax.erf, FLOATS, 8),
    "erfc": unary(lax.erfc, FLOATS, 40, -3, 3),
    "erf_inv": unary(lax.erf_inv, FLOATS, 40, -0.999, 0.999),
    "lgamma": unary(lax.lgamma, FLOATS, 40, 0.01, 300, scale=1.0),
    "digamma": unary(lax.digamma, FLOATS, 64, 0.3, 40, scale=1.0),
    "bessel_i0e": unary(lax.bessel_i0e, FLOATS, 16),
    "bessel_i1e": unary(lax.bessel_i1e, FLOATS, 32, scale=0.1),
    "igamma": of_ranges(lax.igamma, [(0.3, 6), (0.1, 8)], 400, 1.0),
    "igammac": of_ranges(lax.igammac, [(0.3, 6), (0.1, 8)], 400, 1.0),
    "regularized_incomplete_beta": of_ranges(lax.betainc, [(0.3, 6), (0.3, 6), (0.05, 0.95)], 400, 1.0),
    "zeta": of_ranges(lax.zeta, [(1.3, 9), (0.2, 9)], 100),
    "polygamma": polygammas(),
}
