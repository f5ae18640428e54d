"""Pooling over windows of a fixed size: the largest, the mean, the power mean."""

from __future__ import annotations

import math
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..errors import OpError
from . import registry
from .declare import Array, function, op
from .operands import in_float32, is_inexact, refuse
from .pooling_shapes import Geometry, geometry
from .sliding import padded, shifted
from .window_maximum import largest, offsets


def _maximum(
    name: str, n: int, x: Array, kernel: Any, stride: Any, padding: Any, dilation: Any, ceil_mode: bool, indices: bool
) -> Any:
    refuse(name, x, "bc")
    g = geometry(name, x, n, kernel, stride, padding, dilation, ceil_mode)
    places = [offsets(*sizes) for sizes in zip(g.window, g.stride, g.padding, g.dilation, g.counts, strict=True)]
    values, at = largest(x, places, indices)
    return (values, at) if indices else values


_MAX_DOC = """The largest element of each window{}.

    Args:
        input: (N, C, *) or (C, *), with {} dimension{} in the place of *.
        kernel_size, stride, padding, dilation: numbers, or one for each dimension; the stride is kernel_size unless given. Padding counts as
            the lowest value, and is at most half a window.
        ceil_mode: round the number of windows up; none begins beyond the padding.

    Returns:
        {}

    Raises:
        RuntimeError: options out of range, another rank, or windows larger than the input.
    """


def _declare_maximum(n: int) -> Any:
    name, size = f"max_pool{n}d", (n, "s" * (n > 1))

    def values(input: Array, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
        return _maximum(name, n, input, kernel_size, stride, padding, dilation, ceil_mode, False)

    def both(input: Array, kernel_size, stride=(), padding=0, dilation=1, ceil_mode=False):
        return _maximum(name, n, input, kernel_size, stride, padding, dilation, ceil_mode, True)

    found = "the values (N, C, *) and, in the same shape, their flat places in the last dimensions, as int64."
    values.__doc__ = _MAX_DOC.format("", *size, "(N, C, *), of input's dtype. The gradient goes to the first largest element.")
    both.__doc__ = _MAX_DOC.format(", and where it is", *size, found)
    values = op(values, name=name, method=False, out=False)
    both_name = f"{name}_with_indices" if n == 1 else f"_{name}_with_indices"
    both = op(both, name=both_name, method=False, out=False)

    def pool(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        chosen = both if return_indices else values
        return chosen(input, kernel_size, () if stride is None else stride, padding, dilation, ceil_mode)

    def pool_with_indices(
        input: Any,
        kernel_size: Any,
        stride: Any = None,
        padding: Any = 0,
        dilation: Any = 1,
        ceil_mode: bool = False,
        return_indices: bool = False,
    ) -> Any:
        return both(input, kernel_size, () if stride is None else stride, padding, dilation, ceil_mode)

    pool.__doc__ = _MAX_DOC.format(
        "; with return_indices also where it is", *size, "(N, C, *), of input's dtype, or with return_indices " + found
    )
    pool_with_indices.__doc__ = both.__doc__
    pool.__name__, pool_with_indices.__name__ = name, f"{name}_with_indices"
    function("nn.functional", name=name)(pool)
    function("nn.functional", name=f"{name}_with_indices")(pool_with_indices)
    return pool


max_pool1d, max_pool2d, max_pool3d = map(_declare_maximum, (1, 2, 3))


def window_sums(x: Array, g: Geometry) -> Array:
    """The sum of each window, one axis after the other."""
    n = len(g.window)
    for axis in range(x.ndim - 1, x.ndim - n - 1, -1):
        at = axis - x.ndim + n
        k, s, c = g.window[at], g.stride[at], g.counts[at]
        pads = g.pads(x.shape[-n:])[at]
        moved = padded(x, tuple(pads if i == at else (0, 0) for i in range(n)))
        if k == s:
            split = moved.reshape(*moved.shape[:axis], c, k, *moved.shape[axis + 1 :])
            x = split.sum(axis + 1)
            continue
        window, stride = (tuple(v if i == at else 1 for i in range(n)) for v in (k, s))
        counts = tuple(c if i == at else moved.shape[moved.ndim - n + i] for i in range(n))
        x = sum(shifted(moved, window, stride, (1,) * n, counts))
    return x


def _window_counts(space: tuple[int, ...], g: Geometry, count_include_pad: bool) -> np.ndarray:
    """How many elements each window has, for the mean."""
    total = np.ones((), np.int64)
    for size, k, s, p, c in zip(space, g.window, g.stride, g.padding, g.counts, strict=True):
        start = np.arange(c) * s - p
        end = np.minimum(start + k, size + p)
        held = end - start if count_include_pad else np.minimum(end, size) - np.maximum(start, 0)
        total = total[..., None] * held
    return total


def _mean(
    name: str, n: int, x: Array, kernel: Any, stride: Any, padding: Any, ceil_mode: bool, include: bool, divisor: int | None
) -> Array:
    if divisor == 0:
        raise OpError("divisor must be not zero")
    refuse(f"{name}_out_frame" if n == 3 else name, x, "bc")
    g = geometry(name, x, n, kernel, stride, padding, 1, ceil_mode)
    counts = _window_counts(x.shape[x.ndim - n :], g, include) if divisor is None else np.int64(divisor)
    if not is_inexact(x):
        return lax.div(window_sums(x, g), jnp.broadcast_to(counts, (*x.shape[: x.ndim - n], *g.counts)).astype(x.dtype))
    return in_float32(lambda v: window_sums(v, g) / counts.astype(v.dtype))(x)


_MEAN_DOC = """The mean of each window.

    Args:
        input: (N, C, *) or (C, *), with {} dimension{} in the place of *.
        kernel_size, stride, padding: numbers, or one for each dimension; the stride is kernel_size unless given. Padding is zeros, at most half a window.
        ceil_mode: round the number of windows up; none begins beyond the padding.
        count_include_pad: whether zeros of the padding count in the mean.{}

    Returns:
        (N, C, *), of input's dtype.

    Raises:
        RuntimeError: options out of range, another rank, or windows larger than the input.
    """


@op(alias=("nn.functional.avg_pool1d",), method=False, out=False)
def avg_pool1d(input: Array, kernel_size, stride=(), padding=0, ceil_mode=False, count_include_pad=True):
    return _mean("avg_pool1d", 1, input, kernel_size, stride, padding, ceil_mode, count_include_pad, None)


@op(namespace="nn.functional")
def avg_pool2d(input: Array, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    return _mean("avg_pool2d", 2, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


@op(namespace="nn.functional")
def avg_pool3d(input: Array, kernel_size, stride=None, padding=0, ceil_mode=False, count_include_pad=True, divisor_override=None):
    return _mean("avg_pool3d", 3, input, kernel_size, stride, padding, ceil_mode, count_include_pad, divisor_override)


_DIVISOR = "\n        divisor_override: what to divide the sums by instead."
avg_pool1d.__doc__ = _MEAN_DOC.format(1, "", "")
avg_pool2d.__doc__, avg_pool3d.__doc__ = _MEAN_DOC.format(2, "s", _DIVISOR), _MEAN_DOC.format(3, "s", _DIVISOR)


def _declare_power(n: int) -> Any:
    @op(namespace="nn.functional", name=f"_lp_pool{n}d", out=False)
    def mean(input: Array, norm_type, kernel_size, stride, ceil_mode):
        """(sum x^p)^(1/p) over each window, p a float other than 0."""
        g = geometry(f"avg_pool{n}d", input, n, kernel_size, stride, 0, 1, ceil_mode)
        size = np.prod(g.window)

        def power_sums(x: Array) -> Array:
            means = window_sums(x**norm_type, g) / _window_counts(x.shape[x.ndim - n :], g, True).astype(x.dtype)
            kept = jnp.sign(means) * jnp.maximum(jnp.abs(means), 0)
            return (kept * size.astype(x.dtype)) ** (1.0 / norm_type)

        return in_float32(power_sums)(input)

    def pool(input: Any, norm_type: float, kernel_size: Any, stride: Any = None, ceil_mode: bool = False) -> Any:
        norm_type = float(norm_type)
        if math.isinf(norm_type):
            extreme, size = registry.names("nn.functional")[f"max_pool{n}d"], input.abs()
            options = (kernel_size, stride, 0, 1, ceil_mode)
            return extreme(size, *options) if norm_type > 0 else -extreme(-size, *options)
        1.0 / norm_type  # ZeroDivisionError, as PyTorch's
        return mean(input, norm_type, kernel_size, stride, ceil_mode)

    pool.__name__ = pool.__qualname__ = f"lp_pool{n}d"
    pool.__doc__ = f"""Power mean times the window's size: (sum x^p)^(1/p) over each window.

    Args:
        input: (N, C, *) or (C, *), with {n} dimension{"s" * (n > 1)} in the place of *.
        norm_type: p; inf: the largest |x| in each window, -inf: the smallest.
        kernel_size, stride, ceil_mode: as in `avg_pool{n}d`.

    Returns:
        (N, C, *), of input's dtype.

    Raises:
        RuntimeError: options out of range, another rank, or windows larger than the input.
        ZeroDivisionError: if p is 0.
    """
    function("nn.functional")(pool)
    return pool


lp_pool1d, lp_pool2d, lp_pool3d = map(_declare_power, (1, 2, 3))
