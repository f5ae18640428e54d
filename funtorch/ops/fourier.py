"""Discrete Fourier transforms, along one or several dimensions (namespace fft).

All of them are one of three: complex to complex, real to the half of the spectrum that tells the other half, and back from
that. A Hermitian signal's transforms (hfft, ihfft) are the latter two with the roles of time and frequency changed.
"""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import jax.numpy as jnp
import numpy as np

from .. import dtypes
from ..core.dims import wrap_dim, wrap_dims
from ..dtypes import as_dtype
from ..errors import OpError, OutOfBoundsError
from .declare import Array, function, op
from .operands import is_floating, is_inexact, kind_of
from .placing import place, size_of, to_out


def _scale(x: Array, count: int, norm: str | None, inverse: bool) -> Array:
    """``x`` divided by the number of points, by its root or not at all."""
    if norm == "ortho":
        return x / np.sqrt(count).astype(x.real.dtype)
    return x / np.asarray(count, x.real.dtype) if (norm or "backward") == ("backward" if inverse else "forward") else x


def _checked(name: str, x: Array, norm: str | None, real: bool) -> Array:
    """The input as floats or complex numbers. Raises RuntimeError for options and dtypes that there aren't."""
    if norm not in (None, "forward", "backward", "ortho"):
        raise OpError(f'Invalid normalization mode: "{norm}"')
    if real and jnp.iscomplexobj(x):
        if name == "ihfftn":
            raise OpError(f"Only supports floating-point dtypes, but found: {kind_of(x)}")
        what = "real-valued" if name == "rfftn" else "real"
        raise OpError(f"{name} expects a {what} input tensor, but got {kind_of(x)}")
    if is_floating(x) and x.dtype.itemsize <= 2:
        raise OpError(f"Unsupported dtype {kind_of(x)}")
    return x if is_inexact(x) else x.astype(dtypes.default().numpy)


def _axis(x: Array, dim: int) -> int:
    if not x.ndim:
        raise OutOfBoundsError(f"Dimension specified as {dim} but tensor has no dimensions")
    return wrap_dim(dim, x.ndim)


def _fitted(x: Array, axis: int, count: int) -> Array:
    """``x`` cut or filled with zeros at its end to ``count`` elements along an axis."""
    size = x.shape[axis]
    if size > count:
        return x[(slice(None),) * axis + (slice(count),)]
    return x if size == count else jnp.pad(x, [(0, count - size if d == axis else 0) for d in range(x.ndim)])


def _points(count: int) -> int:
    if count < 1:
        raise OpError(f"Invalid number of data points ({count}) specified")
    return count


def _complex(x: Array, axes: tuple[int, ...], inverse: bool) -> Array:
    """Complex to complex, without a factor."""
    if not jnp.iscomplexobj(x):
        x = x.astype(jnp.result_type(x.dtype, np.complex64))
    for axis in axes:
        x = jnp.fft.ifft(x, axis=axis, norm="forward") if inverse else jnp.fft.fft(x, axis=axis)
    return x


def _back(x: Array, axis: int, count: int) -> Array:
    """From half a spectrum to ``count`` real values, without a factor."""
    if not jnp.iscomplexobj(x):
        x = x.astype(jnp.result_type(x.dtype, np.complex64))
    return jnp.fft.irfft(_fitted(x, axis, count // 2 + 1), count, axis=axis, norm="forward")


def _one(name: str, x: Array, n: int | None, dim: int, norm: str | None) -> Array:
    """A transform along one dimension."""
    x = _checked(name, x, norm, name in ("rfft", "ihfft"))
    axis = _axis(x, dim)
    to_real = name in ("irfft", "hfft")
    count = _points((2 * (x.shape[axis] - 1) if to_real else x.shape[axis]) if n is None else n)
    inverse = name in ("ifft", "irfft", "ihfft")
    if to_real:
        z = _back(jnp.conj(x) if name == "hfft" else x, axis, count)
    elif name in ("rfft", "ihfft"):
        z = jnp.fft.rfft(_fitted(x, axis, count), axis=axis)
        z = jnp.conj(z) if name == "ihfft" else z
    else:
        z = _complex(_fitted(x, axis, count), (axis,), inverse)
    return _scale(z, count, norm, inverse)


def _sizes(x: Array, s: Any, dim: Any) -> tuple[list[int], list[int]]:
    """The dimensions to transform, and how many points each should have (-1: as many as there are)."""
    s = (s,) if isinstance(s, int) else s
    dim = (dim,) if isinstance(dim, int) else dim
    if dim is not None:
        dims = [_axis(x, d) for d in dim]
        if len(set(dims)) != len(dims):
            raise OpError("FFT dims must be unique")
        if s is not None and len(s) != len(dims):
            raise OpError("When given, dim and shape arguments must have the same length")
    else:
        if s is not None and len(s) > x.ndim:
            raise OpError(f"Got shape with {len(s)} values but input tensor only has {x.ndim} dimensions.")
        dims = list(range(x.ndim - (x.ndim if s is None else len(s)), x.ndim))
    return dims, [-1] * len(dims) if s is None else list(s)


def _several(name: str, x: Array, s: Any, dim: Any, norm: str | None) -> Array:
    """A transform along several dimensions; real ones along the last of them."""
    kind = name.rstrip("n2")
    x = _checked(name.replace("2", "n"), x, norm, kind in ("rfft", "ihfft"))
    dims, sizes = _sizes(x, s, dim)
    if kind in ("rfft", "irfft", "hfft", "ihfft") and not dims:
        raise OpError(f"{name} must transform at least one axis")
    to_real, inverse = kind in ("irfft", "hfft"), kind in ("ifft", "irfft", "ihfft")
    counts = [x.shape[d] if size == -1 else size for d, size in zip(dims, sizes, strict=True)]
    if to_real and sizes[-1] == -1:
        counts[-1] = 2 * (x.shape[dims[-1]] - 1)
    for d, count in zip(dims, map(_points, counts), strict=True):
        if not (to_real and d == dims[-1]):
            x = _fitted(x, d, count)
    if to_real:
        x = _complex(x, tuple(dims[:-1]), inverse)
        z = _back(jnp.conj(x) if kind == "hfft" else x, dims[-1], counts[-1])
    elif kind in ("rfft", "ihfft"):
        z = jnp.fft.rfft(x, axis=dims[-1])
        z = _complex(jnp.conj(z) if kind == "ihfft" else z, tuple(dims[:-1]), inverse)
    else:
        z = _complex(x, tuple(dims), inverse)
    return _scale(z, prod(counts), norm, inverse)


_WHAT = {
    "fft": ("The discrete Fourier transform", "complex"),
    "ifft": ("The inverse of `fft`", "complex"),
    "rfft": ("The first half of the Fourier transform of real values, which tells the other half", "complex, n // 2 + 1 values"),
    "irfft": ("The inverse of `rfft`: real values from half a spectrum", "real, n values (2 (m - 1) of m unless given)"),
    "hfft": (
        "The Fourier transform, real, of a Hermitian signal of which half is given",
        "real, n values (2 (m - 1) of m unless given)",
    ),
    "ihfft": ("The inverse of `hfft`: half of a Hermitian signal", "complex, n // 2 + 1 values"),
}
_DOC = """{}{}.

    Args:
        input: (*), of floats{}.
        {}
        norm: "forward" or "backward": that transform is divided by the number of points; "ortho": both by its root. None is "backward".

    Returns:
        (*), {}{}.

    Raises:
        RuntimeError: no points, an unknown norm, or a dtype that there is no transform of. IndexError: a dimension out of range.
    """


def _document(fn: Callable, kind: str, several: bool) -> None:
    what, gives = _WHAT[kind]
    where = " along dimensions" if several else ""
    complex_too = "" if kind in ("rfft", "ihfft") else " or complex numbers"
    if several:
        options = "s: how many points along each dimension: the input is cut or filled with zeros; -1 leaves it.\n        dim: the dimensions."
    else:
        options = "n: how many points: the input is cut or filled with zeros.\n        dim: the dimension."
    fn.__doc__ = _DOC.format(
        what, where, complex_too, options, gives, " along the last of them" if several and "half" in what else ""
    )


def _declare(kind: str) -> None:
    def one(input: Array, n=None, dim=-1, norm=None):
        return _one(kind, input, n, dim, norm)

    def two(input: Array, s=None, dim=(-2, -1), norm=None):
        return _several(f"{kind}2", input, s, dim, norm)

    def several(input: Array, s=None, dim=None, norm=None):
        return _several(f"{kind}n", input, s, dim, norm)

    for fn, name, many in ((one, kind, False), (two, f"{kind}2", True), (several, f"{kind}n", True)):
        _document(fn, kind, many)
        op(fn, namespace="fft", name=name)


for _kind in _WHAT:
    _declare(_kind)


@op(namespace="fft", out=False)
def fftshift(input: Array, dim=None):
    """The frequency 0 moved from the front of the dimensions (all if None) to their middle. input (*), z (*)."""
    dims = wrap_dims(dim, input.ndim)
    return jnp.roll(input, [input.shape[d] // 2 for d in dims], dims)


@op(namespace="fft", out=False)
def ifftshift(input: Array, dim=None):
    """The frequency 0 moved from the middle of the dimensions (all if None) to their front. input (*), z (*)."""
    dims = wrap_dims(dim, input.ndim)
    return jnp.roll(input, [(input.shape[d] + 1) // 2 for d in dims], dims)


def _frequencies(at: np.ndarray, n: int, d: float, options: tuple) -> Any:
    out, dtype, device, requires_grad = options
    kind = dtypes.default() if dtype is None else as_dtype(dtype)
    return to_out(out, place((at / (n * d)).astype(kind.numpy) if n else np.zeros(0, kind.numpy), device, requires_grad), device)


@function("fft")
def fftfreq(
    n: int,
    d: float = 1.0,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """The frequencies of `fft`'s values: (n), for points at distance ``d``. Raises RuntimeError for n < 0."""
    (n,) = size_of((n,), "fftfreq")
    at = np.arange(n)
    return _frequencies(np.where(at < (n + 1) // 2, at, at - n), n, d, (out, dtype, device, requires_grad))


@function("fft")
def rfftfreq(
    n: int,
    d: float = 1.0,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
) -> Any:
    """The frequencies of `rfft`'s values: (n // 2 + 1), for points at distance ``d``. Raises RuntimeError for n < 0."""
    (n,) = size_of((n,), "rfftfreq")
    return _frequencies(np.arange(n // 2 + 1), max(n, 1), d, (out, dtype, device, requires_grad))
