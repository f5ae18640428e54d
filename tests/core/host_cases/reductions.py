"""Reductions over any axes, cumulative operations, sorting."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st
from jax import lax

from .drawing import BOOL, FLOATS, INTS, WIDE, Case, array, full_shapes, seeds, shapes, tame

NUMBERS = FLOATS + INTS


def axes_of(draw, shape: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(sorted(draw(st.sets(st.integers(0, len(shape) - 1))))) if shape else ()


@st.composite
def reductions(draw, fn: Callable, dtypes, values: Callable = array, scaled: bool = False) -> Case:
    """``fn(x, axes)``. Sums are compared by the size of what they add up."""
    dtype, seed, shape = draw(st.sampled_from(dtypes)), draw(seeds), draw(st.one_of(shapes, st.just((40, 3))))
    axes = axes_of(draw, shape) or tuple(range(len(shape)))
    x = values(seed, shape, dtype, -2, 2)
    scale = 2.0 * x.size if scaled and dtype.kind not in "iub" else None
    return Case(lambda x: fn(x, axes), (x,), 4, scale, zeros=False)


@st.composite
def from_a_start(draw) -> Case:
    """``lax.reduce`` with a start that isn't neutral, and with a function that has no rule."""
    dtype, seed = draw(st.sampled_from(WIDE + INTS[:2])), draw(seeds)
    op = draw(st.sampled_from([lax.add, lax.mul, lax.max, lax.min]))
    x = tame(seed, (3, 4), dtype)
    if draw(st.booleans()):
        return Case(lambda x: lax.reduce(x, dtype.type(3), op, (1,)), (x,), 8, 1e3)
    both = lambda a, b: (a[0] + b[0], lax.max(a[1], b[1]))  # noqa: E731
    return Case(lambda x: lax.reduce((x, x), (dtype.type(0), dtype.type(0)), both, (0,)), (x,), 8, 1e2, falls=True)


@st.composite
def arguments(draw, fn: Callable) -> Case:
    dtype, seed, shape = draw(st.sampled_from(NUMBERS + BOOL)), draw(seeds), draw(full_shapes)
    axis, index = draw(st.integers(0, len(shape) - 1)), draw(st.sampled_from([np.int32, np.int64]))
    return Case(lambda x: fn(x, axis, index), (array(seed, shape, dtype),))


@st.composite
def cumulatives(draw, fn: Callable, dtypes, values: Callable = tame, low=-2.0) -> Case:
    dtype, seed, shape = draw(st.sampled_from(dtypes)), draw(seeds), draw(st.one_of(full_shapes, st.just((37,))))
    axis, reverse = draw(st.integers(0, len(shape) - 1)), draw(st.booleans())
    x = values(seed, shape, dtype, low, 2)
    return Case(lambda x: fn(x, axis=axis, reverse=reverse), (x,), 16, 64.0 if values is tame else None, zeros=False)


@st.composite
def sorts(draw) -> Case:
    """One operand, or several with one key or more; the others come along."""
    dtype, shape, seed = draw(st.sampled_from(NUMBERS + BOOL)), draw(full_shapes), draw(seeds)
    axis, keys, count = draw(st.integers(0, len(shape) - 1)), draw(st.integers(1, 3)), draw(st.integers(1, 4))
    keys = min(keys, count)
    x = array(seed, shape, dtype)
    few = [array(seed + 1 + i, shape, draw(st.sampled_from(NUMBERS))).round() for i in range(count - 1)]
    operands = (x, *few) if draw(st.booleans()) else (*few, x)
    return Case(lambda *xs: lax.sort(xs, dimension=axis, num_keys=keys, is_stable=True), operands, 0, zeros=count > 1)


@st.composite
def best(draw) -> Case:
    dtype, shape, seed = draw(st.sampled_from(NUMBERS)), draw(full_shapes), draw(seeds)
    axis = draw(st.integers(0, len(shape) - 1))
    k = draw(st.integers(1, shape[axis]))
    return Case(lambda x: lax.top_k(x, k, axis=axis), (array(seed, shape, dtype),), 0, zeros=False)


CASES = {
    "reduce_sum": reductions(lax.reduce_sum, NUMBERS, tame, True),
    "reduce_prod": reductions(lax.reduce_prod, NUMBERS, lambda s, n, d, *_: tame(s, n, d, 0.7, 1.3)),
    "reduce_max": reductions(lax.reduce_max, NUMBERS),
    "reduce_min": reductions(lax.reduce_min, NUMBERS),
    "reduce_and": reductions(lax.reduce_and, INTS + BOOL),
    "reduce_or": reductions(lax.reduce_or, INTS + BOOL),
    "reduce_xor": reductions(lax.reduce_xor, INTS + BOOL),
    "reduce": from_a_start(),
    "argmax": arguments(lax.argmax),
    "argmin": arguments(lax.argmin),
    "cumsum": cumulatives(lax.cumsum, NUMBERS),
    "cumprod": cumulatives(lax.cumprod, NUMBERS, low=0.5),
    "cummax": cumulatives(lax.cummax, NUMBERS, array),
    "cummin": cumulatives(lax.cummin, NUMBERS, array),
    "cumlogsumexp": cumulatives(lax.cumlogsumexp, FLOATS),
    "sort": sorts(),
    "top_k": best(),
}
