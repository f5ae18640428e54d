"""The largest element of each window, one axis after the other, with the place of the first such element.

A cascade of selections: its derivative goes to the element that was selected, the first largest one in row-major order, as
PyTorch's does; `jnp.maximum` would share it among equal ones. NaN wins over everything, the last one over others.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from .declare import Array
from .operands import is_floating

Offsets = Sequence[np.ndarray]  # for each offset in a window, the place along the axis that each window sees


def lowest(dtype: np.dtype) -> object:
    """The value that no element is below."""
    return -jnp.inf if jnp.issubdtype(dtype, jnp.floating) else jnp.iinfo(dtype).min


def offsets(size: int, stride: int, low: int, dilation: int, count: int) -> Offsets:
    """The places that windows see at each offset; those outside of the input lie in the padding."""
    return [np.arange(count) * stride + o * dilation - low for o in range(size)]


def _seen(x: Array, axis: int, at: np.ndarray, fill: object) -> Array:
    """The elements at places ``at`` along an axis, in even steps where they are; ``fill`` outside."""
    size, steps = x.shape[axis], np.diff(at)
    if len(at) > 1 and (steps != steps[0]).any() or (len(steps) and steps[0] == 0):
        return jnp.take(x, at, axis=axis)
    step = int(steps[0]) if len(steps) else 1
    low, high = max(0, -int(at[0])), max(0, int(at[-1]) + 1 - size)
    if low or high:
        config = [(low, high, 0) if d == axis else (0, 0, 0) for d in range(x.ndim)]
        x = lax.pad(x, jnp.asarray(fill, x.dtype), config)
    start = int(at[0]) + low
    return lax.slice_in_dim(x, start, start + step * (len(at) - 1) + 1, step, axis)


def _select(x: Array, payload: Array | None, axis: int, places: Offsets) -> tuple[Array, Array | None]:
    size = x.shape[axis]
    shape = [-1 if d == axis else 1 for d in range(x.ndim)]
    best: Any = None
    held: Any = None
    real: Any = None
    for at in places:
        value = _seen(x, axis, at, lowest(x.dtype))
        index: Any = None if payload is None else _seen(payload, axis, at, 0)
        inside = (at >= 0) & (at < size)
        if best is None:
            best, held, real = value, index, inside
            continue
        better = value > best
        if is_floating(x):
            better |= value != value
        if (~real & inside).any():
            better |= (~real & inside).reshape(shape)  # what is real wins over padding, even the lowest value
        best = jnp.where(better, value, best)
        held = None if held is None else jnp.where(better, index, held)
        real = real | inside
    return best, held


def largest(x: Array, places: Sequence[Offsets], indices: bool) -> tuple[Array, Array | None]:
    """The largest elements, and their flat places in the last dimensions if ``indices`` (int64).

    ``places`` holds, for each of the last dimensions, what the windows see along it.
    """
    n = len(places)
    space = x.shape[x.ndim - n :]
    payload = None
    if indices:
        flat = np.arange(int(np.prod(space)), dtype=np.int64).reshape(space)
        payload = jnp.broadcast_to(flat, x.shape)
    for axis in range(x.ndim - 1, x.ndim - n - 1, -1):
        x, payload = _select(x, payload, axis, places[axis - x.ndim + n])
    return x, payload
