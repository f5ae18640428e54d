"""Images made larger or smaller: nearest, linear, cubic, area, with or without smoothing."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..cautions import caution
from ..errors import ArgumentTypeError, ArgumentValueError, MissingError, OpError
from .adaptive_pooling import _means
from .byte_resampling import resampled
from .declare import Array, function, op
from .operands import in_float32, kind_of
from .resampling_taps import FILTERS, along, cubic, linear, nearest, nearest_exact, smoothed

# How taps are found, and how many dimensions an image has (None: any).
MODES: dict[str, tuple[Any, int | None]] = {
    "nearest": (nearest, None), "nearest-exact": (nearest_exact, None), "area": (None, None), "linear": (linear, 1),
    "bilinear": (linear, 2), "trilinear": (linear, 3), "bicubic": (cubic, 2), "lanczos": (None, 2),
}  # fmt: skip
SMOOTH = ("linear", "bilinear", "bicubic", "trilinear", "lanczos")
SAME_DIMS = (
    "Input and {} must have the same number of spatial dimensions, but got input with spatial dimensions of {} and {} {}. "
    "Please provide input tensor in (N, C, d1, d2, ...,dK) format and {} in {} format."
)
LIST = "nearest | linear | bilinear | bicubic | trilinear | lanczos | area | nearest-exact"


def _check_mode(x: Array, mode: str, align: bool | None, antialias: bool) -> None:
    if mode not in SMOOTH and align is not None:
        raise ArgumentValueError(
            "align_corners option can only be set with the interpolating modes: linear | bilinear | bicubic | trilinear"
        )
    if antialias and not (mode in FILTERS and x.ndim == 4):
        raise ArgumentValueError(
            "Anti-alias option is restricted to bilinear, bicubic, and lanczos modes and requires a 4-D tensor as input"
        )
    wanted = MODES.get(mode, (None, 0))[1]
    if wanted is not None and mode in ("linear", "bilinear", "trilinear") and 3 <= x.ndim <= 5 and x.ndim != wanted + 2:
        raise MissingError(f"Got {x.ndim}D input, but {mode} mode needs {wanted + 2}D input")
    if x.ndim not in (3, 4, 5) or mode not in MODES or (wanted is not None and x.ndim != wanted + 2):
        raise MissingError(
            f"Input Error: Only 3D, 4D and 5D input Tensors supported (got {x.ndim}D) for the modes: {LIST} (got {mode})"
        )
    if mode == "lanczos" and not antialias:
        raise ArgumentValueError("lanczos mode requires antialias=True")


def _sizes(x: Array, size: Any, factor: Any, recompute: bool | None) -> tuple[tuple[int, ...], Sequence[float | None]]:
    """The size asked for, and the factors that places are computed with."""
    space = x.shape[2:]
    n = len(space)
    if size is not None and factor is not None:
        raise ArgumentValueError("only one of size or scale_factor should be defined")
    if size is not None:
        if recompute:
            raise ArgumentValueError("recompute_scale_factor is not meaningful with an explicit size.")
        sizes = (size,) * n if not isinstance(size, tuple) else size
        if len(sizes) != n:
            form = "(o1, o2, ...,oK)"
            raise ArgumentValueError(SAME_DIMS.format("output", list(space), "output size of", size, "output size", form))
        for s in sizes:
            if not isinstance(s, int):
                raise ArgumentTypeError(f"interpolate(): size must be integers, got {size}")
        return sizes, (None,) * n
    if factor is None:
        raise ArgumentValueError("either size or scale_factor should be defined")
    each = factor if isinstance(factor, tuple) else (factor,) * n
    if any(isinstance(f, str) for f in each):
        raise ArgumentTypeError(f"interpolate(): scale_factor must be numbers, got {factor!r}")
    factors = tuple(map(float, each))
    if len(factors) != n:
        form = "(s1, s2, ...,sK)"
        raise ArgumentValueError(
            SAME_DIMS.format("scale_factor", list(space), "scale_factor of shape", factor, "scale_factor", form)
        )
    return tuple(math.floor(length * f) for length, f in zip(space, factors, strict=True)), (None,) * n if recompute else factors


def _check_sizes(x: Array, sizes: tuple[int, ...], mode: str) -> None:
    if not x.shape[1] and x.shape[0]:
        raise OpError(f"Non-empty {x.ndim}D data tensor expected but got a tensor with sizes {list(x.shape)}")
    if min(x.shape[2:]) <= 0 or min(sizes) <= 0:
        names = "DHW"[3 - len(sizes) :] if len(sizes) > 1 else "W"
        shown = (", ".join(f"{n}: {s}" for n, s in zip(names, each, strict=True)) for each in (x.shape[2:], sizes))
        given, found = shown
        raise OpError(f"Input and output sizes should be greater than 0, but got input ({given}) output ({found})")
    if x.dtype != jnp.uint8 and not jnp.issubdtype(x.dtype, jnp.floating):
        kind = mode.replace("-", "_") + ("" if mode in SMOOTH else f"{len(sizes)}d")
        raise MissingError(f"\"upsample_{kind}\" not implemented for '{kind_of(x)}'")


def _repeated(x: Array, sizes: tuple[int, ...]) -> Array:
    """Each element several times along each dimension."""
    for axis, count in enumerate(sizes, 2):
        times = count // x.shape[axis]
        if times > 1:
            wide = jnp.broadcast_to(jnp.expand_dims(x, axis + 1), (*x.shape[: axis + 1], times, *x.shape[axis + 1 :]))
            x = wide.reshape(*x.shape[:axis], count, *x.shape[axis + 1 :])
    return x


def _resample(
    x: Array, sizes: tuple[int, ...], mode: str, align: bool, factors: Sequence[float | None], antialias: bool
) -> Array:
    find = MODES[mode][0]
    whole = x.dtype == jnp.uint8 and mode in SMOOTH
    kind = np.float64 if whole or x.dtype == np.float64 else np.float32
    for axis in range(x.ndim - 1, 1, -1):
        size, count, factor = x.shape[axis], sizes[axis - 2], factors[axis - 2]
        same = size == count and not antialias and (find is not cubic or factor in (None, 1.0))
        if not same:
            options = (size, count, align, factor, kind)
            taps = smoothed(mode, *options) if antialias else find(*options)
            x = resampled(x, axis, taps) if whole else along(x, axis, taps)
    return x


def _whole(x: Array, sizes: tuple[int, ...], factors: Sequence[float | None]) -> bool:
    """Whether each element is shown the same whole number of times."""
    return all(
        count % size == 0 and factor in (None, count / size)
        for size, count, factor in zip(x.shape[2:], sizes, factors, strict=True)
    )


@op(namespace="nn.functional", out=False)
def interpolate(
    input: Array, size=None, scale_factor=None, mode="nearest", align_corners=None, recompute_scale_factor=None, antialias=False
):
    """An image of another size.

    Args:
        input: (N, C, *) with one to three dimensions in the place of *; of floats (or uint8).
        size: what the dimensions should be, or one number for all.
        scale_factor: in place of size: how many times larger, a number or one for each dimension; sizes are rounded down.
        mode: "nearest", "nearest-exact", "area" (means); "linear", "bilinear", "trilinear" for one to three dimensions;
            "bicubic", and with antialias "lanczos", for two.
        align_corners: whether the middles of the corner elements, not their corners, are what coincides in input and output.
        recompute_scale_factor: compute places from the sizes, not from scale_factor.
        antialias: smooth before making smaller; "bilinear", "bicubic" and "lanczos" alone.

    Returns:
        (N, C, *size), of input's dtype.

    Raises:
        ValueError: both or none of size and scale_factor, another number of them, or options that the mode doesn't have.
        NotImplementedError: an unknown mode, or one for another rank; integers.
        RuntimeError: an empty image, or one to be made.
    """
    _check_mode(input, mode, align_corners, antialias)
    sizes, factors = _sizes(input, size, scale_factor, recompute_scale_factor)
    _check_sizes(input, sizes, mode)
    if mode == "area":
        return in_float32(lambda x: _means(x, sizes))(input)
    if mode.startswith("nearest"):
        if _whole(input, sizes, factors):
            return _repeated(input, sizes)
        return in_float32(lambda x: _resample(x, sizes, mode, False, factors, False))(input)
    return in_float32(lambda x: _resample(x, sizes, mode, bool(align_corners), factors, antialias))(input)


def _deprecated(name: str) -> None:
    caution(f"`nn.functional.{name}` is deprecated. Use `nn.functional.interpolate` instead.")


@function("nn.functional")
def upsample(
    input: Any, size: Any = None, scale_factor: Any = None, mode: str = "nearest", align_corners: bool | None = None
) -> Any:
    """`interpolate`, by its old name."""
    _deprecated("upsample")
    return interpolate(input, size, scale_factor, mode, align_corners)


@function("nn.functional")
def upsample_nearest(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """`interpolate` in mode "nearest", by its old name."""
    _deprecated("upsample_nearest")
    return interpolate(input, size, scale_factor, mode="nearest")


@function("nn.functional")
def upsample_bilinear(input: Any, size: Any = None, scale_factor: Any = None) -> Any:
    """`interpolate` in mode "bilinear" with aligned corners, by its old name."""
    _deprecated("upsample_bilinear")
    return interpolate(input, size, scale_factor, mode="bilinear", align_corners=True)
