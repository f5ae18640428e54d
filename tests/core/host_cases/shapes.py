"""Primitives that only move values about, with every dtype."""

from __future__ import annotations

from collections.abc import Callable

import jax.numpy as jnp
import numpy as np
from hypothesis import strategies as st
from jax import lax

from .drawing import EVERY, Case, array, full_shapes, seeds, shapes


@st.composite
def moves(draw, make: Callable, kinds=full_shapes) -> Case:
    """``make(draw, shape)`` gives the function; what it moves is of any dtype."""
    shape = draw(kinds)
    x = array(draw(seeds), shape, draw(st.sampled_from(EVERY)))
    return Case(make(draw, shape), (x,), 0)


def axis_of(draw, shape: tuple[int, ...]) -> int:
    return draw(st.integers(0, len(shape) - 1))


def reshaped(draw, shape):
    order = tuple(draw(st.permutations(range(len(shape)))))
    target = draw(st.sampled_from([(1, int(np.prod(shape))), (*shape, 1), (1, 1, *shape[::-1])]))
    return (lambda x: lax.reshape(x, target, order)) if draw(st.booleans()) else (lambda x: lax.reshape(x, target))


def squeezed(draw, shape):
    axes = sorted(draw(st.sets(st.integers(0, len(shape)), min_size=1)))
    return lambda x: lax.squeeze(lax.expand_dims(x, axes), axes)


def transposed(draw, shape):
    order = tuple(draw(st.permutations(range(len(shape) + 1))))
    order = order if order != tuple(range(len(order))) else order[::-1]
    return lambda x: lax.transpose(x[None], order)


def reversed_(draw, shape):
    axes = tuple(draw(st.sets(st.integers(0, len(shape) - 1), min_size=1)))
    return lambda x: lax.rev(x, axes)


def sliced(draw, shape):
    bounds = [sorted((draw(st.integers(0, n)), draw(st.integers(0, n)))) for n in shape]
    strides = [draw(st.integers(1, 3)) for _ in shape]
    return lambda x: lax.slice(x, [a for a, _ in bounds], [b for _, b in bounds], strides)


def split(draw, shape):
    axis = axis_of(draw, shape)
    first = draw(st.integers(0, shape[axis]))
    sizes = draw(st.sampled_from([[shape[axis]], [first, shape[axis] - first], [0, first, shape[axis] - first]]))
    return lambda x: lax.split(x, sizes, axis)


def concatenated(draw, shape):
    axis, count = axis_of(draw, shape), draw(st.integers(2, 4))
    return lambda x: lax.concatenate(
        [x if i % 2 else lax.slice_in_dim(x, 0, min(i % 3, shape[axis]), 1, axis) for i in range(count)], axis
    )


def broadcast(draw, shape):
    """To more axes, to longer ones, and joined with others, so that it stays thin as long as it can."""
    rank = len(shape) + draw(st.integers(1, 2))
    dims = sorted(draw(st.permutations(range(rank)))[: len(shape)])
    target = [draw(st.integers(1, 4)) for _ in range(rank)]
    for axis, size in zip(dims, shape, strict=True):
        target[axis] = size
    if draw(st.booleans()):
        return lambda x: lax.broadcast_in_dim(x, target, dims)
    return lambda x: (
        lax.concatenate([y := lax.broadcast_in_dim(x, target, dims), y], 0),
        n := lax.ne(y, y),
        n.sum(0)[..., None] * 2,
    )


def padded(draw, shape):
    config = [draw(st.tuples(st.integers(-3, 3), st.integers(-3, 3), st.integers(0, 2))) for _ in shape]
    for axis, (size, (low, high, interior)) in enumerate(zip(shape, config, strict=True)):
        if size + max(size - 1, 0) * interior + low + high < 0:
            config[axis] = (0, 0, interior)
    return lambda x: lax.pad(x, jnp.ones((), x.dtype), config)


def tiled(draw, shape):
    reps = [draw(st.integers(0, 3)) for _ in shape]
    return lambda x: lax.tile(x, reps)


def stacked(draw, shape):
    axis = draw(st.integers(0, len(shape)))
    return lambda x: jnp.stack([x, x, x], axis)


def unstacked(draw, shape):
    axis = axis_of(draw, shape)
    return lambda x: jnp.unstack(x, axis=axis)


def iota(draw, shape):
    axis = axis_of(draw, shape)
    dtype = draw(st.sampled_from([d for d in EVERY if d.kind != "b"]))
    return lambda x: lax.broadcasted_iota(dtype, (*shape, 2), axis)


CASES = {
    "reshape": moves(reshaped),
    "squeeze": moves(squeezed),
    "transpose": moves(transposed),
    "rev": moves(reversed_),
    "slice": moves(sliced),
    "split": moves(split),
    "concatenate": moves(concatenated),
    "broadcast_in_dim": moves(broadcast),
    "pad": moves(padded, shapes),
    "tile": moves(tiled),
    "stack": moves(stacked),
    "unstack": moves(unstacked),
    "iota": moves(iota),
    "empty": moves(lambda draw, shape: lambda x: (lax.empty(shape, x.dtype), x)),
    "broadcast as copy": moves(lambda draw, shape: lambda x: jnp.broadcast_to(x[..., None], (2, *shape, 3))),
    "broadcast as view": moves(lambda draw, shape: lambda x: lax.rev(jnp.broadcast_to(x[..., None], (*shape, 5000)), (0,))),
}
