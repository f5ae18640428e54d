"""Windowed reductions and their derivatives."""

from __future__ import annotations

import jax
import numpy as np
from hypothesis import strategies as st
from jax import lax

from .drawing import FLOATS, INTS, WIDE, Case, array, seeds, tame

MONOIDS = {"sum": (lax.add, 0), "max": (lax.max, -np.inf), "min": (lax.min, np.inf)}


def geometry(draw, dilated: bool) -> dict:
    """Windows over three axes, with any padding that leaves something, or by name."""
    per = st.tuples(*[st.integers(1, 3)] * 3)
    found = {"window_dimensions": draw(per), "window_strides": draw(per)}
    low_and_high = st.tuples(st.integers(-1, 2), st.integers(-1, 2))
    found["padding"] = draw(st.one_of(st.sampled_from(["VALID", "SAME"]), st.lists(low_and_high, min_size=3, max_size=3)))
    if dilated:
        found |= {"base_dilation": draw(per), "window_dilation": draw(per)}
    return found


@st.composite
def pools(draw, name: str) -> Case:
    op, start = MONOIDS[name]
    dtype, seed = draw(st.sampled_from(FLOATS if start else FLOATS + INTS)), draw(seeds)
    how = geometry(draw, draw(st.booleans()))
    x = (tame if name == "sum" else array)(seed, (4, 6, 5), dtype)
    scale = 100.0 if name == "sum" else None
    return Case(lambda x: lax.reduce_window(x, dtype.type(start), op, **how), (x,), 4, scale, zeros=False)


@st.composite
def from_a_start(draw) -> Case:
    dtype, how = draw(st.sampled_from(WIDE)), geometry(draw, False)
    x, start = tame(draw(seeds), (4, 6, 5), dtype), dtype.type(3)
    return Case(lambda x: lax.reduce_window(x, start, lax.add, **how), (x,), 4, 100.0)


@st.composite
def derivatives(draw, backward: bool) -> Case:
    """Of pooling with ties: the first of the best gets the gradient. (XLA's forward derivative finds another where it pads.)"""
    dtype, seed = draw(st.sampled_from(WIDE)), draw(seeds)
    how, name = geometry(draw, False), draw(st.sampled_from(["max", "min"]))
    how["padding"] = how["padding"] if isinstance(how["padding"], str) else [tuple(map(abs, pair)) for pair in how["padding"]]
    op, start = MONOIDS[name]
    x = tame(seed, (4, 6, 5), dtype)
    x = x.round() if backward or how["padding"] == "VALID" else x

    def pool(x):
        return lax.reduce_window(x, dtype.type(start), op, **how)

    if backward:
        g = tame(seed + 1, jax.eval_shape(pool, x).shape, dtype)
        return Case(lambda x, g: jax.vjp(pool, x)[1](g), (x, g), 4, 20.0)
    return Case(lambda x, t: jax.jvp(pool, (x,), (t,)), (x, tame(seed + 1, x.shape, dtype)), 4, 20.0)


CASES = {
    "reduce_window_sum": pools("sum"),
    "reduce_window_max": pools("max"),
    "reduce_window_min": pools("min"),
    "reduce_window": from_a_start(),
    "select_and_scatter_add": derivatives(True),
    "select_and_gather_add": derivatives(False),
}
