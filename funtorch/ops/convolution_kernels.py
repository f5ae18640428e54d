"""Convolution of arrays: as XLA's own, as one matrix product over the windows, or as a sum of shifted products.

On the CPU XLA's own convolution is fast only for plain 1-d and 2-d ones: its batched forms become convolutions with
feature groups, which are slow there, and so are groups and three dimensions. Milliseconds on 2 cores for float32, forward /
gradients of both arguments / ``vmap(grad)`` per sample / ``vmap(grad)`` over 8 tasks that have weights of their own:

    input, weight                            XLA's own                    product
    (64,16,4,4),   (32,16,3,3)        0.07 / 0.19 / 1.5 / 0.6     0.18 / 0.32 / 0.40 / 0.29
    (64,16,14,14), (32,16,3,3)         0.8 / 3.0 / 5.6 / 10         1.1 / 3.2 / 4.9 / 3.0
    (32,64,14,14), (64,64,3,3)         3.0 / 9.1 / 31 / 70          4.5 / 10 / 12 / 11
    (32,64,16,16), (64,64,3,3)         3.6 / 20 / 21 / -            21 / 41 / 60 / -
    (64,1,28,28),  (16,1,3,3)          1.7 / 3.7 / 14 / -           0.6 / 0.8 / 3.4 / -
    (32,32,128),   (64,32,5)          0.55 / 1.8 / 4.7 / -         0.63 / 1.5 / 2.2 / -
    (32,32,14,14), groups=32           4.6 / 9.4 / 192 / 15        0.54 / 1.1 / 1.7 / 1.1
    (32,64,14,14), groups=4          3.8 / 371 / 11757 / 2467       2.8 / 10 / 8.9 / 5.4
    (8,32,6,8,8),  (32,32,3,3,3)       6.0 / 18 / 107 / 125         1.8 / 12 / 8.8 / 14

Large ones with groups, forward / gradients: the product against shifted products (one channel a group) or XLA's own group by group:

    (32,96,28,28), (96,1,3,3)   product 90 / 94      shifted 1.4 / 78
    (16,96,28,28), (96,1,7,7)   product 224 / 316    shifted 4.5 / 221
    (32,128,28,28), groups=8    product 220 / 178    group by group 12.5 / 54

Whole networks, two convolutions of kernel 3 with 16 and 32 channels, ReLU, 2x2 max pooling and a linear layer, batch 64,
jitted, forward / gradients / ``vmap(grad)``; torch eager beside them:

    (64,1,8,8)     XLA's own 0.37 / 1.15 / 1.58    product 0.21 / 1.13 / 1.20    torch 0.32 / 0.84 / 2.3
    (64,1,28,28)   XLA's own 2.8 / 16.6 / 22.0     product 2.4 / 16.4 / 17.1     torch 3.4 / 25 / 49

`lax.conv_general_dilated_patches` in place of the slices takes three to ten times as long as they do.
"""

from __future__ import annotations

from math import prod

import jax
import jax.numpy as jnp
from jax import lax

from ..core.engine import host_possible
from ..core.state import state
from .declare import Array
from .sliding import Pads, Sizes, padded, places, shifted

# Products for each output from which XLA's own plain convolution is the faster one, where it is not mapped over by vmap.
OWN_DEPTH = 64
# Elements of the matrix of windows above which the product loses: in one and two dimensions, and in three.
PLAIN_COLUMNS = 1 << 22
COLUMNS = 1 << 27


def convolve(x: Array, w: Array, strides: Sizes, pads: Pads, dilation: Sizes, groups: int) -> Array:
    """Convolution of x (N, C, *) and w (O, C / groups, *): (N, O, *)."""
    counts = tuple(map(places, x.shape[2:], w.shape[2:], strides, pads, dilation))
    if 0 in w.shape or 0 in x.shape or not jnp.issubdtype(x.dtype, jnp.inexact):
        return as_product(x, w, strides, pads, dilation, groups, counts)
    if host_possible():
        plain = groups == 1 and len(counts) < 3 and x.shape[0] > 1 and not state.mapped
        if plain and w.shape[1] * prod(w.shape[2:]) >= OWN_DEPTH:
            return as_xlas_own(x, w, strides, pads, dilation)
        columns = x.shape[0] * x.shape[1] * prod(w.shape[2:]) * prod(counts)
        if columns <= (COLUMNS if len(counts) == 3 else PLAIN_COLUMNS):
            return as_product(x, w, strides, pads, dilation, groups, counts)
        if groups > 1 and w.shape[1] == 1:
            return as_shifted(x, w, strides, pads, dilation, counts)
        if groups > 1:
            parts = zip(jnp.split(x, groups, 1), jnp.split(w, groups, 0), strict=True)
            return jnp.concatenate([as_xlas_own(part, own, strides, pads, dilation) for part, own in parts], 1)
    return as_xlas_own(x, w, strides, pads, dilation, groups)


def as_xlas_own(x: Array, w: Array, strides: Sizes, pads: Pads, dilation: Sizes, groups: int = 1) -> Array:
    """The convolution as XLA does it."""
    letters = "DHW"[3 - len(strides) :]
    numbers = ("NC" + letters, "OI" + letters, "NC" + letters)
    return lax.conv_general_dilated(
        x, w, strides, pads, rhs_dilation=dilation, feature_group_count=groups, dimension_numbers=numbers
    )


def as_shifted(x: Array, w: Array, strides: Sizes, pads: Pads, dilation: Sizes, counts: Sizes) -> Array:
    """The convolution of each channel by itself, w being (O, 1, *): a sum of products of what is seen at each offset."""
    repeats = w.shape[0] // x.shape[1]
    flat = w.reshape(w.shape[0], -1, *[1] * len(counts))
    seen = shifted(padded(x, pads), w.shape[2:], strides, dilation, counts)
    return sum((jnp.repeat(part, repeats, 1) if repeats > 1 else part) * flat[:, k] for k, part in enumerate(seen))


def as_product(x: Array, w: Array, strides: Sizes, pads: Pads, dilation: Sizes, groups: int, counts: Sizes) -> Array:
    """The convolution as ``W columns``: the columns are what the windows see."""
    window, outputs, samples = w.shape[2:], w.shape[0], x.shape[0]
    depth = w.shape[1] * prod(window)
    x = padded(x.swapaxes(0, 1), pads)  # (C, N, *)
    if prod(window) == 0:
        return jnp.zeros((samples, outputs, *counts), x.dtype)
    columns = jnp.stack(list(shifted(x, window, strides, dilation, counts)), 1)  # (C, K, N, *counts)
    columns = columns.reshape(groups, depth, samples * prod(counts))
    z = jnp.matmul(w.reshape(groups, outputs // groups, depth), columns)  # (G, O / G, N * places)
    return z.reshape(outputs, samples, *counts).swapaxes(0, 1)


def convolve_transposed(
    x: Array, w: Array, strides: Sizes, pads: Pads, dilation: Sizes, groups: int, output_padding: Sizes
) -> Array:
    """The transpose of `convolve`: what pulls x (N, O, *) back through w (O, C / groups, *) to (N, C, *)."""
    sizes = [
        (n - 1) * s - sum(p) + d * (k - 1) + extra + 1
        for n, s, p, d, k, extra in zip(x.shape[2:], strides, pads, dilation, w.shape[2:], output_padding, strict=True)
    ]
    if not jnp.issubdtype(x.dtype, jnp.inexact):
        return _transposed_by_zeros(x, w, strides, pads, dilation, groups, output_padding)
    # More output padding than the stride makes room for further windows, which hold nothing.
    more = [(0, extra // s) for extra, s in zip(output_padding, strides, strict=True)]
    target = jax.ShapeDtypeStruct((x.shape[0], w.shape[1] * groups, *sizes), x.dtype)
    (z,) = jax.linear_transpose(lambda y: convolve(y, w, strides, pads, dilation, groups), target)(padded(x, tuple(more)))
    return z


def _transposed_by_zeros(
    x: Array, w: Array, strides: Sizes, pads: Pads, dilation: Sizes, groups: int, output_padding: Sizes
) -> Array:
    """`convolve_transposed` of integers, which JAX doesn't transpose: a convolution of x with zeros between its elements."""
    config = [(0, 0, 0), (0, 0, 0), *((0, extra, s - 1) for s, extra in zip(strides, output_padding, strict=True))]
    spread = lax.pad(x, jnp.zeros((), x.dtype), config)
    window = w.shape[2:]
    grouped = w.reshape(groups, w.shape[0] // groups, *w.shape[1:]).swapaxes(1, 2)  # (G, C / G, O / G, *window)
    turned = jnp.flip(grouped.reshape(-1, grouped.shape[2], *window), tuple(range(2, w.ndim)))
    back = tuple((d * (k - 1) - low, d * (k - 1) - high) for d, k, (low, high) in zip(dilation, window, pads, strict=True))
    return convolve(spread, turned, (1,) * len(window), back, dilation, groups)
