"""Copies with the elements in another order, or repeated: flip, roll, rot90, repeat, tile, repeat_interleave."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.call import call
from ..core.dims import wrap_dim, wrap_dims
from ..core.handle import Handle, value_of
from ..core.views import concrete
from ..errors import OpError, OutOfBoundsError
from ..tensor import Tensor
from . import registry
from .declare import Array, function, op
from .found_places import no_size
from .kept import kept
from .reshaping import sizes_of


@kept("flip")
def _flip(dims: tuple[int, ...]) -> Any:
    return lambda x: jnp.flip(x, dims)


@function(method=True)
def flip(input: Tensor, *along: Any, dims: Any = None) -> Tensor:
    """The elements in reverse order along the given dimensions (several numbers, or one sequence ``dims``), as a copy.

    Raises:
        RuntimeError: if a dimension is named twice.

    >>> torch.arange(3).flip(0)
    tensor([2, 1, 0])
    """
    asked = sizes_of(along, "flip", dims)
    ndim = len(value_of(input).shape)
    at = wrap_dims(asked, ndim) if asked else ()
    return call(_flip(at), (input,))


@function(method=True)
def fliplr(input: Tensor) -> Tensor:
    """`flip` along the second dimension. Raises RuntimeError if there is none."""
    if input.dim() < 2:
        raise OpError("Input must be >= 2-d.")
    return flip(input, 1)


@function(method=True)
def flipud(input: Tensor) -> Tensor:
    """`flip` along the first dimension. Raises RuntimeError if there is none."""
    if input.dim() < 1:
        raise OpError("Input must be >= 1-d.")
    return flip(input, 0)


@op()
def roll(input: Array, shifts, dims=()):
    """Elements moved by ``shifts`` along ``dims``, those that fall off coming back at the start. input (*), z (*)."""
    moves = (shifts,) if isinstance(shifts, int) else tuple(shifts)
    at = (dims,) if isinstance(dims, int) else tuple(dims)
    if not moves:
        raise OpError("roll(): `shifts` required")
    if not at and len(moves) == 1:
        return jnp.roll(input.reshape(-1), moves[0]).reshape(input.shape)
    if len(moves) != len(at):
        raise OpError(f"shifts and dimensions must align. shifts: {len(moves)}, dims:{len(at)}")
    if not input.ndim:
        raise OutOfBoundsError(f"Dimension specified as {at[0]} but tensor has no dimensions")
    return jnp.roll(input, moves, tuple(wrap_dim(d, input.ndim) for d in at))


@op()
def rot90(input: Array, k=1, dims=(0, 1)):
    """The plane of two dimensions turned ``k`` times by 90 degrees, from the first towards the second. input (*)."""
    if len(dims) != 2:
        raise OpError(f"expected total rotation dims == 2, but got dims = {len(dims)}")
    if input.ndim < 2:
        raise OpError(f"expected total dims >= 2, but got total dims = {input.ndim}")
    a, b = (wrap_dim(d, input.ndim) for d in dims)
    if a == b:
        raise OpError(f"expected rotation dims to be different, but got dim0 = {dims[0]} and dim1 = {dims[1]}")
    return jnp.rot90(input, k, (a, b))


@kept("repeat")
def _tile(times: tuple[int, ...]) -> Any:
    return lambda x: jnp.tile(x, times)


def repeat(self: Tensor, *sizes: Any, repeats: Any = None) -> Tensor:
    """This Tensor ``sizes[d]`` times along each dimension d (``repeats`` by name); new dimensions come first.

    Raises:
        RuntimeError: if there are fewer numbers than dimensions, or negative ones.

    >>> torch.arange(2).repeat(2, 2)
    tensor([[0, 1, 0, 1],
            [0, 1, 0, 1]])
    """
    times = sizes_of(sizes, "repeat", repeats)
    shape = tuple(value_of(self).shape)
    if len(times) < len(shape):
        raise OpError("Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor")
    if any(t < 0 for t in times):
        full = (1,) * (len(times) - len(shape)) + shape
        wanted = [t * n for t, n in zip(times, full, strict=True)]
        raise OpError(f"Trying to create tensor with negative dimension {min(wanted)}: {wanted}")
    return call(_tile(times), (self,))


registry.add_method("repeat", repeat)


@function(method=True)
def tile(input: Tensor, *numbers: Any, dims: Any = None) -> Tensor:
    """`repeat` in which missing leading numbers count as 1."""
    times = sizes_of(numbers, "tile", dims)
    return repeat(input, (1,) * (len(value_of(input).shape) - len(times)) + times)


@kept("repeat_interleave")
def _repeat_each(times: int, dim: int) -> Any:
    return lambda x: jnp.repeat(x, times, axis=dim)


@kept("repeat_interleave")
def _take(dim: int) -> Any:
    return lambda x, index: jnp.take(x, index, axis=dim)


@kept("repeat_interleave")
def _repeat_to(size: int, dim: int) -> Any:
    return lambda x, repeats: jnp.repeat(x, repeats, axis=dim, total_repeat_length=size)


@kept("repeat_interleave")
def _repeat_indices(size: int) -> Any:
    return lambda repeats: jnp.repeat(np.arange(repeats.size), repeats, total_repeat_length=size)


def _check_size(size: Any, output_size: int | None) -> None:
    if output_size is not None and output_size != size:
        raise OpError(f"repeat_interleave(): allocated size {output_size} does not match required size {size}")


def _counts(repeats: Any) -> np.ndarray:
    """How often each element is repeated. Raises RuntimeError where the values are not known, or negative."""
    if isinstance(repeats, Handle):
        if concrete(repeats) is None:
            raise no_size("repeat_interleave")
        if repeats.dtype.name not in ("int32", "int64"):
            raise OpError("repeats has to be Long or Int tensor")
        counts = repeats._host("repeat_interleave()")
    else:
        counts = np.asarray(repeats, np.int64)
    if (counts < 0).any():
        raise OpError("repeats can not be negative")
    return counts


@function(method=True)
def repeat_interleave(input: Tensor, repeats: Any = None, dim: int | None = None, *, output_size: int | None = None) -> Tensor:
    """Each element, or each slice along ``dim``, repeated in place.

    Args:
        input: (*); flattened first if ``dim`` is None. Alone, it is taken as ``repeats`` of the indices 0, 1, 2, ...
        repeats: a number, or an integer Tensor with one for each element.
        dim: the dimension.
        output_size: the size of the result, where the values of ``repeats`` are not known: in compiled code and vmap. What is
            over is left out; what is missing is filled with the last element.

    Raises:
        RuntimeError: if the number of repeats is not 1 or that of the elements, or one is negative.

    >>> torch.arange(2).repeat_interleave(2)
    tensor([0, 0, 1, 1])
    """
    sized = output_size is not None and isinstance(input if repeats is None else repeats, Handle)
    if repeats is None:
        if sized and concrete(input) is None:
            return call(_repeat_indices(output_size), (input,))
        counts = _counts(input)
        _check_size(counts.sum(), output_size)
        return Tensor._of_numpy(np.repeat(np.arange(input.numel()), counts))
    if dim is None:
        input, dim = input.reshape(-1), 0
    elif not input.dim():
        input = input.reshape(1)
    at = wrap_dim(dim, input.dim())
    if isinstance(repeats, int):
        if repeats < 0:
            raise OpError("Repeats must be non-negative")
        return call(_repeat_each(repeats, at), (input,))
    size = input.shape[at]
    if sized and concrete(repeats) is None and repeats.numel() in (1, size):
        return call(_repeat_to(output_size, at), (input, repeats))
    counts = _counts(repeats if isinstance(repeats, (Handle, Sequence)) else [repeats])
    if counts.size not in (1, size):
        raise OpError(
            f"repeats must have the same size as input along dim, but got repeats.size(0) = {counts.size} and input.size({at}) "
            f"= {size}"
        )
    index = np.repeat(np.arange(size), np.broadcast_to(counts.reshape(-1), (size,)))
    _check_size(len(index), output_size)
    return call(_take(at), (input, index))
