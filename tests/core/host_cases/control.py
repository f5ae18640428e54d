"""Loops, branches and calls, with constants, several carried values and empty loops."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import strategies as st
from jax import lax
from jax.ad_checkpoint import checkpoint_name
from jax.experimental.layout import Layout, with_layout_constraint

from .drawing import FLOATS, WIDE, Case, seeds, tame


@st.composite
def calls(draw, make) -> Case:
    """``make(x)`` on a small matrix."""
    dtype, seed = draw(st.sampled_from(FLOATS)), draw(seeds)
    return Case(make, (tame(seed, (3, 4), dtype, 0.5, 2),), 16, 8.0)


@st.composite
def whiles(draw) -> Case:
    """Also with a test for each lane, as vmap makes it."""
    limit, lanes = draw(st.floats(-1, 30)), draw(st.booleans())
    x, w = tame(draw(seeds), (5, 3), draw(st.sampled_from(WIDE)), 0.5, 2), np.arange(3)

    def loop(x, w):
        return lax.while_loop(lambda s: s[0].sum() < limit, lambda s: (s[0] * 1.5 + w[0], s[1] + 1, x), (x, 0, x))

    return Case(jax.vmap(loop, (0, None)) if lanes else loop, (x, w), 16)


@st.composite
def scans(draw) -> Case:
    length, reverse, unroll = draw(st.integers(0, 5)), draw(st.booleans()), draw(st.integers(1, 2))
    x, rows = tame(draw(seeds), (3,), draw(st.sampled_from(WIDE))), np.arange(3.0 * length).reshape(length, 3)
    kind = draw(st.integers(0, 2))

    def step(carry, row):
        after = jnp.sin(carry) + row.astype(carry.dtype) + x[0]
        return after, [None, row * 2, (carry, row[0])][kind]

    return Case(lambda x, rows: lax.scan(step, x, rows, reverse=reverse, unroll=unroll), (x, rows), 16, 8.0)


@st.composite
def conds(draw) -> Case:
    """Two branches or more, an index out of range, two results, branches over lanes."""
    x, index = tame(draw(seeds), (4, 3), draw(st.sampled_from(WIDE))), draw(st.integers(-2, 4))
    branches = [jnp.sin, lambda x: x * 2, lambda x: x[::-1]][: draw(st.integers(1, 3))]
    how = draw(st.integers(0, 2))
    if how == 0 and len(branches) > 1:
        return Case(lambda i, x: lax.switch(i, branches, x), (np.int32(index), x))
    if how == 1:
        return Case(
            lambda p, x: lax.cond(p, lambda x: (x, x.sum()), lambda x: (-x, x[0, 0]), x), (np.bool_(index > 0), x), 4, 8.0
        )
    return Case(lambda i, x: jax.vmap(lambda x: lax.cond(i > 1, jnp.sin, jnp.cos, x))(x), (np.int64(index), x))


@jax.custom_jvp
def with_jvp(x):
    return jnp.tanh(x)


with_jvp.defjvp(lambda primals, tangents: (with_jvp(*primals), tangents[0] * 2))


@jax.custom_vjp
def with_vjp(x):
    return jnp.tanh(x)


with_vjp.defvjp(lambda x: (with_vjp(x), x), lambda x, g: (g * x,))


@jax.custom_batching.custom_vmap
def with_vmap(x):
    return jnp.tanh(x)


@with_vmap.def_vmap
def with_vmap_batched(axis_size, in_batched, x):
    return jnp.tanh(x), in_batched[0]


def solve(x):
    """Linear, by a solver that is given; positive definite."""
    matrix = x @ x.T + 4 * jnp.eye(3, dtype=x.dtype)
    return lax.custom_linear_solve(
        lambda v: matrix @ v, x[:, 0], lambda f, b: jnp.linalg.inv(matrix.astype("f4")).astype(x.dtype) @ b, symmetric=True
    )


def constrained(x):
    return with_layout_constraint(x, Layout((0, 1)))


def sharded(x):
    return lax.with_sharding_constraint(jnp.sin(x), jax.sharding.SingleDeviceSharding(jax.devices("cpu")[0]))


def composed(x):
    return lax.composite(lambda x: jnp.tanh(x), "own.tanh")(x)


CASES = {
    "while": whiles(),
    "scan": scans(),
    "cond": conds(),
    "jit": calls(lambda x: jax.jit(lambda x: (jnp.sin(x), x))(x)),
    "custom_jvp_call": calls(lambda x: (with_jvp(x), jax.jvp(lambda x: with_jvp(x).sum(), (x,), (x,)))),
    "custom_vjp_call": calls(lambda x: (with_vjp(x), jax.grad(lambda x: with_vjp(x).sum())(x))),
    "custom_vmap_call": calls(lambda x: with_vmap(x)),
    "remat2": calls(lambda x: jax.grad(jax.checkpoint(lambda x: jnp.sin(jnp.sin(x)).sum()))(x)),
    "composite": calls(composed),
    "custom_linear_solve": calls(solve),
    "stop_gradient": calls(lambda x: jnp.sin(lax.stop_gradient(x))),
    "copy": calls(lambda x: jnp.sin(jnp.array(x, copy=True))),
    "name": calls(lambda x: checkpoint_name(jnp.sin(x), "sine")),
    "device_put": calls(lambda x: jax.device_put(jnp.sin(x))),
    "optimization_barrier": calls(lambda x: lax.optimization_barrier((x, jnp.sin(x)))),
    "layout_constraint": calls(constrained),
    "sharding_constraint": calls(sharded),
    "platform_index": calls(lambda x: lax.platform_dependent(x, cpu=jnp.sin, default=jnp.cos)),
}
