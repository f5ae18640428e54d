"""Each NumPy rule of the host tier against XLA, over random shapes, dtypes and parameters."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from jax import lax

from funtorch.core import host

jax.config.update("jax_enable_x64", True)

BF16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = [np.dtype(t) for t in ("f4", "f8", "f2")] + [BF16]
WIDE = FLOATS[:2]
INTS = [np.dtype(t) for t in ("i4", "i8", "i1", "u1", "u4")]
BOOL = [np.dtype(bool)]
EPS = {"float64": 2.3e-16, "float32": 1.2e-7, "float16": 9.8e-4, "bfloat16": 7.9e-3}
EPS |= {"complex128": 2.3e-16, "complex64": 1.2e-7}
FAST = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}
SPECIALS = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 2.5, 1.5, np.inf, -np.inf, np.nan, 1e-3, 30.0, -30.0, 3e9, -3e9]

seeds = st.integers(0, 2**32 - 1)
shapes = st.lists(st.integers(0, 5), min_size=0, max_size=3).map(tuple)
full_shapes = st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple)


def examples(count: int):
    """Few examples, always the same ones, and no shrinking: each costs a compilation."""
    slow = [HealthCheck.too_slow, HealthCheck.data_too_large]
    phases = [Phase.explicit, Phase.generate]
    return settings(
        max_examples=count,
        deadline=None,
        derandomize=True,
        suppress_health_check=slow,
        database=None,
        phases=phases,
    )


def xla(fn, *args):
    """What XLA gives, compiled in a hurry."""
    results = jax.jit(fn).lower(*args).compile(compiler_options=FAST)(*args)
    return [np.asarray(r) for r in jax.tree.leaves(results)]


def compare(fn, *args, ulps: float = 8, scale: float | None = None, may_fall: bool = False):
    """The host tier against XLA: dtypes, shapes, values. ``scale`` is the size that rounding errors go by."""
    args = [np.asarray(a) for a in args]
    before = host.falls.total()
    got = host.prepare(jax.make_jaxpr(fn)(*args))(*args)
    assert may_fall or host.falls.total() == before, dict(host.falls)
    for g, w in zip(got, xla(fn, *args), strict=True):
        assert type(g) is np.ndarray
        assert (g.dtype, g.shape) == (w.dtype, w.shape)
        assert 0 not in g.strides or 0 in g.shape or g.size == 1
        same(g, w, ulps, scale)


def same(g, w, ulps, scale):
    eps = EPS.get(g.dtype.name)
    if eps is None:
        np.testing.assert_array_equal(g, w)
        return
    kind = np.complex128 if g.dtype.kind == "c" else np.float64
    g, w = g.astype(kind), w.astype(kind)
    np.testing.assert_array_equal(np.isnan(g), np.isnan(w))
    if scale is None and kind is np.float64:
        np.testing.assert_array_equal(np.signbit(g[w == 0]), np.signbit(w[w == 0]))
    np.testing.assert_allclose(g, w, rtol=max(ulps * eps, 1e-12 if eps < 1e-15 else 0), atol=ulps * eps * (scale or 0))


def array(seed: int, shape, dtype, low=-4.0, high=4.0, specials=False) -> np.ndarray:
    """Random values of ``dtype``; with ``specials``, infinities, NaN, zeros and the bounds among them."""
    rng, dtype = np.random.default_rng(seed), np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        bounds = np.iinfo(dtype)
        x = rng.integers(0 if dtype.kind == "u" else -9, 10, shape).astype(dtype)
        extra = np.array([bounds.min, bounds.max, 0], dtype)
    elif dtype.kind == "c":
        return (array(seed, shape, "f8") + 1j * array(seed + 1, shape, "f8")).astype(dtype)
    else:
        x = rng.uniform(low, high, shape).astype(dtype)
        extra = np.array([s for s in SPECIALS if low <= s <= high or specials == "all"], np.float32)
        with np.errstate(over="ignore"):
            extra = extra.astype(dtype)
    if specials and x.size:
        where = rng.random(shape) < 0.4
        x = np.where(where, rng.choice(extra, shape), x).astype(dtype)
    return x


def prim(name: str):
    return getattr(lax, name)


# name: (dtypes, low, high, ulps)
UNARY = {
    **dict.fromkeys(["neg", "abs", "sign", "floor", "ceil", "is_finite", "square"], (FLOATS, -9, 9, 1)),
    **dict.fromkeys(["exp", "exp2", "expm1", "logistic", "tanh", "sinh", "cosh", "asinh"], (FLOATS, -6, 6, 8)),
    **dict.fromkeys(["sin", "cos", "atan", "cbrt", "erf"], (FLOATS, -6, 6, 8)),
    "tan": (FLOATS, -1.5, 1.5, 16),
    **dict.fromkeys(["log", "log1p", "sqrt", "rsqrt", "lgamma"], (FLOATS, 0.01, 50, 32)),
    **dict.fromkeys(["asin", "acos", "erf_inv"], (FLOATS, -0.99, 0.99, 64)),
    "atanh": (FLOATS, -0.9, 0.9, 32),
    "acosh": (FLOATS, 1.1, 9, 32),
    "erfc": (FLOATS, -3, 3, 64),
    "digamma": (FLOATS, 2, 20, 64),
    "bessel_i0e": (FLOATS, -9, 9, 32),
    "bessel_i1e": (FLOATS, 0.1, 9, 32),
}


@pytest.mark.parametrize("name", UNARY)
@examples(4)
@given(data=st.data())
def test_unary(name, data):
    dtypes, low, high, ulps = UNARY[name]
    dtype, shape, seed = data.draw(st.sampled_from(dtypes)), data.draw(shapes), data.draw(seeds)
    scale = 1 if name == "lgamma" else None  # XLA's has an absolute error near 1 and 2
    compare(prim(name), array(seed, shape, dtype, low, high, specials=True), ulps=ulps, scale=scale)


@pytest.mark.parametrize("name", [n for n in UNARY if n not in ("lgamma", "digamma", "bessel_i0e", "bessel_i1e", "erf_inv")])
def test_unary_at_the_edges(name):
    """Infinities, NaN, signed zeros and what is outside of the domain."""
    x = np.array([np.inf, -np.inf, np.nan, 0.0, -0.0, 1.0, -1.0], np.float32)
    compare(prim(name), x, ulps=8)


@pytest.mark.parametrize("name", ["add", "sub", "mul", "div", "rem", "max", "min", "pow", "atan2", "nextafter"])
@examples(5)
@given(data=st.data())
def test_binary(name, data):
    only_floats = name in ("pow", "atan2", "nextafter")
    dtype = data.draw(st.sampled_from(FLOATS if only_floats else FLOATS + INTS))
    shape, seed = data.draw(shapes), data.draw(seeds)
    x, y = (array(seed + i, shape, dtype, specials="all") for i in range(2))
    compare(prim(name), x, y, ulps=16)


@pytest.mark.parametrize("name", ["eq", "ne", "lt", "le", "gt", "ge", "bitwise_and", "bitwise_or", "bitwise_xor"])
@examples(3)
@given(data=st.data())
def test_comparisons_and_bits(name, data):
    dtype = data.draw(st.sampled_from(INTS + BOOL + ([] if name.startswith("bit") else FLOATS)))
    shape, seed = data.draw(shapes), data.draw(seeds)
    compare(prim(name), *(array(seed + i, shape, dtype, specials="all") for i in range(2)))


@pytest.mark.parametrize("name", ["shift_left", "shift_right_logical", "shift_right_arithmetic"])
@examples(4)
@given(dtype=st.sampled_from(INTS), seed=seeds)
def test_shifts(name, dtype, seed):
    amounts = np.array([0, 1, 3, 7, 8, 31, 32, 64, 100, 255 if dtype.kind == "u" else -1], np.int64).astype(dtype)
    x = array(seed, amounts.shape, dtype, specials=True)
    compare(prim(name), x, amounts)


@examples(6)
@given(dtype=st.sampled_from(INTS), seed=seeds, shape=shapes)
def test_integers(dtype, seed, shape):
    x = array(seed, shape, dtype, specials=True)
    compare(
        lambda x: (
            lax.clz(x),
            lax.population_count(x),
            lax.bitwise_not(x),
            lax.sign(x),
            lax.integer_pow(x, 3),
        ),
        x,
    )


@examples(8)
@given(dtype=st.sampled_from(FLOATS), seed=seeds, shape=shapes)
def test_rounding_powers_and_clamp(dtype, seed, shape):
    x, y = array(seed, shape, dtype, -9, 9, specials="all"), array(seed + 1, shape, dtype)
    compare(lambda x: (lax.round(x, lax.RoundingMethod(0)), lax.round(x, lax.RoundingMethod(1))), x)
    compare(lambda x: [lax.integer_pow(x, n) for n in (-3, -1, 0, 1, 2, 5)], x, ulps=8)
    compare(lambda x, y: (lax.clamp(dtype.type(-1), x, dtype.type(1)), lax.select(x < y, x, y)), x, y)


@examples(30)
@given(source=st.sampled_from(FLOATS + INTS + BOOL), target=st.sampled_from(FLOATS + INTS + BOOL), seed=seeds)
def test_conversions(source, target, seed):
    x = array(seed, (40,), source, -300, 300, specials="all")
    compare(lambda x: lax.convert_element_type(x, target), x, ulps=1)


@examples(6)
@given(exponent=st.sampled_from([8, 5]), mantissa=st.integers(2, 22), seed=seeds)
def test_reduced_precision(exponent, mantissa, seed):
    x = array(seed, (30,), "f4", specials="all")
    compare(lambda x: lax.reduce_precision(x, exponent, mantissa), x, may_fall=exponent != 8)


@examples(4)
@given(dtype=st.sampled_from(["c8", "c16"]), seed=seeds, shape=full_shapes)
def test_complex(dtype, seed, shape):
    x, y = array(seed, shape, dtype), array(seed + 7, shape, dtype)
    compare(lambda x, y: (x + y, x * y, x / y, lax.conj(x), lax.real(x), lax.imag(y), lax.abs(x)), x, y, scale=8)
    compare(lambda x, y: (lax.exp(x), lax.sign(x), lax.complex(lax.real(x), lax.imag(y)), x == y), x, y, scale=64)


@examples(3)
@given(dtype=st.sampled_from(WIDE), seed=seeds, shape=shapes)
def test_special_functions(dtype, seed, shape):
    a, x = array(seed, shape, dtype, 0.3, 6), array(seed + 1, shape, dtype, 0.1, 8)
    compare(lambda a, x: (lax.igamma(a, x), lax.igammac(a, x)), a, x, ulps=400 if dtype == "f4" else 1e5, scale=1)
    compare(lambda a, x: lax.betainc(a, x, x / 9), a, x, ulps=400 if dtype == "f4" else 1e5, scale=1)
    compare(
        lambda a, x: (lax.polygamma(jnp.ones_like(x), x), lax.zeta(a + 1.5, x)),
        a,
        x,
        ulps=200 if dtype == "f4" else 1e4,
    )


@pytest.mark.parametrize("name", ["sum", "prod", "max", "min", "argmax", "argmin"])
@examples(5)
@given(data=st.data())
def test_reductions(name, data):
    dtype, seed = data.draw(st.sampled_from(FLOATS + INTS)), data.draw(seeds)
    shape = data.draw(full_shapes)
    axes = data.draw(st.integers(0, len(shape) - 1)) if name.startswith("arg") else data.draw(subsets(len(shape)))
    fn = partial(getattr(jnp, name), axis=axes, **({"dtype": dtype} if name in ("sum", "prod") else {}))
    x = array(seed, shape, dtype, -2, 2, specials=name not in ("sum", "prod"))
    compare(fn, x, ulps=16, scale=4 * x.size)


def subsets(rank: int):
    return st.sets(st.integers(0, rank - 1)).map(lambda axes: tuple(sorted(axes)))


@examples(6)
@given(dtype=st.sampled_from(INTS + BOOL), seed=seeds, shape=full_shapes)
def test_bitwise_reductions(dtype, seed, shape):
    x = array(seed, shape, dtype)
    full = np.invert(np.zeros((), dtype))
    starts = ((full, lax.bitwise_and), (dtype.type(0), lax.bitwise_or), (dtype.type(0), lax.bitwise_xor))
    compare(lambda x: [lax.reduce(x, start, op, (0,)) for start, op in starts], x)


@examples(4)
@given(dtype=st.sampled_from(WIDE + INTS[:2]), seed=seeds)
def test_reductions_from_a_start(dtype, seed):
    x, start = array(seed, (3, 4), dtype), dtype.type(3)
    compare(
        lambda x: [lax.reduce(x, start, op, (1,)) for op in (lax.add, lax.max, lax.min, lax.mul)],
        x,
        scale=100,
    )
    compare(lambda x: lax.reduce_window(x, start, lax.add, (2, 2), (1, 1), "SAME"), x, scale=100)


@pytest.mark.parametrize("name", ["cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"])
@examples(4)
@given(data=st.data())
def test_cumulative(name, data):
    dtypes = WIDE if name == "cumlogsumexp" else WIDE + INTS[:2]
    dtype, seed, shape = data.draw(st.sampled_from(dtypes)), data.draw(seeds), data.draw(full_shapes)
    axis, reverse = data.draw(st.integers(0, len(shape) - 1)), data.draw(st.booleans())
    x = array(seed, shape, dtype, -2, 2)
    compare(lambda x: prim(name)(x, axis=axis, reverse=reverse), x, ulps=32, scale=8)


@examples(20)
@given(data=st.data())
def test_dot_general(data):
    dtype, seed = data.draw(st.sampled_from(FLOATS + INTS[:1] + [np.dtype("c8")])), data.draw(seeds)
    names = "abcdef"
    left = data.draw(st.lists(st.sampled_from(names), max_size=4, unique=True))
    right = data.draw(st.lists(st.sampled_from(names), max_size=4, unique=True))
    both = [n for n in left if n in right]
    batch = data.draw(st.sets(st.sampled_from(both)).map(sorted)) if both else []
    summed = [n for n in both if n not in batch]
    sizes = {n: data.draw(st.integers(1, 4)) for n in names}
    x, y = (array(seed + i, [sizes[n] for n in side], dtype) for i, side in enumerate((left, right)))
    numbers = tuple(tuple([side.index(n) for n in group] for side in (left, right)) for group in (summed, batch))
    compare(lambda x, y: lax.dot_general(x, y, numbers), x, y, ulps=4, scale=200)


def test_products_of_narrow_types_into_wider_ones():
    x, y = array(0, (4, 9), BF16), array(1, (9, 3), BF16)
    i, j = array(0, (4, 9), "i1"), array(1, (9, 3), "i1")
    wide = partial(lax.dot_general, dimension_numbers=(((1,), (0,)), ((), ())))
    compare(partial(wide, preferred_element_type=np.float32), x, y, scale=100)
    compare(partial(wide, preferred_element_type=np.int32), i, j)


@examples(25)
@given(data=st.data())
def test_convolution(data):
    rank, seed = data.draw(st.integers(1, 2)), data.draw(seeds)
    groups, batched = data.draw(st.integers(1, 3)), data.draw(st.booleans())
    dtype = data.draw(st.sampled_from(FLOATS))
    per = st.lists(st.integers(1, 3), min_size=rank, max_size=rank)
    strides, lhs_dilation, rhs_dilation, window = (data.draw(per) for _ in range(4))
    padding = [tuple(data.draw(st.tuples(st.integers(-1, 3), st.integers(-1, 3)))) for _ in range(rank)]
    space = [data.draw(st.integers(7, 9)) for _ in range(rank)]
    n, c, o = (data.draw(st.integers(1, 3)) for _ in range(3))
    by_batch = groups if batched else 1
    by_feature = 1 if batched else groups
    lhs = (n * by_batch, c * by_feature, *space)
    rhs = (o * groups, c, *window)
    orders = [data.draw(st.permutations(range(rank + 2))) for _ in range(3)]
    x = array(seed, lhs, dtype).transpose(np.argsort(orders[0]))
    w = array(seed + 1, rhs, dtype).transpose(np.argsort(orders[1]))
    numbers = lax.ConvDimensionNumbers(*(tuple(p) for p in orders))
    fn = partial(
        lax.conv_general_dilated,
        window_strides=strides,
        padding=padding,
        lhs_dilation=lhs_dilation,
        rhs_dilation=rhs_dilation,
        dimension_numbers=numbers,
        feature_group_count=by_feature,
        batch_group_count=by_batch,
    )
    compare(fn, x, w, ulps=4, scale=300)


@pytest.mark.parametrize("mode", ["VALID", "SAME"])
@examples(6)
@given(data=st.data())
def test_windows(mode, data):
    dtype, seed = data.draw(st.sampled_from(WIDE)), data.draw(seeds)
    window, strides = (tuple(data.draw(st.integers(1, 3)) for _ in range(3)) for _ in range(2))
    x = array(seed, (4, 6, 5), dtype).round(1)  # with ties

    def pool(x, op, start, **more):
        return lax.reduce_window(x, dtype.type(start), op, window, strides, mode, **more)

    compare(lambda x: (pool(x, lax.max, -np.inf), pool(x, lax.min, np.inf), pool(x, lax.add, 0)), x, scale=100)
    compare(lambda x: pool(x, lax.add, 0, base_dilation=(1, 2, 1), window_dilation=(2, 1, 1)), x, scale=100)
    compare(lambda x: jax.grad(lambda x: (pool(x, lax.max, -np.inf) ** 2).sum())(x), x, scale=100)
    compare(lambda x, t: jax.jvp(lambda x: pool(x, lax.min, np.inf), (x,), (t,)), x, x[::-1], scale=100)


@examples(20)
@given(data=st.data())
def test_pad(data):
    shape, dtype, seed = data.draw(shapes), data.draw(st.sampled_from(FLOATS + INTS + BOOL)), data.draw(seeds)
    config = [data.draw(st.tuples(st.integers(-2, 3), st.integers(-2, 3), st.integers(0, 2))) for _ in shape]
    for axis, (size, (low, high, interior)) in enumerate(zip(shape, config, strict=True)):
        if size + max(size - 1, 0) * interior + low + high < 0:
            config[axis] = (0, 0, interior)
    compare(lambda x: lax.pad(x, jnp.ones((), dtype), config), array(seed, shape, dtype))


@examples(8)
@given(data=st.data())
def test_moves(data):
    shape, seed = data.draw(full_shapes), data.draw(seeds)
    dtype = data.draw(st.sampled_from(FLOATS + INTS + BOOL))
    axis, order = data.draw(st.integers(0, len(shape) - 1)), data.draw(st.permutations(range(len(shape))))
    x = array(seed, shape, dtype)
    compare(
        lambda x: (
            lax.transpose(x, order),
            lax.rev(x, (axis,)),
            lax.concatenate([x, x], axis),
            jnp.stack([x, x], axis),
            lax.reshape(x, (x.size,)),
            lax.slice_in_dim(x, 0, shape[axis], 2, axis),
            jnp.tile(x, 2),
            x[None, ..., None],
            jnp.broadcast_to(x[..., None], (2, *shape, 3)),
            jnp.split(x, [1], axis),
            jnp.repeat(x, 2, axis),
            lax.broadcasted_iota(np.int32, shape, axis),
            jnp.squeeze(x[None]),
            jnp.roll(x, 1, axis),
        ),
        x,
    )


@examples(12)
@given(data=st.data())
def test_sort(data):
    dtype, shape, seed = data.draw(st.sampled_from(FLOATS + INTS)), data.draw(full_shapes), data.draw(seeds)
    axis, keys = data.draw(st.integers(0, len(shape) - 1)), data.draw(st.integers(1, 2))
    x, y = array(seed, shape, dtype, specials="all"), array(seed + 1, shape, np.int32)
    z = np.arange(x.size).reshape(shape)
    compare(lambda x: lax.sort(x, dimension=axis), x)
    compare(lambda x, y, z: lax.sort((y, x, z), dimension=axis, num_keys=keys, is_stable=True), x, y, z)
    compare(lambda x: lax.top_k(x, shape[-1]), y)


def test_sort_puts_nans_last_and_top_k_first():
    x = np.array([2.0, np.nan, -0.0, 0.0, np.inf, -np.inf, np.nan, 1.0], np.float32)
    compare(lambda x: (lax.sort(x), jnp.argsort(x), lax.top_k(x, 4), jnp.argmax(x), jnp.argmin(x)), x)


MODES = [lax.GatherScatterMode.CLIP, lax.GatherScatterMode.FILL_OR_DROP]


@examples(16)
@given(data=st.data())
def test_gather_and_scatter(data):
    """Slices of random sizes at random places, inside and outside, with and without batching axes."""
    dtype, seed = data.draw(st.sampled_from(FLOATS + INTS)), data.draw(seeds)
    rank = data.draw(st.integers(1, 4))
    shape = [data.draw(st.integers(1, 5)) for _ in range(rank)]
    batching = data.draw(st.integers(0, min(1, rank - 1)))
    count = data.draw(st.integers(1, rank - batching))
    starts = data.draw(st.permutations(range(batching, rank)))[:count]
    sizes = [1 if d < batching else data.draw(st.integers(1, shape[d])) for d in range(rank)]
    collapsed = [d for d in range(batching, rank) if sizes[d] == 1 and data.draw(st.booleans())]
    extra = data.draw(st.lists(st.integers(1, 3), max_size=2))
    batch = [*shape[:batching], *extra]
    window = [sizes[d] for d in range(batching, rank) if d not in collapsed]
    offsets = sorted(data.draw(st.permutations(range(len(batch) + len(window))))[: len(window)])
    mode = data.draw(st.sampled_from(MODES))
    indices = np.random.default_rng(seed).integers(-2, 6, (*batch, count))
    x = array(seed, shape, dtype)
    numbers = lax.GatherDimensionNumbers(
        tuple(offsets), tuple(collapsed), tuple(starts), tuple(range(batching)), tuple(range(batching))
    )
    compare(lambda x, i: lax.gather(x, i, numbers, sizes, mode=mode), x, indices)
    back = lax.ScatterDimensionNumbers(
        tuple(offsets), tuple(collapsed), tuple(starts), tuple(range(batching)), tuple(range(batching))
    )
    rest = iter(batch)
    sized = dict(zip(offsets, window, strict=True))
    updates = array(seed + 1, [sized[a] if a in sized else next(rest) for a in range(len(batch) + len(window))], dtype)
    op = data.draw(st.sampled_from([lax.scatter_add, lax.scatter_mul, lax.scatter_min, lax.scatter_max, lax.scatter_sub]))
    wide = updates.size if dtype.itemsize > 2 or dtype.kind in "iu" else 0
    if wide or op in (lax.scatter_min, lax.scatter_max):  # narrow sums are rounded after each step by XLA
        compare(lambda x, i, u: op(x, i, u, back, mode=mode), x, indices, updates, scale=100)
    same_everywhere = np.ones_like(updates)
    compare(lambda x, i, u: lax.scatter(x, i, u, back, mode=mode), x, indices, same_everywhere)


@examples(6)
@given(seed=seeds, width=st.integers(4, 9), dtype=st.sampled_from(WIDE))
def test_many_rows_scattered_at_once(seed, width, dtype):
    x, u = array(seed, (7, width), dtype), array(seed + 1, (90, width), dtype)
    rows = np.random.default_rng(seed).integers(-2, 9, 90)
    compare(lambda x, i, u: (x.at[i].add(u), x.at[i].max(u), x.at[i].mul(u * 0.1)), x, rows, u, scale=100)


@examples(8)
@given(data=st.data())
def test_dynamic_slices(data):
    shape, seed = data.draw(full_shapes), data.draw(seeds)
    sizes = [data.draw(st.integers(1, n)) for n in shape]
    starts = np.array([data.draw(st.integers(-3, 6)) for _ in shape], np.int32)
    x, u = array(seed, shape, "f4"), array(seed + 1, sizes, "f4")
    compare(lambda x, s, u: (lax.dynamic_slice(x, s, sizes), lax.dynamic_update_slice(x, u, s)), x, starts, u)


LINALG = {
    "cholesky": jnp.linalg.cholesky,
    "solve": lambda s: jnp.linalg.solve(s, s[..., :2]),
    "lu": lambda s: lax.linalg.lu(s),
    "qr": lambda s: jnp.linalg.qr(s[..., :3]),
    "complete qr": lambda s: jnp.linalg.qr(s[..., :3], mode="complete"),
    "eigh": lambda s: jnp.linalg.eigvalsh(s),
    "svd": lambda s: jnp.linalg.svd(s[..., :3], compute_uv=False),
    "whole svd": lambda s: (lambda u, d, v: (u[..., :3] * d[..., None, :]) @ v)(*jnp.linalg.svd(s[..., :3])),
    "eig": lambda s: jnp.linalg.eigvals(s).real.sum(-1),
    "inverse": jnp.linalg.inv,
    "determinant": jnp.linalg.slogdet,
}


@pytest.mark.parametrize("name", LINALG)
@pytest.mark.parametrize("batch", [(), (2,)])
def test_linalg(name, batch):
    for dtype in WIDE:
        x = array(len(name), (*batch, 4, 4), dtype, -1, 1)
        compare(LINALG[name], x @ x.swapaxes(-1, -2) + 2 * np.eye(4, dtype=dtype), ulps=2000, scale=1)


@pytest.mark.parametrize("left", [True, False])
@pytest.mark.parametrize("transposed", [True, False])
@pytest.mark.parametrize("lower", [True, False])
def test_triangular_solve(left, transposed, lower):
    a, b = array(1, (3, 4, 4), "c16") + 5 * np.eye(4), array(2, (3, 4, 4), "c16")
    for conjugate in (True, False):
        fn = partial(
            lax.linalg.triangular_solve,
            left_side=left,
            lower=lower,
            transpose_a=transposed,
            conjugate_a=conjugate,
        )
        compare(fn, a, b, ulps=1000, scale=1)
        compare(partial(fn, unit_diagonal=True), a / 9, b, ulps=1000, scale=9)


def test_cholesky_of_an_indefinite_matrix_is_nan():
    compare(jnp.linalg.cholesky, np.stack([np.eye(3), -np.eye(3)]).astype("f4"))


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "fft2", "rfft2", "irfft2"])
def test_fft(name):
    for dtype in ("f4", "f8"):
        compare(getattr(jnp.fft, name), array(3, (3, 4, 6), dtype), ulps=64, scale=10)
