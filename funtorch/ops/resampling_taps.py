"""Where along one dimension resampling looks, and with which weights: PyTorch's arithmetic, in its precision.

*Taps* are pairs (places, weights) with an entry for each output element: output i is the sum of weights[i] x[places[i]].
"""

from __future__ import annotations

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .declare import Array

Taps = list[tuple[np.ndarray, np.ndarray]]


def _step(size: int, count: int, align: bool, scale: float | None, kind: type) -> np.floating:
    """How far apart in the input neighbouring output elements lie."""
    if align:
        return kind(size - 1) / kind(count - 1) if count > 1 else kind(0)
    return kind(1.0 / scale) if scale else kind(size) / kind(count)


def _sources(size: int, count: int, align: bool, scale: float | None, kind: type) -> np.ndarray:
    step = _step(size, count, align, scale, kind)
    at: np.ndarray = np.arange(count, dtype=kind)
    return step * at if align else step * (at + kind(0.5)) - kind(0.5)


def nearest(size: int, count: int, align: bool, scale: float | None, kind: type, half: float = 0.0) -> Taps:
    """The element at or before the place; with ``half`` = 0.5 the one whose middle is nearest."""
    step = _step(size, count, False, scale, np.float32)
    at = np.floor((np.arange(count, dtype=np.float32) + np.float32(half)) * step).astype(np.int64)
    if size == count:
        at = np.arange(count)
    return [(np.minimum(at, size - 1), np.ones(count))]


def nearest_exact(size: int, count: int, align: bool, scale: float | None, kind: type) -> Taps:
    """The element whose middle is nearest."""
    return nearest(size, count, align, scale, kind, 0.5)


def linear(size: int, count: int, align: bool, scale: float | None, kind: type) -> Taps:
    """The two elements around the place."""
    at = np.maximum(_sources(size, count, align, scale, kind), 0)
    if size == count:
        at = np.arange(count, dtype=kind)
    low = np.minimum(at.astype(np.int64), size - 1)
    share = np.clip(at - low, 0, 1)
    return [(low, 1 - share), (np.minimum(low + 1, size - 1), share)]


def cubic_weights(t: Array, a: float = -0.75) -> list[Array]:
    """Weights of the four elements around a place at distance ``t`` from the second of them (Keys 1981)."""

    def near(x: Array) -> Array:
        return ((a + 2) * x - (a + 3)) * x * x + 1

    def far(x: Array) -> Array:
        return ((a * x - 5 * a) * x + 8 * a) * x - 4 * a

    return [far(t + 1), near(t), near(1 - t), far(2 - t)]


def cubic(size: int, count: int, align: bool, scale: float | None, kind: type) -> Taps:
    """The four elements around the place."""
    at = _sources(size, count, align, scale, kind)
    low = np.floor(at)
    places = [np.clip(low.astype(np.int64) + o, 0, size - 1) for o in (-1, 0, 1, 2)]
    return list(zip(places, cubic_weights(at - low), strict=True))


def _triangle(x: np.ndarray) -> np.ndarray:
    return np.maximum(1 - np.abs(x), 0)


def _bell(x: np.ndarray) -> np.ndarray:
    x = np.abs(x)
    far, near, _, _ = cubic_weights(x - 1, -0.5)[0], cubic_weights(x, -0.5)[1], None, None
    return np.where(x < 1, near, np.where(x < 2, far, 0))


def _lanczos(x: np.ndarray) -> np.ndarray:
    return np.where(np.abs(x) < 3, np.sinc(x) * np.sinc(x / 3), 0)


FILTERS: dict[str, tuple[Callable, int]] = {"bilinear": (_triangle, 1), "bicubic": (_bell, 2), "lanczos": (_lanczos, 3)}


def smoothed(mode: str, size: int, count: int, align: bool, scale: float | None, kind: type) -> Taps:
    """All elements within the filter's reach, which grows where the output is coarser than the input (antialias)."""
    weigh, half = FILTERS[mode]
    step = _step(size, count, align, scale, kind)
    wide = max(step, kind(1))
    support = kind(half) * wide
    center = step * (np.arange(count, dtype=kind) + kind(0.5))
    start = np.maximum((center - support + kind(0.5)).astype(np.int64), 0)
    end = np.minimum((center + support + kind(0.5)).astype(np.int64), size)
    offsets = np.arange(int((end - start).max()))
    places = start[:, None] + offsets
    weights = np.where(places < end[:, None], weigh((places - center[:, None] + kind(0.5)) / wide), 0)
    weights = weights / weights.sum(1, keepdims=True)
    return [(np.minimum(places[:, o], size - 1), weights[:, o]) for o in offsets]


def along(x: Array, axis: int, taps: Taps) -> Array:
    """``x`` resampled along an axis.

    The derivative is a matrix product, not a scatter, which is slow on the CPU and on TPU; the values themselves are
    gathered, so that an infinite element doesn't reach those that don't look at it.
    """

    @jax.custom_jvp
    def gathered(x: Array) -> Array:
        shape = [-1 if d == axis else 1 for d in range(x.ndim)]
        parts = []
        for places, weights in taps:
            part = jnp.take(x, places, axis=axis)
            parts.append(part if (weights == 1).all() else part * weights.astype(x.dtype).reshape(shape))
        return sum(parts[1:], parts[0])

    @gathered.defjvp
    def _(primals: tuple, tangents: tuple) -> tuple:
        (x,), (t,) = primals, tangents
        return gathered(x), jnp.moveaxis(lax.dot_general(t, matrix(), (((axis,), (0,)), ((), ())), precision="highest"), -1, axis)

    def matrix() -> np.ndarray:
        made = np.zeros((x.shape[axis], len(taps[0][0])))
        for places, weights in taps:
            np.add.at(made, (places, np.arange(len(places))), weights)
        return made.astype(x.dtype)

    return gathered(x)
