"""Windows that slide over the last dimensions: their sizes, and what they see at each offset.

Convolutions, pooling and unfolding read windows as strided slices, one for each offset within a window: XLA fuses
them, and their derivatives are slices and pads again.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..errors import ArgumentTypeError
from .declare import Array

Sizes = tuple[int, ...]
Pads = tuple[tuple[int, int], ...]


def reach(size: int, dilation: int) -> int:
    """How many elements a window of ``size`` spans."""
    return dilation * (size - 1) + 1


def places(length: int, size: int, stride: int, pads: tuple[int, int], dilation: int = 1) -> int:
    """How many windows fit along a dimension of ``length``, rounded down."""
    return (length + sum(pads) - reach(size, dilation)) // stride + 1


def padded(x: Array, pads: Pads, value: Any = 0) -> Array:
    """``x`` with ``value`` around its last dimensions; negative pads cut."""
    if not any(low or high for low, high in pads):
        return x
    config = [(0, 0, 0)] * (x.ndim - len(pads)) + [(low, high, 0) for low, high in pads]
    return lax.pad(x, jnp.asarray(value, x.dtype), config)


def shifted(x: Array, sizes: Sizes, strides: Sizes, dilation: Sizes, counts: Sizes) -> Iterator[Array]:
    """What all windows see at each offset, in row-major order: arrays (*, counts)."""
    rest = x.shape[: x.ndim - len(sizes)]
    lead = (0,) * len(rest)
    steps = (*(1 for _ in rest), *strides)
    for offset in product(*map(range, sizes)):
        start = [o * d for o, d in zip(offset, dilation, strict=True)]
        stop = [a + (n - 1) * s + 1 if n else a for a, n, s in zip(start, counts, strides, strict=True)]
        yield lax.slice(x, (*lead, *start), (*rest, *stop), steps)


def integers(where: str, value: Any) -> Sizes:
    """One integer or several as a tuple. Raises TypeError for anything else, with the words ``where`` the value was given."""
    values = (value,) if isinstance(value, (int, np.integer)) else value
    if not isinstance(values, Sequence) or isinstance(values, str):
        raise ArgumentTypeError(f"{where} must be tuple of ints, not {type(value).__name__}")
    for at, each in enumerate(values):
        if not isinstance(each, (int, np.integer)):
            raise ArgumentTypeError(f"{where} must be tuple of ints, but found element of type {type(each).__name__} at pos {at}")
    return tuple(int(each) for each in values)


def spread(value: int | Sequence[int], n: int) -> Sizes:
    """A number for each of ``n`` dimensions: one number counts for all."""
    if isinstance(value, int):
        return (value,) * n
    return tuple(value) * n if len(value) == 1 else tuple(value)


def by(sizes: Sequence[int]) -> str:
    """Sizes as messages show them: ``2 x 3``."""
    return " x ".join(map(str, sizes))
