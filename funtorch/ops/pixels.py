"""Elements moved between channels and places of an image, and channels dealt out anew."""

from __future__ import annotations

import jax.numpy as jnp

from ..errors import OpError
from . import registry
from .declare import Array, op


@op(alias=("nn.functional.pixel_shuffle",), out=False, method=False)
def pixel_shuffle(input: Array, upscale_factor):
    """Channels become places: z[c, h r + i, w r + j] = x[c r^2 + i r + j, h, w].

    Args:
        input: (*, C r^2, H, W).
        upscale_factor: r.

    Returns:
        (*, C, H r, W r).

    Raises:
        RuntimeError: sizes that don't fit.

    Source: Shi et al., "Real-Time Single Image and Video Super-Resolution", 2016.
    """
    r = upscale_factor
    if input.ndim < 3:
        raise OpError(f"pixel_shuffle expects input to have at least 3 dimensions, but got input with {input.ndim} dimension(s)")
    if r <= 0:
        raise OpError(f"pixel_shuffle expects a positive upscale_factor, but got {r}")
    *batch, channels, height, width = input.shape
    if channels % (r * r):
        raise OpError(
            "pixel_shuffle expects its input's 'channel' dimension to be divisible by the square of upscale_factor, but "
            f"input.size(-3)={channels} is not divisible by {r * r}"
        )
    n, c = len(batch), channels // (r * r)
    x = input.reshape(*batch, c, r, r, height, width)
    x = jnp.transpose(x, (*range(n), n, n + 3, n + 1, n + 4, n + 2))  # (*, C, H, r, W, r)
    return x.reshape(*batch, c, height * r, width * r)


@op(alias=("nn.functional.pixel_unshuffle",), out=False, method=False)
def pixel_unshuffle(input: Array, downscale_factor):
    """Places become channels, the inverse of `pixel_shuffle`.

    Args:
        input: (*, C, H r, W r).
        downscale_factor: r.

    Returns:
        (*, C r^2, H, W).

    Raises:
        RuntimeError: sizes that don't fit.
    """
    r = downscale_factor
    if input.ndim < 3:
        raise OpError(
            f"pixel_unshuffle expects input to have at least 3 dimensions, but got input with {input.ndim} dimension(s)"
        )
    if r <= 0:
        raise OpError(f"pixel_unshuffle expects a positive downscale_factor, but got {r}")
    *batch, channels, height, width = input.shape
    for name, size, at in (("height", height, -2), ("width", width, -1)):
        if size % r:
            raise OpError(
                f"pixel_unshuffle expects {name} to be divisible by downscale_factor, but input.size({at})={size} is not "
                f"divisible by {r}"
            )
    n = len(batch)
    x = input.reshape(*batch, channels, height // r, r, width // r, r)
    x = jnp.transpose(x, (*range(n), n, n + 2, n + 4, n + 1, n + 3))  # (*, C, r, r, H, W)
    return x.reshape(*batch, channels * r * r, height // r, width // r)


@op(out=False, method=False)
def channel_shuffle(input: Array, groups):
    """Channels dealt out anew: channel g n + i becomes channel i groups + g.

    Args:
        input: (N, C, *), of three dimensions or more.
        groups: divides C.

    Raises:
        RuntimeError: sizes that don't fit.

    Source: Zhang et al., "ShuffleNet", 2017.
    """
    if input.ndim < 3:
        raise OpError(f"channel_shuffle expects input with > 2 dims, but got input with sizes {list(input.shape)}")
    if groups <= 0:
        raise OpError(f"Number of groups to divide channels in must be positive. Value of groups:{groups}")
    batch, channels, *rest = input.shape
    if channels % groups:
        raise OpError(f"Number of channels must be divisible by groups. Got {channels} channels and {groups} groups.")
    x = input.reshape(batch, groups, channels // groups, *rest)
    return jnp.swapaxes(x, 1, 2).reshape(input.shape)


for _name in ("channel_shuffle", "native_channel_shuffle"):
    registry.add("nn.functional", _name, channel_shuffle)
registry.add("torch", "native_channel_shuffle", channel_shuffle)
