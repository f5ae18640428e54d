"""Images of bytes made larger or smaller, in whole numbers as PyTorch does on x86: each pass rounds, and stays within 0 and 255."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax

from .declare import Array
from .resampling_taps import Taps

MOST_BITS = 22


def _merged(taps: Taps) -> list[tuple[np.ndarray, np.ndarray]]:
    """The taps with one weight for each place: at the ends of an image several of them look at the same element."""
    merged: list[tuple[np.ndarray, np.ndarray]] = []
    for places, weights in taps:
        rest = np.array(weights, np.float64)
        for earlier, sums in merged:
            same = earlier == places
            sums += np.where(same, rest, 0)
            rest = np.where(same, 0, rest)
        merged.append((places, rest))
    return merged


def _precision(largest: float) -> int:
    """With how many bits after the point the largest weight still fits into 16 bits."""
    bits = 0
    while bits < MOST_BITS and int(0.5 + largest * 2 ** (bits + 1)) < 2**15:
        bits += 1
    return bits


def resampled(x: Array, axis: int, taps: Taps) -> Array:
    """Bytes resampled along an axis, as bytes."""
    merged = _merged(taps)
    bits = _precision(max(float(weights.max()) for _, weights in merged))
    shape = [-1 if d == axis else 1 for d in range(x.ndim)]
    total = jnp.asarray(1 << (bits - 1), jnp.int32)
    for places, weights in merged:
        whole = np.trunc(weights * 2**bits + np.copysign(0.5, weights)).astype(np.int32)
        if whole.any():
            total = total + jnp.take(x, places, axis=axis).astype(jnp.int32) * whole.reshape(shape)
    return jnp.clip(lax.shift_right_arithmetic(total, jnp.asarray(bits, jnp.int32)), 0, 255).astype(jnp.uint8)
