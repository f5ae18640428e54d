"""Blocks that slide over an image as columns of a matrix, and their sum back in the image."""

from __future__ import annotations

from math import prod
from typing import Any

import jax.numpy as jnp
from jax import lax

from ..errors import OpError, OutOfBoundsError
from .declare import Array, op
from .operands import refuse
from .sliding import Sizes, padded, places, shifted

EMPTY = "Expected {}D or {}D (batch mode) tensor {}with possibly 0 batch size and {}non-zero dimensions for input, but got: {}"


def _two(name: str, value: Any) -> Sizes:
    values = (value, value) if isinstance(value, int) else tuple(value)
    if len(values) != 2:
        raise OpError(f"It is expected {name} equals to 2, but got size {len(values)}")
    return values


def _options(kernel: Any, dilation: Any, padding: Any, stride: Any) -> tuple[Sizes, ...]:
    names = ("kernel_size", "dilation", "padding", "stride")
    found = tuple(map(_two, names, (kernel, dilation, padding, stride)))
    for name, short, values in zip(names, ("kernel", "dilation", "pad", "stride"), found, strict=True):
        if min(values) < (name != "padding"):
            what, least = ("padding", "non-negative") if name == "padding" else (name.replace("_", " "), "greater than zero")
            raise OpError(f"{what} should be {least}, but got {short}_height: {values[0]} {short}_width: {values[1]}")
    return found


def _told(kernel: Sizes, dilation: Sizes, padding: Sizes) -> str:
    return f"kernel_size={kernel}, dilation={dilation}, padding={padding}"


@op(namespace="nn.functional", out=False)
def unfold(input: Array, kernel_size, dilation=1, padding=0, stride=1):
    """All blocks that slide over an image, as columns.

    Args:
        input: (N, C, H, W) or (C, H, W).
        kernel_size, dilation, padding, stride: numbers, or pairs.

    Returns:
        (N, C * kernel height * kernel width, number of blocks).

    Raises:
        RuntimeError: options out of range, or blocks larger than the image.
    """
    if input.ndim < 3:
        raise OutOfBoundsError(
            f"Dimension out of range (expected to be in range of [{-input.ndim}, {input.ndim - 1}], but got {input.ndim})"
        )
    kernel, dilations, pads, strides = _options(kernel_size, dilation, padding, stride)
    if input.ndim > 4 or 0 in input.shape[-3:]:
        raise OpError(EMPTY.format(3, 4, "", "other ", list(input.shape)))
    x = input if input.ndim == 4 else input[None]
    both = tuple((p, p) for p in pads)
    counts = tuple(map(places, x.shape[2:], kernel, strides, both, dilations))
    if min(counts) < 1:
        shown = tuple(max(c, 0) for c in counts)
        raise OpError(
            f"Given input with spatial size {x.shape[2:]}, {_told(kernel, dilations, pads)}, calculated shape of the array of sliding "
            f"blocks as {shown}, but its components must be at least one."
        )
    blocks = jnp.stack(list(shifted(padded(x, both), kernel, strides, dilations, counts)), 2)  # (N, C, K, *counts)
    z = blocks.reshape(x.shape[0], x.shape[1] * prod(kernel), prod(counts))
    return z if input.ndim == 4 else z[0]


def _check_fold(x: Array, size: Sizes, kernel: Sizes, dilation: Sizes, padding: Sizes, stride: Sizes) -> Sizes:
    """How many blocks there are along each side."""
    if x.ndim not in (2, 3) or 0 in x.shape[-2:]:
        raise OpError(EMPTY.format(2, 3, "for input ", "", list(x.shape)))
    at = x.ndim - 2
    if x.shape[at] % prod(kernel):
        raise OpError(
            f"Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)={x.shape[at]} "
            f"and kernel_size={kernel}."
        )
    counts = tuple(places(n, k, s, (p, p), d) for n, k, s, p, d in zip(size, kernel, stride, padding, dilation, strict=True))
    if prod(counts) != x.shape[-1]:
        raise OpError(
            f"Given output_size={size}, {_told(kernel, dilation, padding)}, stride={stride}, expected size of input's dimension 2 to match "
            f"the calculated number of sliding blocks {counts[0]} * {counts[1]} = {prod(counts)}, but got input.size(2)={x.shape[-1]}."
        )
    if min(counts) < 1:
        raise OpError(
            f"Given output_size={size}, {_told(kernel, dilation, padding)}, stride={stride}, the number of sliding blocks is {counts}, "
            "but must be at least one along each side."
        )
    return counts


@op(namespace="nn.functional", out=False)
def fold(input: Array, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """The sum of blocks at their places in an image; `unfold`'s transpose.

    Args:
        input: (N, C * kernel height * kernel width, number of blocks), or without N.
        output_size: of the image: a number or a pair.
        kernel_size, dilation, padding, stride: numbers, or pairs.

    Returns:
        (N, C, *output_size).

    Raises:
        RuntimeError: options out of range, or sizes that don't fit them.
    """
    size = _two("output_size", output_size)
    kernel, dilations, pads, strides = _options(kernel_size, dilation, padding, stride)
    counts = _check_fold(input, size, kernel, dilations, pads, strides)
    refuse("col2im_out_cpu", input, "i")
    lead = input.shape[:-2]
    blocks = input.reshape(*lead, -1, *kernel, *counts)  # (*, C, kh, kw, rows, columns)
    zero, total = jnp.zeros((), input.dtype), None
    for i in range(kernel[0]):
        for j in range(kernel[1]):
            ends = []
            for o, n, s, p, d, c in zip((i, j), size, strides, pads, dilations, counts, strict=True):
                start = o * d - p
                ends.append((start, n - start - ((c - 1) * s + 1), s - 1))
            spread = lax.pad(blocks[..., i, j, :, :], zero, [(0, 0, 0)] * (len(lead) + 1) + ends)
            total = spread if total is None else total | spread if spread.dtype == bool else total + spread
    return total
