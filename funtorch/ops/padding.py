"""Padding at the ends of the last dimensions: with a value, mirrored, repeated, or wrapped around."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
from jax import lax

from ..errors import ArgumentTypeError, MissingError, OpError
from .declare import Array, op
from .operands import number
from .sliding import Pads, integers, padded

NOT_EMPTY = (
    "Expected {}D or {}D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: {}"
)
UNSUPPORTED = (
    "Padding size {} is not supported for {}D input tensor.\nSupported combinations for non-constant padding:\n"
    "  - 2D or 3D input: padding size = 2 (pads last dimension)\n"
    "  - 3D or 4D input: padding size = 4 (pads last 2 dimensions)\n"
    "  - 4D or 5D input: padding size = 6 (pads last 3 dimensions)"
)
TOO_LARGE = "Argument #4: Padding size should be less than the corresponding input dimension, but got: padding {} at dimension {} of input {}"


def pairs(pad: Any, ndim: int) -> Pads:
    """``(last low, last high, last but one low, ...)`` as pairs in the order of the dimensions. Raises RuntimeError."""
    if len(pad) % 2:
        raise OpError("Padding length must be divisible by 2")
    if len(pad) // 2 > ndim:
        raise OpError(
            "Padding length should be less than or equal to two times the input dimension but got padding length "
            f"{len(pad)} and input of dimension {ndim}"
        )
    return tuple((pad[i], pad[i + 1]) for i in range(len(pad) - 2, -1, -2))


def _part(x: Array, axis: int, start: int, length: int) -> Array:
    return lax.slice_in_dim(x, start, start + length, axis=axis)


def _mirrored(x: Array, axis: int, low: int, high: int) -> list[Array]:
    size = x.shape[axis]
    return [lax.rev(_part(x, axis, 1, low), (axis,)), x, lax.rev(_part(x, axis, size - 1 - high, high), (axis,))]


def _repeated(x: Array, axis: int, low: int, high: int) -> list[Array]:
    def times(at: int, count: int) -> Array:
        shape = [count if d == axis else n for d, n in enumerate(x.shape)]
        return jnp.broadcast_to(_part(x, axis, at, 1), shape)

    return [times(0, low), x, times(x.shape[axis] - 1, high)]


def _wrapped(x: Array, axis: int, low: int, high: int) -> list[Array]:
    return [_part(x, axis, x.shape[axis] - low, low), x, _part(x, axis, 0, high)]


def _check_mirrored(x: Array, axis: int, low: int, high: int) -> None:
    if max(low, high) >= x.shape[axis]:
        raise OpError(TOO_LARGE.format((low, high), axis, list(x.shape)))


def _check_wrapped(x: Array, axis: int, low: int, high: int) -> None:
    if max(low, high) > x.shape[axis]:
        raise OpError("Padding value causes wrapping around more than once.")


MODES: dict[str, tuple[Callable, Callable | None]] = {
    "reflect": (_mirrored, _check_mirrored),
    "replicate": (_repeated, None),
    "circular": (_wrapped, _check_wrapped),
}


def _check_rank(x: Array, pad: tuple, mode: str) -> None:
    dims = len(pad) // 2
    if x.ndim not in (dims + 1, dims + 2) or dims not in (1, 2, 3):
        raise MissingError(UNSUPPORTED.format(len(pad), x.ndim))
    if mode != "circular" and 0 in x.shape[0 if x.ndim == dims + 1 else 1 :]:
        raise OpError(NOT_EMPTY.format(dims + 1, dims + 2, list(x.shape)))


def _cut(x: Array, axis: int, low: int, high: int) -> Array:
    length = x.shape[axis] + min(low, 0) + min(high, 0)
    if length < 0 or (length == 0 and low > 0):
        raise OpError(
            f"input ({'DHW'[axis - x.ndim]}: {x.shape[axis]}) is too small. Calculated output {'DHW'[axis - x.ndim]}: {length}"
        )
    return _part(x, axis, max(-low, 0), length)


def pad_by(x: Array, pad: tuple, mode: str) -> Array:
    """Padding that repeats elements of ``x``."""
    make, check = MODES[mode]
    _check_rank(x, pad, mode)
    for axis, (low, high) in enumerate(pairs(pad, x.ndim), x.ndim - len(pad) // 2):
        more = (max(low, 0), max(high, 0))
        # A circle is closed after the cut; mirrors and edges stay where they were before it.
        if mode == "circular":
            x = _cut(x, axis, low, high)
            low, high = more
        if check is not None:
            check(x, axis, *more)
        if any(more):
            x = jnp.concatenate(make(x, axis, *more), axis)
        x = _cut(x, axis, min(low, 0), min(high, 0))
    return x


def _pad_with(x: Array, pad: tuple, value: Any) -> Array:
    amounts = pairs(pad, x.ndim)
    for (low, high), size in zip(amounts, x.shape[x.ndim - len(amounts) :], strict=True):
        if size + low + high < 0 or size + min(low, 0) < 0 or size + min(high, 0) < 0:
            raise OpError("narrow(): length must be non-negative.")
    if x.dtype.kind in "iu" and isinstance(value, float):
        value = int(value)
    return padded(x, amounts, number(value, x.dtype))


@op(name="constant_pad_nd", method=False, out=False)
def constant_pad_nd(input: Array, pad, value=0):
    """``value`` around the last dimensions, as `nn.functional.pad` in its mode "constant". input (*)."""
    return _pad_with(input, pad, value)


def _check_amounts(input: Any, pad: Any, *rest: Any) -> None:
    if not isinstance(pad, (tuple, list)):
        raise ArgumentTypeError(f"pad(): argument 'pad' (position 2) must be tuple of ints, not {type(pad).__name__}")
    integers("pad(): argument 'pad' (position 2)", pad)


@op(namespace="nn.functional", out=False, check=_check_amounts)
def pad(input: Array, pad, mode="constant", value=None):
    """Padding at both ends of the last dimensions; negative amounts cut.

    Args:
        input: (*).
        pad: (last low, last high, last but one low, ...): two numbers for each dimension that is padded, the last one first.
        mode: "constant", or, for the last 1 to 3 dimensions of an input with 2 to 5, "reflect" (mirrored at the end elements), "replicate"
            (the end elements repeated) or "circular" (wrapped around).
        value: what to pad with in mode "constant"; None is 0.

    Returns:
        (*), each padded dimension larger by its two amounts.

    Raises:
        TypeError: amounts that aren't integers.
        RuntimeError: an odd number of amounts, too many, or larger ones than the mode can fill.
        NotImplementedError: an unknown mode, or a rank that the mode doesn't have.
    """
    if mode == "constant":
        return _pad_with(input, pad, 0 if value is None else value)
    if mode not in MODES:
        raise MissingError(f"Unrecognised padding mode {mode}")
    if value is not None and value != 0:
        raise OpError(f'Padding mode "{mode}" doesn\'t take in value argument')
    return pad_by(input, pad, mode)
