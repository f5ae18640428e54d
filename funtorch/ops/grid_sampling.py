"""Images read at places that a grid of coordinates names, and the grids of affine maps."""

from __future__ import annotations

from itertools import product
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import ArgumentValueError, MissingError, OpError
from .declare import Array, function, op
from .operands import in_float32, is_floating, kind_of
from .resampling_taps import cubic_weights

MODES = ("bilinear", "nearest", "bicubic")
PADDING = ("zeros", "border", "reflection")


def _clipped(c: Array, size: int) -> Array:
    """Coordinates within the image; at its ends and beyond, the gradient is 0."""
    return jnp.where(c > 0, jnp.where(c < size - 1, c, size - 1), 0)


def _reflected(c: Array, low: float, high: float) -> Array:
    if low == high:
        return jnp.zeros_like(c)
    span = high - low
    c = jnp.abs(c - low)
    turns = jnp.floor(c / span)
    extra = c - turns * span
    return jnp.where(turns % 2 == 0, extra + low, span - extra + low)


def _inside(c: Array, size: int, padding: str, align: bool) -> Array:
    """What a coordinate outside of the image stands for."""
    if padding == "zeros":
        return c
    if padding == "reflection":
        c = _reflected(c, 0.0, size - 1.0) if align else _reflected(c, -0.5, size - 0.5)
    return _clipped(c, size)


def _unscaled(c: Array, size: int, align: bool) -> Array:
    """From -1 .. 1 to places of elements."""
    return (c + 1) / 2 * (size - 1) if align else ((c + 1) * size - 1) / 2


def _read(x: Array, places: list[Array]) -> Array:
    """The elements of x (N, C, *space) at whole places (N, P) along each dimension, 0 outside of the image: (N, C, P)."""
    space = x.shape[2:]
    valid: Any = True
    flat: Any = 0
    for c, size in zip(places, space, strict=True):
        valid = valid & (c >= 0) & (c < size)
        flat = flat * size + jnp.clip(jnp.where(c == c, c, 0), 0, size - 1).astype(np.int64)
    found = jnp.take_along_axis(x.reshape(*x.shape[:2], -1), flat[:, None, :], axis=2)
    return jnp.where(valid[:, None, :], found, 0)


def _linear(x: Array, places: list[Array]) -> Array:
    """Between the corners, one dimension after another: where the image is constant along one, its slope is exactly 0."""
    lows = [jnp.floor(c) for c in places]
    between = [(c - low)[:, None, :] for c, low in zip(places, lows, strict=True)]

    def line(at: list[Array]) -> Array:
        if len(at) == len(places):
            return _read(x, at)
        low = lows[len(at)]
        start, end = line([*at, low]), line([*at, low + 1])
        return start + (end - start) * between[len(at)]

    return line([])


def _cubic(x: Array, places: list[Array], padding: str, align: bool) -> Array:
    lows = [jnp.floor(c) for c in places]
    weights = [cubic_weights(c - low) for c, low in zip(places, lows, strict=True)]
    total: Any = 0
    for i, j in product(range(4), repeat=2):
        at = [_inside(low + o - 1, size, padding, align) for low, o, size in zip(lows, (i, j), x.shape[2:], strict=True)]
        total = total + _read(x, at) * (weights[0][i] * weights[1][j])[:, None, :]
    return total


def _check(x: Array, grid: Array, mode: str) -> None:
    n = x.ndim - 2
    if x.dtype != grid.dtype:
        raise OpError(f"expected scalar type {kind_of(x)} but found {kind_of(grid)}")
    if x.shape[:1] != grid.shape[:1]:
        raise OpError(
            f"grid_sampler(): expected grid and input to have same batch size, but got input with sizes {list(x.shape)} "
            f"and grid with sizes {list(grid.shape)}"
        )
    if grid.ndim > 1 and grid.ndim == x.ndim and grid.shape[-1] != n or (x.ndim == 3 and grid.ndim > 1 and grid.shape[-1] != n):
        raise OpError(
            f"grid_sampler(): expected grid to have size {n} in last dimension, but got grid with sizes {list(grid.shape)}"
        )
    if n not in (2, 3) or grid.ndim != x.ndim:
        raise OpError(
            f"grid_sampler(): expected {'4D or 5D' if n not in (2, 3) else f'{n + 2}D'} input and grid with same number of dimensions, "
            f"but got input with sizes {list(x.shape)} and grid with sizes {list(grid.shape)}"
        )
    for axis in range(2, x.ndim):
        if not x.shape[axis]:
            raise OpError(
                f"grid_sampler(): expected input to have non-empty spatial dimensions, but input has sizes {list(x.shape)} with "
                f"dimension {axis} being empty"
            )
    if n == 3 and mode == "bicubic":
        raise OpError("grid_sampler(): bicubic interpolation only supports 4D input")


@op(namespace="nn.functional", out=False)
def grid_sample(input: Array, grid: Array, mode="bilinear", padding_mode="zeros", align_corners=None):
    """The image read at the places that the grid names.

    Args:
        input: (N, C, H, W) or (N, C, D, H, W), of floats.
        grid: (N, H', W', 2) or (N, D', H', W', 3), of the same dtype: coordinates (x, y[, z]) from -1 to 1, x along the last
            dimension of the image.
        mode: "bilinear" (of two or three dimensions), "nearest", or "bicubic" for images of two.
        padding_mode: what lies outside: "zeros", "border" (the elements at the ends) or "reflection".
        align_corners: whether -1 and 1 are the middles of the corner elements, not the image's corners.

    Returns:
        (N, C, H', W') or (N, C, D', H', W').

    Raises:
        ValueError: an unknown mode.
        RuntimeError: shapes that don't fit.
    """
    if mode not in MODES:
        raise ArgumentValueError(
            f"nn.functional.grid_sample(): expected mode to be 'bilinear', 'nearest' or 'bicubic', but got: '{mode}'"
        )
    if padding_mode not in PADDING:
        raise ArgumentValueError(
            f"nn.functional.grid_sample(): expected padding_mode to be 'zeros', 'border', or 'reflection', but got: '{padding_mode}'"
        )
    _check(input, grid, mode)
    align = bool(align_corners)  # whether -1 and 1 are the middles of the corner elements

    def sample(x: Array, grid: Array) -> Array:
        space = x.shape[2:]
        flat = grid.reshape(grid.shape[0], -1, len(space))
        # The grid names the last dimension first.
        places = [_unscaled(flat[..., -1 - d], size, align) for d, size in enumerate(space)]
        if mode == "bicubic":
            found = _cubic(x, places, padding_mode, align)
        else:
            places = [_inside(c, size, padding_mode, align) for c, size in zip(places, space, strict=True)]
            found = _linear(x, places) if mode == "bilinear" else _read(x, [jnp.round(c) for c in places])
        return found.reshape(*x.shape[:2], *grid.shape[1:-1])

    return in_float32(sample)(input, grid)


def _declare_sampler(name: str) -> None:
    def sampler(input: Any, grid: Any, interpolation_mode: int, padding_mode: int, align_corners: bool) -> Any:
        return grid_sample(input, grid, MODES[interpolation_mode], PADDING[padding_mode], align_corners)

    sampler.__name__ = sampler.__qualname__ = name
    sampler.__doc__ = "`nn.functional.grid_sample` with its modes as numbers."
    function(name=name)(sampler)


for _name in ("grid_sampler", "grid_sampler_2d", "grid_sampler_3d"):
    _declare_sampler(_name)


def _check_affine(theta: Array, size: tuple[int, ...]) -> None:
    n = len(size) - 2
    if not is_floating(theta):
        raise ArgumentValueError(f"Expected theta to have floating point type, but got torch.{theta.dtype}")
    if n not in (2, 3):
        raise MissingError(
            f"affine_grid only supports 4D and 5D sizes, for 2D and 3D affine transforms, respectively. Got size {size}."
        )
    if theta.ndim != 3 or theta.shape[1:] != (n, n + 1):
        raise ArgumentValueError(
            f"Expected a batch of {n}D affine matrices of shape Nx{n}x{n + 1} for size {size}. Got torch.Size({list(theta.shape)})."
        )
    if min(size) <= 0:
        raise ArgumentValueError(f"Expected non-zero, positive output size. Got {size}")
    if theta.shape[0] != size[0]:
        raise OpError(
            f"Expected size for first two dimensions of batch2 tensor to be: [{size[0]}, {n + 1}] but got: {list(theta.shape[::2])}."
        )


@op(namespace="nn.functional", out=False)
def affine_grid(theta: Array, size, align_corners=None):
    """The grid that `grid_sample` needs to map an image by affine maps.

    Args:
        theta: (N, 2, 3) or (N, 3, 4), of floats: the maps from output coordinates to input coordinates.
        size: of the output: (N, C, H, W) or (N, C, D, H, W).
        align_corners: as in `grid_sample`.

    Returns:
        (N, H, W, 2) or (N, D, H, W, 3).

    Raises:
        ValueError: another shape or dtype of theta, or an empty size.
        NotImplementedError: another number of sizes.
    """
    _check_affine(theta, size)
    align = bool(align_corners)  # whether -1 and 1 are the middles of the corner elements
    n = len(size) - 2
    lines = []
    for count in size[2:]:
        line = np.linspace(-1, 1, count) if count > 1 else np.zeros(1)
        lines.append(line if align else line * (count - 1) / count)
    axes = np.meshgrid(*lines, indexing="ij")
    base = np.stack([*axes[::-1], np.ones(size[2:])], -1).reshape(-1, n + 1)

    def mapped(theta: Array) -> Array:
        return jnp.matmul(base.astype(theta.dtype), theta.swapaxes(1, 2), precision="highest")

    return in_float32(mapped)(theta).reshape(size[0], *size[2:], n)


@function()
def affine_grid_generator(theta: Any, size: Any, align_corners: bool) -> Any:
    """`nn.functional.affine_grid`."""
    return affine_grid(theta, size, align_corners)
