"""The host tier's programs: whole functions, their gradients and batched forms, and what a Program promises."""

from __future__ import annotations

import threading
import timeit
import warnings

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from jax import lax

from funtorch.core import host

jax.config.update("jax_enable_x64", True)

FAST = {"xla_backend_optimization_level": 0, "xla_llvm_disable_expensive_passes": True}


def rand(*shape, seed=0, dtype=np.float32):
    return np.random.default_rng([seed, *shape]).normal(size=shape).astype(dtype)


def prepared(fn, *args):
    return host.prepare(jax.make_jaxpr(fn)(*args))


def check(fn, *args, tolerance=2e-5, falls=()):
    """fn through the host tier and through XLA, and which primitives fell."""
    args = [np.asarray(a) for a in args]
    before = host.falls.copy()
    got = prepared(fn, *args)(*args)
    assert set(host.falls - before) == set(falls)
    want = jax.tree.leaves(jax.jit(fn).lower(*args).compile(compiler_options=FAST)(*args))
    for g, w in zip(got, want, strict=True):
        w = np.asarray(w)
        assert type(g) is np.ndarray
        assert (g.dtype, g.shape) == (w.dtype, w.shape)
        g, w = (a.astype(np.float64) if a.dtype.kind not in "iubc" else a for a in (g, w))
        np.testing.assert_allclose(g, w, rtol=tolerance, atol=tolerance)


def gradients(fn, *args, **more):
    """fn itself, and the gradient of a scalar made from it by all of its floating arguments."""
    where = tuple(i for i, a in enumerate(args) if np.asarray(a).dtype.kind == "f")
    check(fn, *args, **more)
    check(
        jax.grad(lambda *a: sum((leaf.astype(float) ** 2).sum() for leaf in jax.tree.leaves(fn(*a))), where),
        *args,
        **more,
    )


def layer_norm(x, weight, bias):
    centred = x - x.mean(-1, keepdims=True)
    return centred * lax.rsqrt((centred**2).mean(-1, keepdims=True) + 1e-5) * weight + bias


def attention(q, k, v):
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) / np.sqrt(q.shape[-1]).astype(q.dtype)
    causal = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    return jnp.einsum("bhqk,bkhd->bqhd", jax.nn.softmax(jnp.where(causal, scores, -jnp.inf)), v)


def conv_pool(x, w):
    y = lax.conv_general_dilated(x, w, (1, 1), "SAME", feature_group_count=x.shape[1] // w.shape[1])
    return lax.reduce_window(jax.nn.relu(y), -jnp.inf, lax.max, (1, 1, 2, 2), (1, 1, 2, 2), "SAME")


def lstm(w, xs):
    def step(state, x):
        h, c = state
        i, f, o, n = jnp.split(jnp.concatenate([x, h], -1) @ w, 4, -1)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(n)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    start = jnp.zeros((xs.shape[1], w.shape[1] // 4), w.dtype)
    return lax.scan(step, (start, start), xs)


def scan_with_branches(x):
    def step(carry, row):
        return lax.cond(row[0] > 0, jnp.sin, lambda c: c * row, carry), carry

    return lax.scan(step, x[0], x, reverse=True)


def cross_entropy(x, target):
    return -jnp.take_along_axis(jax.nn.log_softmax(x), target[:, None], 1).mean()


def mlp(w1, w2, x):
    return jax.nn.gelu(jax.nn.relu(x @ w1) @ w2)


X = rand(4, 6)
SPD = X[:, :4] @ X[:, :4].T + 5 * np.eye(4, dtype=np.float32)
PROGRAMS = {
    "softmax": (jax.nn.softmax, X),
    "logsumexp": (lambda x: jax.nn.logsumexp(x, -1), X),
    "layer norm": (layer_norm, X, X[0], X[1]),
    "attention": (attention, rand(2, 5, 3, 4), rand(2, 5, 3, 4, seed=1), rand(2, 5, 3, 4, seed=2)),
    "convolution and pooling": (conv_pool, rand(2, 3, 7, 6), rand(4, 3, 3, 3)),
    "grouped convolution": (conv_pool, rand(2, 4, 7, 6), rand(4, 2, 3, 3)),
    "depthwise convolution": (conv_pool, rand(2, 3, 7, 6), rand(6, 1, 3, 3)),
    "lstm": (lambda w, xs: lstm(w, xs)[1], rand(7, 16), rand(6, 2, 3)),
    "embedding": (lambda w, i: w[i], rand(9, 5), np.array([[1, 3, 3], [0, 8, -1]])),
    "cross entropy": (cross_entropy, X, np.array([1, 5, 0, 3])),
    "mlp": (mlp, rand(6, 7), rand(7, 3), X),
    "sort": (lambda x: jnp.sort(x, 0), X),
    "median": (lambda x: jnp.median(x, 1), X),
    "cholesky solve": (lambda a, b: jax.scipy.linalg.cho_solve(jax.scipy.linalg.cho_factor(a), b), SPD, X),
    "inverse": (jnp.linalg.inv, SPD),
    "qr": (lambda a: jnp.linalg.qr(a), SPD),
    "eigh": (lambda a: jnp.linalg.eigh(a)[0], SPD),
    "cumulative": (lambda x: (jnp.cumsum(x, 1), jnp.cumprod(x, 0), lax.cumlogsumexp(x, 1)), X),
    "interpolation": (lambda x: jax.image.resize(x, (7, 9), "bilinear"), X),
    "checkpoint": (jax.checkpoint(lambda x: jnp.sin(jnp.sin(x))), X),
    "padding": (lambda x: lax.pad(x, x[0, 0], ((-1, 2, 1), (2, -3, 2))), X),
    "scan with branches": (scan_with_branches, X),
    "spectrum": (lambda x: jnp.abs(jnp.fft.rfft(x)), X),
    "maximum of ties": (lambda x: jnp.round(x).max(1), X),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_and_their_gradients(name):
    fn, *args = PROGRAMS[name]
    gradients(fn, *args, tolerance=2e-4)


@pytest.mark.parametrize("name", ["softmax", "attention", "convolution and pooling", "lstm", "mlp", "embedding", "inverse"])
def test_per_sample_gradients(name):
    fn, *args = PROGRAMS[name]
    last = args[-1]
    stacked = np.stack([last, last[::-1]])
    axes = (*[None] * (len(args) - 1), 0)

    def loss(*a):
        return (fn(*a) ** 2).sum()

    check(jax.vmap(jax.grad(loss), axes), *args[:-1], stacked, tolerance=2e-4)


def test_second_derivatives():
    check(jax.hessian(lambda x: jnp.tanh(x @ x.T).sum()), X[:2, :3])
    check(jax.jacfwd(jax.grad(lambda x: jax.nn.softmax(x)[0])), X[0])


def test_loops_and_branches():
    check(lambda x: lax.while_loop(lambda x: (x > 0.1).any(), lambda x: x * 0.7, x), X)
    check(jax.vmap(lambda x: lax.while_loop(lambda x: x[0] > 0.1, lambda x: x * 0.7, x)), X)
    check(lambda x, n: lax.fori_loop(0, n, lambda i, x: x * i + 1, x), X, np.int64(4))
    for index in (-3, 0, 2, 9):
        check(lambda i, x: lax.switch(i, [jnp.sin, lambda x: x * 2, jnp.cos], x), np.int32(index), X)
    check(lambda x: lax.scan(lambda c, _: (c * 2, None), x, None, length=3)[0], X)
    check(lambda x: lax.associative_scan(jnp.add, x), X[0])
    check(lambda x: lax.map(jnp.sum, x), X)


def test_whole_functions_of_jax():
    i = np.array([0, 1, 2, 3, 3, 3, 5, -1, 0])
    check(lambda x, i: jax.ops.segment_sum(x, i, 4), rand(9, 3), i)
    check(lambda i: (jnp.bincount(i, length=6), jnp.unique(i, size=5), jnp.nonzero(i, size=4)), i)
    check(lambda x, y: jnp.searchsorted(x, y), np.sort(X[0]), X[1])
    check(jax.scipy.linalg.expm, X[:, :4], tolerance=1e-4)
    check(lambda x: jnp.histogram(x, 5), X)


def test_narrow_floats_are_summed_in_float32():
    x = np.full((1, 4000), 0.1, ml_dtypes.bfloat16)
    (total,) = prepared(lambda x: x.sum(1), x)(x)
    (product,) = prepared(lambda x: x @ x.T, x)(x)
    assert abs(float(total[0]) - 400) <= 2
    assert abs(float(product[0, 0]) - 40) <= 0.25
    check(jax.nn.softmax, X.astype(np.float16), tolerance=2e-3)
    check(jax.grad(lambda x: (x @ x.T).sum()), X.astype(ml_dtypes.bfloat16), tolerance=2e-2)


def test_effects_run_each_time():
    seen = []

    def fn(x):
        jax.debug.callback(lambda v: seen.append(float(v)), x[0, 0])
        return x

    program = prepared(fn, X)
    program(X)
    program(X + 1)
    jax.effects_barrier()
    assert len(seen) == 2


def test_random_keys_give_jax_numbers():
    def draw(seed):
        key = jax.random.key(seed)
        first, second = jax.random.split(key)
        return jax.random.bits(first, (3,)), jax.random.key_data(second)

    check(draw, np.int64(7))


def test_a_primitive_without_a_rule_falls_and_is_counted():
    def fn(x):
        return lax.igamma_grad_a(x, x) + 1

    before = host.falls["igamma_grad_a"]
    program = prepared(fn, np.ones(3))
    assert host.falls["igamma_grad_a"] == before
    program(np.ones(3))
    program(np.ones(3))
    assert host.falls["igamma_grad_a"] == before + 2


def test_a_fall_works_while_jax_traces_something_else():
    program = prepared(lambda x: lax.igamma_grad_a(x, x), np.ones(3))
    seen = []

    def traced(y):
        seen.append(program(np.full(3, 2.0))[0])
        return y

    jax.jit(traced)(1.0)
    assert type(seen[0]) is np.ndarray


def test_results_are_arrays_also_of_rank_0():
    for fn in (
        jnp.sum,
        lambda x: x[0, 0],
        lambda x: jnp.float32(3),
        lambda x: x.sum() * 2,
        lambda x: x.size + 0 * x[0, 0],
    ):
        (z,) = prepared(fn, X)(X)
        assert type(z) is np.ndarray
        assert z.shape == ()
    x = np.array(2.0)
    (z,) = prepared(lambda x: x, x)(x)
    assert z is x


def test_results_have_no_strides_of_zero():
    program = prepared(
        lambda x: (jnp.broadcast_to(x, (300, 6)), jnp.zeros((300, 300)), jnp.broadcast_to(x, (300, 6)).T),
        X[0],
    )
    for z in program(X[0]):
        assert 0 not in z.strides


def test_views_are_not_copied():
    (z,) = prepared(lambda x: x.T[1:, None], X)(X)
    assert np.shares_memory(z, X)


def test_arguments_are_never_written_to():
    x = X.copy()
    x.setflags(write=False)
    prepared(lambda x: (x.at[0].set(1.0), x.at[0, 0].add(2.0), jnp.sort(x), x.T.at[1].mul(x[0, 0])), x)(x)


def test_constants_are_folded_and_dead_steps_dropped():
    def fn(x):
        unused = jnp.sort(x)
        return x + jnp.cumsum(jnp.arange(6.0, dtype=np.float32)) + unused.shape[0]

    assert prepared(fn, X).steps == ("add", "add")
    check(fn, X)


def test_what_no_result_needs_is_not_looked_at_within_loops():
    def fn(x, unread, dead, chosen):
        def body(state, column):
            total, count = state
            return (total * column[0], count + dead), column[1] + total

        (total, _), _ = lax.scan(body, (x.sum(), 0 * dead), (x, unread))
        return lax.cond(chosen, lambda a, b: a + 1, lambda a, b: a * 2, total, unread)

    x, chosen = rand(4), np.array(True)
    program = prepared(fn, x, rand(4, 2), np.float32(1), chosen)
    (found,) = program(x, None, None, chosen)
    assert found == pytest.approx(x.sum() * x.prod() + 1, rel=1e-5)


def test_broadcasts_are_carried_out_only_where_needed():
    steps = prepared(lambda x: x * jnp.ones_like(x) * jnp.broadcast_to(jnp.exp(x[0]), x.shape), X).steps
    assert steps.count("mul") == 2
    assert not [step for step in steps if step.startswith("broadcast")]
    assert "broadcast as copy" in prepared(lambda x: jnp.broadcast_to(x[0], x.shape), X).steps


def test_constants_cannot_be_spoiled():
    program = prepared(lambda x: (jnp.arange(3) + 1, jnp.float32(2)), X)
    for z in program(X):
        with pytest.raises(ValueError, match="read-only"):
            z[...] = 0


def test_programs_without_arguments():
    big, small = prepared(lambda: (jnp.zeros((300, 300)), jnp.arange(3)))()
    assert big.shape == (300, 300)
    assert small.tolist() == [0, 1, 2]
    assert prepared(lambda: ())() == ()


def test_calls_are_inlined():
    fn = jax.jit(jax.checkpoint(lambda x: jax.nn.relu(jnp.sin(x))))
    assert prepared(fn, X).steps == ("sin", "max")


def test_a_structure_met_again_needs_no_new_code():
    short, long = prepared(layer_norm, X, X[0], X[1]), prepared(layer_norm, X[:2, :3], X[0, :3], X[1, :3])
    assert short.run.__code__ is long.run.__code__


def test_no_warning_leaves_a_program_and_none_is_lost_outside():
    x = np.array([0.0, -1.0, np.inf, 3e38], np.float32)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        prepared(lambda x: (1 / x, jnp.log(x), x * x, x - x, x.astype(jnp.int32)), x)(x)
        with pytest.raises(RuntimeWarning):
            np.log(x)


def test_programs_run_in_many_threads_and_within_each_other():
    program = prepared(lambda x: lax.fori_loop(0, 200, lambda i, x: x / 0.0 * 0, x), X)
    results = []
    threads = [threading.Thread(target=lambda: results.append(program(X))) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4


def test_a_new_rule_is_one_function():
    with pytest.raises(ValueError, match="two host rules for add"):
        host.rule("add")(lambda eqn: np.add)


def test_the_cost_of_a_call_is_that_of_numpy():
    x = rand(32, 32)
    run = prepared(jnp.add, x, x).run

    def cost(fn):
        return min(timeit.repeat(lambda: fn(x, x), number=2000, repeat=20)) / 2000

    assert cost(run) < cost(np.add) + 1.5e-6
