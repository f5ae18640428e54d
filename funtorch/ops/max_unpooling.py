"""What max pooling took, put back in its place; and max pooling over windows at random places."""

from __future__ import annotations

from math import prod
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.handle import value_of
from ..core.views import of_all_lanes
from ..errors import ArgumentValueError, OpError, OutOfBoundsError
from .declare import Array, function, op
from .operands import kind_of
from .sliding import spread


@op(namespace="nn.functional", name="_max_unpool", out=False)
def _max_unpool(input: Array, indices: Array, size):
    """Elements (N, C, *) put in their flat places of an image of ``size``, zeros elsewhere."""
    lead = input.shape[: input.ndim - len(size)]
    at = indices.reshape(prod(lead), prod(indices.shape[len(lead) :]))
    rows = jnp.arange(prod(lead))[:, None]
    flat = jnp.zeros((prod(lead), prod(size)), input.dtype)

    @jax.custom_jvp
    def put(x: Array) -> Array:
        return flat.at[rows, at].set(x)

    @put.defjvp
    def _(primals: tuple, tangents: tuple) -> tuple:
        # Of elements that share a place only one is seen, but the gradient is read there for each of them, as PyTorch does.
        return put(*primals), flat.at[rows, at].add(*tangents)

    return put(input.reshape(at.shape)).reshape(*lead, *size)


def _image_size(shape: tuple, n: int, kernel: tuple, stride: tuple, padding: tuple, wanted: Any) -> tuple[int, ...]:
    """The size that max pooling may have come from. Raises ValueError for one that it can't."""
    usual = tuple((m - 1) * s + k - 2 * p for m, k, s, p in zip(shape[len(shape) - n :], kernel, stride, padding, strict=True))
    if wanted is None:
        return usual
    sizes = tuple(wanted)
    if len(sizes) == n + 2:
        sizes = sizes[2:]
    if len(sizes) != n:
        raise ArgumentValueError(
            f"output_size should be a sequence containing {n} or {n + 2} elements, but it has a length of '{len(sizes)}'"
        )
    for d, (size, near, s) in enumerate(zip(sizes, usual, stride, strict=True)):
        if not near - s < size < near + s:
            raise ArgumentValueError(f'invalid output_size "{sizes}" (dim {d} must be between {near - s} and {near + s})')
    return sizes


def _check_unpool(name: str, n: int, input: Any, indices: Any, stride: tuple) -> None:
    shape, at = value_of(input).shape, value_of(indices)
    if at.dtype != np.int64:
        raise OpError(f"elements in indices should be type int64 but got: {kind_of(at)}")
    if n == 3 and min(stride) <= 0:
        raise OpError(f"strides should be greater than zero, but got stride: {list(stride)}")
    if len(shape) not in (n + 1, n + 2):
        ranks = f"{n + 1}d or {n + 2}d"
        raise OpError(f"Input to {name} should be a {ranks} Tensor, but got a tensor with {len(shape)} dimensions.")
    if tuple(at.shape) != tuple(shape):
        raise OpError(
            f"Expected shape of indices to be same as that of the input tensor ({list(shape)}) but got indices tensor with shape: {list(at.shape)}"
        )
    if 0 in shape[len(shape) - n - 1 :]:
        raise OpError(
            f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes {list(shape)}"
        )


def _declare(n: int) -> Any:
    def unpool(input: Any, indices: Any, kernel_size: Any, stride: Any = None, padding: Any = 0, output_size: Any = None) -> Any:
        kernel = spread(kernel_size, n)
        strides = kernel if stride is None else spread(stride, n)
        _check_unpool(f"max_unpooling{max(n, 2)}d", n, input, indices, strides)
        size = _image_size(value_of(input).shape, n, kernel, strides, spread(padding, n), output_size)
        found = of_all_lanes(indices)
        if found is not None and ((found < 0) | (found >= prod(size))).any():
            wrong = found[(found < 0) | (found >= prod(size))].flat[0]
            raise OpError(f"Found an invalid max index: {wrong} (output volumes are of size {'x'.join(map(str, size))})")
        return _max_unpool(input, indices, size)

    unpool.__name__ = unpool.__qualname__ = f"max_unpool{n}d"
    unpool.__doc__ = f"""The elements that `max_pool{n}d` took in their places of an image, zeros elsewhere.

    Args:
        input: (N, C, *) or (C, *).
        indices: of the same shape, int64: the flat places that `max_pool{n}d` gives.
        kernel_size, stride, padding: those of the pooling.
        output_size: the image's size, where several are possible.

    Returns:
        (N, C, *image size), of input's dtype.

    Raises:
        ValueError: an ``output_size`` that pooling can't have come from.
        RuntimeError: other shapes or dtypes, or places outside of the image.
    """
    function("nn.functional")(unpool)
    return unpool


max_unpool1d, max_unpool2d, max_unpool3d = map(_declare, (1, 2, 3))


def _starts(samples: Array, size: int, count: int, window: int) -> Array:
    """Where windows begin: (*, count), from numbers (*) in [0, 1)."""
    last = jnp.full((*samples.shape, 1), size - window, np.int64)
    if count == 1:
        return last
    alpha = np.asarray((size - window) / (count - 1)).astype(samples.dtype)
    at = np.arange(count - 1).astype(samples.dtype)
    found = ((at + samples[..., None]) * alpha).astype(np.int64) - (samples[..., None] * alpha).astype(np.int64)
    return jnp.concatenate([found, last], -1)


@op(namespace="nn.functional", name="_fractional_max_pool", out=False)
def _fractional_max_pool(input: Array, samples: Array, window, size):
    """The largest elements of windows at random places, and their flat places."""
    n = len(window)
    unbatched = input.ndim == n + 1
    x = input[None] if unbatched else input
    samples = samples[: x.shape[0]]
    # Samples name the last of two dimensions first, but three in their order.
    order = (1, 0) if n == 2 else range(n)
    flat: Any = jnp.zeros((*x.shape[:2], *[1] * (2 * n)), np.int64)
    for d, (o, k, count) in enumerate(zip(order, window, size, strict=True)):
        length = x.shape[2 + d]
        at = _starts(samples[..., o], length, count, k)[..., None] + np.arange(k)  # (N, C, count, k)
        shape = [1] * (2 * n)
        shape[d], shape[n + d] = count, k
        flat = flat * length + at.reshape(*x.shape[:2], *shape)
    flat = flat.reshape(*x.shape[:2], prod(size), prod(window))
    values = jnp.take_along_axis(x.reshape(*x.shape[:2], 1, prod(x.shape[2:])), flat, axis=3)
    best = jnp.argmax(values, axis=3, keepdims=True)
    full = (*x.shape[:2], *size)
    largest, places = (jnp.take_along_axis(a, best, axis=3).reshape(full) for a in (values, flat))
    return (largest[0], places[0]) if unbatched else (largest, places)


def _fractional_size(name: str, space: tuple, n: int, output_size: Any, output_ratio: Any) -> tuple[int, ...]:
    if output_size is None and output_ratio is None:
        raise ArgumentValueError(f"{name} requires specifying either an output_size or an output_ratio")
    if output_size is None:
        ratios = output_ratio if hasattr(output_ratio, "__iter__") else (output_ratio,) * n
        return tuple(int(length * ratio) for length, ratio in zip(space, ratios, strict=True))
    return spread(output_size, n)


def _check_fractional(name: str, shape: tuple, n: int, window: tuple, size: tuple, samples: tuple | None) -> None:
    if len(shape) < n + 1:
        raise OutOfBoundsError(
            f"Dimension out of range (expected to be in range of [{-len(shape)}, {len(shape) - 1}], but got {-n - 1})"
        )
    batched = (1, *shape) if len(shape) == n + 1 else shape
    if len(batched) != n + 2 or 0 in batched[1:]:
        raise OpError(f"{name}(): Expected {n + 1}D or {n + 2}D tensor with non-zero dimensions, but got {list(shape)}")
    for side, k, count, length in zip(("time", "height", "width")[3 - n :], window, size, batched[2:], strict=True):
        if count + k - 1 > length:
            raise OpError(f"{name}(): pool {side} {k} too large relative to input {side} {length}")
    if samples is None:
        return
    if len(samples) != 3 or samples[0] < batched[0]:
        raise OpError("Expect _random_samples.size(0) no less then input batch size.")
    if samples[1] != batched[1]:
        raise OpError("Expect _random_samples.size(1) equals to input channel size.")
    if samples[2] != n:
        raise OpError(f"Expect _random_samples.size(2) equals to {n}; got {samples[2]}.")


def _declare_fractional(n: int) -> None:
    name = f"fractional_max_pool{n}d"

    def both(
        input: Any,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> Any:
        from .random import rand

        shape, window = tuple(value_of(input).shape), spread(kernel_size, n)
        size = _fractional_size(name, shape[len(shape) - n :], n, output_size, output_ratio)
        given = None if _random_samples is None else tuple(value_of(_random_samples).shape)
        _check_fractional(name, shape, n, window, size, given)
        if _random_samples is None:
            batch = 1 if len(shape) == n + 1 else shape[0]
            _random_samples = rand(batch, shape[-n - 1], n, dtype=input.dtype, device=input.device)
        return _fractional_max_pool(input, _random_samples, window, size)

    def pool(
        input: Any,
        kernel_size: Any,
        output_size: Any = None,
        output_ratio: Any = None,
        return_indices: bool = False,
        _random_samples: Any = None,
    ) -> Any:
        found = both(input, kernel_size, output_size, output_ratio, return_indices, _random_samples)
        return found if return_indices else found[0]

    pool.__name__, both.__name__ = name, f"{name}_with_indices"
    pool.__doc__ = f"""The largest element of windows at random places that cover the input (Graham 2014).

    Args:
        input: (N, C, *) or (C, *), with {n} dimensions in the place of *.
        kernel_size: of the windows: a number, or one for each dimension.
        output_size: how many windows there are along each dimension.
        output_ratio: in place of output_size: how many there are for each element.
        return_indices: also give the flat places.

    Returns:
        (N, C, *output_size), of input's dtype; with return_indices also the places, as int64.

    Raises:
        ValueError: neither size nor ratio.
        RuntimeError: windows that the input has no room for.
    """
    both.__doc__ = pool.__doc__
    function("nn.functional", name=name)(pool)
    function("nn.functional", name=f"{name}_with_indices")(both)


_declare_fractional(2)
_declare_fractional(3)
