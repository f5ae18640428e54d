"""Keys and the bits that they give, alone and in stacks: exactly JAX's."""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from hypothesis import strategies as st
from jax import random
from jax.extend.random import threefry2x32_p

from .drawing import Case, array, seeds, shapes


@st.composite
def draws(draw, make: Callable, falls: bool = False) -> Case:
    """``make(key, shape)`` for one key or a stack of them."""
    shape, stack = draw(shapes), draw(st.sampled_from([(), (3,), (2, 2)]))
    words = np.random.default_rng(draw(seeds)).integers(0, 2**32, (*stack, 4 if falls else 2)).astype(np.uint32)
    impl = "rbg" if falls else "threefry2x32"

    def fn(words):
        one = lambda words: make(random.wrap_key_data(words, impl=impl), shape)  # noqa: E731
        for _ in stack:
            one = jax.vmap(one)
        return one(words)

    return Case(fn, (words,), falls=falls)


@st.composite
def seeded(draw) -> Case:
    seed = array(draw(seeds), draw(shapes), draw(st.sampled_from(["i4", "i8", "u4", "i1"])))
    one = lambda seed: random.key_data(random.key(seed))  # noqa: E731
    for _ in seed.shape:
        one = jax.vmap(one)
    return Case(one, (seed,))


@st.composite
def ciphers(draw) -> Case:
    words = [array(draw(seeds), (7,), np.uint32) for _ in range(4)]
    return Case(lambda *words: threefry2x32_p.bind(*words), tuple(words))


def bits(key, shape):
    return [random.bits(key, shape, dtype) for dtype in (jnp.uint8, jnp.uint16, jnp.uint32, jnp.uint64)]


def moved(key, shape):
    """Keys moved about as other arrays are."""
    keys = random.split(key, (3, 2))
    more = jnp.concatenate([keys[1:].T.reshape(4)[::-1], keys[0]])
    return random.key_data(random.clone(more)), random.bits(more[2], shape)


def folded(key, shape):
    return random.key_data(random.fold_in(key, 2**31 + 5)), random.key_data(random.fold_in(key, np.int32(-3)))


CASES = {
    "random_seed": seeded(),
    "random_split": draws(lambda key, shape: random.key_data(random.split(key, shape))),
    "random_fold_in": draws(folded),
    "random_bits": draws(bits) | draws(bits, falls=True),
    "random_clone": draws(moved) | draws(lambda key, shape: random.key_data(random.clone(key))),
    "random_wrap": draws(lambda key, shape: random.uniform(key, shape)),
    "random_unwrap": draws(lambda key, shape: random.key_data(key)),
    "threefry2x32": ciphers(),
}
