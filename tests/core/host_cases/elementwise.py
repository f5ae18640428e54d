"""Elementwise primitives: every dtype that each takes, with infinities, NaN, signed zeros and the bounds of integers."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from hypothesis import strategies as st
from jax import lax
from jax.extend.core.primitives import add_jaxvals_p

from .drawing import BOOL, COMPLEX, EVERY, FLOATS, INTS, NARROW, SIGNED, WIDE, Case, array, edges, seeds, shapes

MANY = (60,)  # an example costs a compilation, an element nothing


@st.composite
def unary(draw, fn: Callable, dtypes, ulps=4.0, low=-np.inf, high=np.inf, scale=None) -> Case:
    dtype, seed = draw(st.sampled_from(dtypes)), draw(seeds)
    shape = draw(st.one_of(st.just(MANY), shapes))
    x = array(seed, shape, dtype, max(low, -4), min(high, 4), special=low == -np.inf)
    if shape == MANY:
        found = edges(dtype, low, high)
        x[: len(found)] = found
    return Case(fn, (x,), ulps, scale)


@st.composite
def several(draw, fn: Callable, count: int, dtypes, ulps=4.0, low=-4.0, high=4.0, zeros=True) -> Case:
    """Arguments of one dtype and shape; at times every pair of the awkward values."""
    dtype, seed = draw(st.sampled_from(dtypes)), draw(seeds)
    if draw(st.booleans()):
        args = np.meshgrid(*[edges(dtype)] * count)
    else:
        shape = draw(st.one_of(st.just(MANY), shapes))
        args = [array(seed + i, shape, dtype, low, high) for i in range(count)]
    return Case(fn, tuple(args), ulps, zeros=zeros)


@st.composite
def conversions(draw) -> Case:
    source = draw(st.sampled_from(EVERY))
    target = draw(st.sampled_from([dtype for dtype in EVERY if dtype != source and (dtype.kind == "c" or source.kind != "c")]))
    x = array(draw(seeds), MANY, source, -300, 300)
    return Case(lambda x: lax.convert_element_type(x, target), (x,), 1)


@st.composite
def powers(draw) -> Case:
    """Also of a float to an integer."""
    dtype, seed = draw(st.sampled_from(FLOATS + COMPLEX)), draw(seeds)
    kinds = [dtype] if dtype.kind == "c" else [dtype, np.dtype("i4"), np.dtype("i8")]
    exponent = draw(st.sampled_from(kinds))
    special = dtype.kind != "c"
    x = array(seed, MANY, dtype, special=special)
    y = array(seed + 1, MANY, exponent, special=special)
    return Case(lax.pow, (x, y), 16)


@st.composite
def integer_powers(draw) -> Case:
    dtype, y = draw(st.sampled_from(FLOATS + INTS + COMPLEX)), draw(st.integers(-4, 6))
    y = abs(y) if dtype.kind in "iu" else y
    return Case(lambda x: lax.integer_pow(x, y), (array(draw(seeds), MANY, dtype, special=dtype.kind != "c"),), 8)


@st.composite
def rounding(draw) -> Case:
    method = lax.RoundingMethod(draw(st.integers(0, 1)))
    return Case(lambda x: lax.round(x, method), (array(draw(seeds), MANY, draw(st.sampled_from(FLOATS)), -9, 9),), 0)


@st.composite
def precisions(draw) -> Case:
    exponent, mantissa = draw(st.sampled_from([8, 5])), draw(st.integers(2, 22))
    x = array(draw(seeds), MANY, "f4")
    return Case(lambda x: lax.reduce_precision(x, exponent, mantissa), (x,), 0, falls=exponent != 8)


@st.composite
def bits(draw) -> Case:
    source = draw(st.sampled_from(FLOATS + INTS))
    target = draw(st.sampled_from([d for d in FLOATS + INTS if d.itemsize == source.itemsize]))
    narrower = draw(st.sampled_from([np.dtype("u1"), target]))
    x = array(draw(seeds), draw(shapes), source)
    return Case(lambda x: lax.bitcast_convert_type(x, narrower).astype(narrower), (x,))


@st.composite
def shifts(draw, fn: Callable) -> Case:
    dtype = draw(st.sampled_from(INTS))
    amounts = np.array([0, 1, 3, 7, 8, 15, 16, 31, 32, 63, 64, 100, 255 if dtype.kind == "u" else -1], np.int64).astype(dtype)
    return Case(fn, (array(draw(seeds), amounts.shape, dtype), amounts))


@st.composite
def clamps(draw) -> Case:
    dtype, seed, scalar = draw(st.sampled_from(FLOATS + INTS)), draw(seeds), draw(st.booleans())
    low, high = (array(seed + i, () if scalar else MANY, dtype) for i in range(2))
    return Case(lax.clamp, (low, array(seed + 2, MANY, dtype), high), 0, zeros=False)


@st.composite
def selections(draw) -> Case:
    dtype, seed, count = draw(st.sampled_from(EVERY)), draw(seeds), draw(st.integers(1, 4))
    shape = draw(shapes)
    rng = np.random.default_rng(seed)
    which = rng.integers(0, 2, shape).astype(bool) if count <= 2 else rng.integers(0, count, shape).astype(np.int32)
    which = np.zeros(shape, bool) if count == 1 else which
    if count == 2 and draw(st.booleans()):
        which = which.astype(np.int32)
    which = which if draw(st.booleans()) or not which.size else which.ravel()[0]
    return Case(
        lambda which, *cases: lax.select_n(which, *cases),
        (np.asarray(which), *(array(seed + i, shape, dtype) for i in range(count))),
    )


@st.composite
def complexes(draw, fn: Callable) -> Case:
    dtype, seed = draw(st.sampled_from(WIDE)), draw(seeds)
    return Case(lambda x, y: fn(lax.complex(x, y)), (array(seed, MANY, dtype), array(seed + 1, MANY, dtype)))


CASES = {
    **{n: unary(getattr(lax, n), FLOATS + SIGNED + COMPLEX) for n in ("neg", "abs", "sign")},
    **{n: unary(getattr(lax, n), FLOATS, 0) for n in ("floor", "ceil", "is_finite")},
    "square": unary(lax.square, FLOATS + INTS),
    **{n: unary(getattr(lax, n), FLOATS) for n in ("exp", "expm1", "logistic", "tanh", "asinh")},
    **{n: unary(getattr(lax, n), FLOATS, 12) for n in ("sinh", "cosh")},
    "exp2": st.one_of(unary(lax.exp2, WIDE, 12), unary(lax.exp2, NARROW, low=-1, high=1)),  # XLA's own lose some ulps far from 0
    **{n: unary(getattr(lax, n), FLOATS, 8) for n in ("sin", "cos", "tan", "atan", "asin", "acos", "acosh", "atanh")},
    **{n: unary(getattr(lax, n), FLOATS) for n in ("cbrt", "log", "log1p", "sqrt", "rsqrt")},
    **{n: several(getattr(lax, n), 2, FLOATS + INTS + COMPLEX) for n in ("add", "sub", "mul")},
    "div": several(lax.div, 2, FLOATS + INTS + COMPLEX),
    "rem": several(lax.rem, 2, FLOATS + INTS),
    **{n: several(getattr(lax, n), 2, FLOATS + INTS + BOOL, zeros=False) for n in ("max", "min")},
    "atan2": several(lax.atan2, 2, FLOATS, 8),
    "nextafter": several(lax.nextafter, 2, FLOATS, 0),
    "add_any": several(add_jaxvals_p.bind, 2, FLOATS + COMPLEX),
    **{n: several(getattr(lax, n), 2, EVERY) for n in ("eq", "ne")},
    **{n: several(getattr(lax, f"{n}_p").bind, 2, FLOATS + INTS) for n in ("lt_to", "le_to", "eq_to")},
    **{n: several(getattr(lax, n), 2, FLOATS + INTS + BOOL) for n in ("lt", "le", "gt", "ge")},
    **{n: several(getattr(lax, f"bitwise_{n}"), 2, INTS + BOOL) for n in ("and", "or", "xor")},
    "not": unary(lax.bitwise_not, INTS + BOOL),
    "clz": unary(lax.clz, INTS),
    "population_count": unary(lax.population_count, INTS),
    **{n: shifts(getattr(lax, n)) for n in ("shift_left", "shift_right_logical", "shift_right_arithmetic")},
    "pow": powers(),
    "integer_pow": integer_powers(),
    "round": rounding(),
    "clamp": clamps(),
    "select_n": selections(),
    "convert_element_type": conversions(),
    "reduce_precision": precisions(),
    "bitcast_convert_type": bits(),
    "complex": complexes(lambda z: z),
    "conj": complexes(lax.conj),
    "real": complexes(lax.real),
    "imag": complexes(lax.imag),
}
