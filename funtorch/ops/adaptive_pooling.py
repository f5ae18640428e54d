"""Pooling to a given size: window i of n along a dimension of m elements holds those from floor(i m / n) to ceil((i + 1) m / n)."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..errors import ArgumentValueError, OpError
from .declare import Array, function, op
from .operands import in_float32, refuse
from .sliding import Sizes
from .window_maximum import largest


def _bounds(size: int, count: int) -> tuple[np.ndarray, np.ndarray]:
    at = np.arange(count)
    return at * size // count, -(-(at + 1) * size // count)


def _target(name: str, x: Array, output_size: Any, n: int) -> Sizes:
    """The size to pool to. Raises RuntimeError for another number of sizes, negative ones, or another rank."""
    space = x.shape[x.ndim - n :]
    sizes = (output_size,) * n if output_size is None or isinstance(output_size, int) else tuple(output_size)
    mean = "avg" in name
    if len(sizes) != n:
        complaint = f"{name}: output_size must be {n}" if mean else f"{name}(): internal error: output_size.size() must be {n}"
        raise OpError(complaint)
    if not isinstance(output_size, int) and x.ndim <= n and n > 1:
        raise ArgumentValueError(f"Input dimension should be at least {n + 1}")
    _check(name, x, n)
    target: Sizes = tuple(size if wanted is None else wanted for size, wanted in zip(space, sizes, strict=True))
    if min(target) < 0:
        raise OpError(
            f"{name}: elements of output_size must be greater than or equal to 0 but received {{{', '.join(map(str, target))}}}"
        )
    return target


def _check(name: str, x: Array, n: int) -> None:
    if x.ndim not in (n + 1, n + 2):
        if n == 1:
            raise OpError(
                f"Expected 2 to 3 dimensions, but got {x.ndim}-dimensional tensor for argument #1 'self' (while checking arguments for {name})"
            )
        raise OpError(f"{name}(): Expected {n + 1}D or {n + 2}D tensor, but got{'' if 'avg' in name else ':'} {list(x.shape)}")
    for axis in range(x.ndim - n, x.ndim):
        if not x.shape[axis]:
            raise OpError(
                f"{name}(): Expected input to have non-zero size for non-batch dimensions, but input has sizes {list(x.shape)} "
                f"with dimension {axis} being empty"
            )


def _means(x: Array, sizes: Sizes) -> Array:
    for axis, count in enumerate(sizes, x.ndim - len(sizes)):
        size = x.shape[axis]
        if count and size % count == 0:
            x = x.reshape(*x.shape[:axis], count, size // count, *x.shape[axis + 1 :]).mean(axis + 1)
            continue
        start, end = _bounds(size, count)
        at = np.arange(size)
        inside = (at >= start[:, None]) & (at < end[:, None])
        weights = (inside / np.maximum(end - start, 1)[:, None]).astype(x.dtype)  # (count, size)
        x = jnp.moveaxis(jnp.tensordot(x, weights, axes=(axis, 1)), -1, axis)
    return x


def _largest(x: Array, sizes: Sizes, indices: bool) -> Any:
    places = []
    for size, count in zip(x.shape[x.ndim - len(sizes) :], sizes, strict=True):
        start, end = _bounds(size, count)
        # Windows differ in length: the last element of a short one is seen again, and doesn't win over itself.
        longest = int((end - start).max()) if count else 1
        places.append([np.minimum(start + o, end - 1) for o in range(longest)])
    if 0 in sizes:
        empty = (*x.shape[: x.ndim - len(sizes)], *sizes)
        return (jnp.zeros(empty, x.dtype), jnp.zeros(empty, np.int64)) if indices else jnp.zeros(empty, x.dtype)
    values, at = largest(x, places, indices)
    return (values, at) if indices else values


_DOC = """{} of windows that share the input evenly: window i of n along a dimension of m elements is floor(i m / n) to ceil((i + 1) m / n).

    Args:
        input: (N, C, *) or (C, *), with {} dimension{} in the place of *; of floats.
        output_size: a number, or one for each dimension; None keeps the input's.{}

    Returns:
        {}

    Raises:
        RuntimeError: another rank, an empty dimension, or other sizes than {} non-negative ones.
        NotImplementedError: integers.
    """


def _declare_mean(n: int) -> Any:
    name = f"adaptive_avg_pool{n}d"

    def pool(input: Array, output_size):
        sizes = _target(name, input, output_size, n)
        refuse(f"adaptive_avg_pool{max(n, 2)}d", input, "bic")
        return in_float32(lambda x: _means(x, sizes))(input)

    pool.__doc__ = _DOC.format("Means", n, "s" * (n > 1), "", "(N, C, *output_size), of input's dtype.", n)
    if n == 1:
        return op(pool, name=name, alias=(f"nn.functional.{name}",), method=False, out=False)
    return op(pool, namespace="nn.functional", name=name, out=False)


def _declare_maximum(n: int) -> Any:
    name = f"adaptive_max_pool{n}d"

    def values(input: Array, output_size):
        sizes = _target(name, input, output_size, n)
        refuse(f"adaptive_max_pool{max(n, 2)}d", input, "bic")
        return _largest(input, sizes, False)

    def both(input: Array, output_size):
        sizes = _target(name, input, output_size, n)
        refuse(f"adaptive_max_pool{max(n, 2)}d", input, "bic")
        return _largest(input, sizes, True)

    found = "(N, C, *output_size), of input's dtype{}, and in the same shape their flat places in the last dimensions, as int64."
    both.__doc__ = _DOC.format("Largest elements, and their places,", n, "s" * (n > 1), "", found.format(""), n)
    values.__doc__ = _DOC.format("Largest elements", n, "s" * (n > 1), "", "(N, C, *output_size), of input's dtype.", n)
    values = op(values, namespace="nn.functional", name=f"_{name}", out=False)
    home = "torch" if n == 1 else "nn.functional"
    both = op(both, namespace=home, name=name if n == 1 else f"_{name}_with_indices", method=False, out=False)

    def pool(input: Any, output_size: Any, return_indices: bool = False) -> Any:
        return (both if return_indices else values)(input, output_size)

    def pool_with_indices(input: Any, output_size: Any, return_indices: bool = False) -> Any:
        return both(input, output_size)

    option = "\n        return_indices: also give the places."
    pool.__doc__ = _DOC.format("Largest elements", n, "s" * (n > 1), option, found.format("; with return_indices"), n)
    pool_with_indices.__doc__ = both.__doc__
    pool.__name__, pool_with_indices.__name__ = name, f"{name}_with_indices"
    function("nn.functional", name=name)(pool)
    function("nn.functional", name=f"{name}_with_indices")(pool_with_indices)
    return pool


adaptive_avg_pool1d, adaptive_avg_pool2d, adaptive_avg_pool3d = map(_declare_mean, (1, 2, 3))
adaptive_max_pool1d, adaptive_max_pool2d, adaptive_max_pool3d = map(_declare_maximum, (1, 2, 3))
