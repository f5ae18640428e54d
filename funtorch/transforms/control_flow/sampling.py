"""Random numbers inside loops and branches: drawn from JAX keys, which the generator gives when the construct is called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ...core.batching import lift_draw
from ...core.watcher import draw
from ...dtypes import by_name
from ...errors import MissingError

WORDS = 2  # of a key
Array = Any


def key_from(source: Any) -> Any:
    """A key drawn from a generator, for each lane where that is meant: a Tensor (2,) of int64."""

    def drawn(full: tuple) -> Any:
        return draw(source, lambda: source.twister.randint(0, 2**32, full, np.int64), ("randint", full, "int64", 0, 2**32))

    return lift_draw(drawn, (WORDS,))


def unpacked(words: Array) -> Array:
    """The JAX key of two words."""
    return jax.random.wrap_key_data(words.astype(jnp.uint32))


def at_step(words: Array, step: Array) -> Array:
    """The words of a key for one step of a loop."""
    return jax.random.key_data(jax.random.fold_in(unpacked(words), step)).astype(jnp.int64)


def _uniform(key: Array, shape: tuple, dtype: Any, low: float, high: float) -> Array:
    if jnp.issubdtype(dtype, jnp.complexfloating):
        real = np.zeros(0, dtype).real.dtype
        parts = jax.random.uniform(key, (2, *shape), real, low, high)
        return jax.lax.complex(parts[0], parts[1])
    return jax.random.uniform(key, shape, dtype, low, high)


def _geometric(key: Array, shape: tuple, dtype: Any, p: float) -> Array:
    u = 1 - jax.random.uniform(key, shape, jnp.float64)
    return jnp.ceil(jnp.log(u) / np.log1p(-p)).clip(1).astype(dtype)


def _random(key: Array, shape: tuple, dtype: Any, bounds: tuple) -> Array:
    low, high = bounds
    if jnp.issubdtype(dtype, jnp.floating):
        greatest = 2 ** (jnp.finfo(dtype).nmant + 1)
    else:
        greatest = 1 if np.dtype(dtype).kind == "b" else int(jnp.iinfo(dtype).max)
    low, high = (0 if low is None else low), (greatest if high is None else high - 1)
    bits = jax.random.bits(key, shape, jnp.uint64)
    return (bits % jnp.uint64(high - low + 1)).astype(jnp.int64).__add__(low).astype(dtype)


def _permutation(key: Array, shape: tuple, dtype: Any) -> Array:
    rows = jnp.broadcast_to(jnp.arange(shape[-1], dtype=dtype), shape)
    return jax.random.permutation(key, rows, axis=-1, independent=True)


# By the kind of a draw: (key, shape, dtype, its parameters) -> array.
KINDS: dict[str, Callable] = {
    "uniform": lambda key, shape, dtype, low=0.0, high=1.0: _uniform(key, shape, dtype, low, high),
    "normal": lambda key, shape, dtype, mean=0.0, std=1.0: (
        jax.random.normal(key, shape, dtype) * np.asarray(std, dtype) + np.asarray(mean, dtype)
    ),
    "bernoulli": lambda key, shape, dtype, p: jax.random.bernoulli(key, p, shape).astype(dtype),
    "exponential": lambda key, shape, dtype, rate=1.0: jax.random.exponential(key, shape, dtype) / np.asarray(rate, dtype),
    "log_normal": lambda key, shape, dtype, mean=1.0, std=2.0: jnp.exp(
        jax.random.normal(key, shape, dtype) * np.asarray(std, dtype) + np.asarray(mean, dtype)
    ),
    "cauchy": lambda key, shape, dtype, median=0.0, sigma=1.0: (
        jax.random.cauchy(key, shape, dtype) * np.asarray(sigma, dtype) + np.asarray(median, dtype)
    ),
    "geometric": _geometric,
    "randint": lambda key, shape, dtype, low, high: jax.random.randint(key, shape, low, high, jnp.int64).astype(dtype),
    "random": _random,
    "randperm": _permutation,
}
# These have their parameters in the signature itself, the others as a tuple.
FLAT = ("randint", "random", "randperm")


def sampled(key: Array, signature: tuple) -> Array:
    """A draw of a given signature (see `core.watcher.draw`) from a key. Raises NotImplementedError for another kind."""
    kind, shape, name = signature[:3]
    if kind not in KINDS:
        raise MissingError(f"a draw of kind {kind!r} inside a loop or branch: draw the numbers outside, and pass them")
    parameters = signature[3:] if kind in FLAT else signature[3]
    return KINDS[kind](key, tuple(shape), by_name(name).numpy, *parameters)
