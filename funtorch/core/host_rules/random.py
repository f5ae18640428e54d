"""Random bits from keys: the Threefry-2x32 generator (Salmon et al. 2011, "Parallel random numbers: as easy as 1, 2, 3").

A key is two words of 32 bits. Element number n of what a key gives is the cipher of n's own two words. Other generators
(with keys of four words), and JAX's older way of counting, run through XLA.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import jax
import numpy as np

from .table import Equation, rule

WORD = np.dtype(np.uint32)
ROTATIONS = ((13, 15, 26, 6), (17, 29, 16, 24))
PARITY = np.uint32(0x1BD11BDA)


def cipher(k0, k1, x0, x1) -> tuple[np.ndarray, np.ndarray]:
    """Threefry with 20 rounds: the words (x0, x1) under the key (k0, k1), arrays that broadcast."""
    keys = (k0, k1, np.bitwise_xor(np.bitwise_xor(k0, k1), PARITY))
    x0, x1 = np.add(x0, k0), np.add(x1, k1)
    for group in range(5):
        for bits in ROTATIONS[group % 2]:
            x0 = np.add(x0, x1)
            x1 = np.bitwise_or(np.left_shift(x1, np.uint32(bits)), np.right_shift(x1, np.uint32(32 - bits)))
            x1 = np.bitwise_xor(x0, x1)
        x0 = np.add(x0, keys[(group + 1) % 3])
        x1 = np.add(np.add(x1, keys[(group + 2) % 3]), np.uint32(group + 1))
    return x0, x1


def counters(shape: tuple[int, ...]) -> tuple[np.ndarray, np.ndarray]:
    """The two words of 0, 1, 2, ..."""
    numbers = np.arange(prod(shape), dtype=np.uint64).reshape(shape)
    return np.right_shift(numbers, np.uint64(32)).astype(WORD), numbers.astype(WORD)


def _serves(words: tuple[int, ...]) -> bool:
    return words[-1] == 2 and bool(jax.config.jax_threefry_partitionable)  # type: ignore[attr-defined]  # made when JAX starts


def _of_key(keys: np.ndarray, high: np.ndarray, low: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The cipher of each of the counters under each of the keys: two arrays (*keys, *counters)."""
    words = keys.reshape(*keys.shape[:-1], *(1,) * high.ndim, 2)
    return cipher(words[..., 0], words[..., 1], high, low)


@rule("threefry2x32")
def threefry2x32(eqn: Equation) -> Callable:
    return cipher


@rule("random_seed", keys=True)
def random_seed(eqn: Equation) -> Callable | None:
    wide = np.dtype(eqn.inputs[0].dtype).itemsize == 8
    if eqn.shape[-1] != 2:
        return None

    def run(seeds):
        low = seeds.astype(WORD)
        high = np.right_shift(seeds.astype(np.uint64), np.uint64(32)).astype(WORD) if wide else np.zeros_like(low)
        return np.stack([high, low], -1)

    return run


@rule("random_split", keys=True)
def random_split(eqn: Equation) -> Callable | None:
    if not _serves(eqn.shape):
        return None
    high, low = counters(tuple(map(int, eqn.params["shape"])))
    return lambda keys: np.stack(_of_key(keys, high, low), -1)


@rule("random_fold_in", keys=True)
def random_fold_in(eqn: Equation) -> Callable | None:
    if not _serves(eqn.shape):
        return None
    return lambda keys, data: np.stack(cipher(keys[..., 0], keys[..., 1], np.zeros((), WORD), data.astype(WORD)), -1)


@rule("random_bits", keys=True)
def random_bits(eqn: Equation) -> Callable | None:
    if not _serves(eqn.inputs[0].shape):
        return None
    (high, low), dtype = counters(tuple(map(int, eqn.params["shape"]))), np.dtype(eqn.dtype)

    def run(keys):
        first, second = _of_key(keys, high, low)
        if dtype.itemsize == 8:
            return np.bitwise_or(np.left_shift(first.astype(np.uint64), np.uint64(32)), second.astype(np.uint64))
        return np.bitwise_xor(first, second).astype(dtype)

    return run
