"""Slices written to the places of an index vector (index_add, index_copy, index_fill, index_reduce), and elements to places."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.call import call
from ..core.dims import wrap_dim
from ..core.handle import Handle, value_of
from ..core.selected import choosing
from ..errors import ArgumentTypeError, OpError, OutOfBoundsError
from ..tensor import Tensor
from .assignment import TYPE_NAMES
from .declare import Array, function, op
from .filling import fill_value
from .gathering import INDEX, check_flat, extent, kind_of, outside
from .kept import kept
from .picking import added
from .picking import put as put_at
from .scattering import spread
from .segments import reduced


def _along(dim: int, index: Any) -> tuple:
    return (slice(None),) * dim + (index,)


def _check_slices(name: str, input: Any, dim: int, index: Any, source: Any, error: Any, words: str) -> None:
    """Checks of the ops that write slices of ``source`` to the places ``index`` of dimension ``dim``."""
    if len(value_of(index).shape) > 1:
        raise OutOfBoundsError(f"{name}(): Index is supposed to be a vector, but got dim: {index.dim()}")
    if value_of(index).dtype not in INDEX:
        raise OpError(f"{name}(): Expected dtype int32/int64 for index")
    have, given = kind_of(input), kind_of(source)
    if have != given:
        raise OpError(f"{name}(): self ({TYPE_NAMES[have]}) and source ({TYPE_NAMES[given]}) must have the same scalar type")
    shape, sent = value_of(input).shape, value_of(source).shape
    at, count = wrap_dim(dim, len(shape)), index.numel()
    if (sent[at] if len(sent) > at else 1) != count:
        size = extent(source, dim)
        raise error(f"{name}(): Number of indices ({count}) should be equal to source.size(dim): ({size}), for dim: {at}")
    if shape and sent and shape[:at] + shape[at + 1 :] != sent[:at] + sent[at + 1 :]:
        raise OpError(
            "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = "
            f"{list(shape)} source.shape = {list(sent)}"
        )
    wrong = outside(index, extent(input, dim))
    if wrong is not None:
        raise error(words.format(wrong, at, extent(input, dim)))


_BOUNDS = "index {} is out of bounds for dimension {} with size {}"


def _check_add(input: Any, dim: int, index: Any, source: Any, alpha: Any) -> None:
    _check_slices("index_add_", input, dim, index, source, OpError, _BOUNDS)


@op(inplace=True, check=_check_add)
def index_add(input: Array, dim, index: Array, source: Array, *, alpha=1):
    """Slices added to the places ``index`` of dimension ``dim``. input (*), index (n), source with size n along it, z (*).

    Raises RuntimeError for an index out of bounds, other sizes or dtypes.
    """
    values = source if alpha == 1 else (source * np.array(alpha).astype(source.dtype)).astype(source.dtype)
    if input.ndim == 0:
        return added(input.reshape(1).at[index.reshape(-1)], values.reshape(-1)).reshape(())
    at = input.at[_along(wrap_dim(dim, input.ndim), index.reshape(-1))]
    return added(at, values if values.ndim else values.reshape(1))


def _check_copy(input: Any, dim: int, index: Any, source: Any) -> None:
    _check_slices("index_copy_", input, dim, index, source, OutOfBoundsError, "index_copy_(): " + _BOUNDS)


@op(inplace=True, check=_check_copy)
def index_copy(input: Array, dim, index: Array, source: Array):
    """Slices written to the places ``index`` of dimension ``dim``. Raises IndexError for an index out of bounds."""
    if input.ndim == 0:
        return source.reshape(())
    at = _along(wrap_dim(dim, input.ndim), index.reshape(-1))
    return choosing(lambda x, y: x.at[at].set(y), input, source if source.ndim else source.reshape(1))


@kept("index_fill")
def _index_fill(dim: int) -> Any:
    def pure(x: Any, index: Any, value: Any) -> Any:
        if x.ndim == 0:
            return jnp.broadcast_to(value, ()).astype(x.dtype)
        at = _along(dim, index.reshape(-1))
        return choosing(lambda x, y: x.at[at].set(y), x, value.astype(x.dtype))

    return pure


@function(method=True, inplace=True)
def index_fill(input: Tensor, dim: int, index: Tensor, value: Any) -> Tensor:
    """A number, or a 0-dim Tensor, at the places ``index`` of dimension ``dim``; negative ones count from the end.

    Raises:
        IndexError: for an index out of bounds, or not a vector.
        RuntimeError: for a value with dimensions.
    """
    at = wrap_dim(dim, input.dim())
    if index.dim() > 1:
        raise OutOfBoundsError("index_fill_(): Index is supposed to be a vector")
    wrong = outside(index, extent(input, dim), negative=True)
    if wrong is not None:
        raise OutOfBoundsError(_BOUNDS.format(wrong, at, extent(input, dim)))
    if isinstance(value, Handle) and value.dim():
        raise OpError(f"index_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.dim()} dimension(s).")
    return call(_index_fill(at), (input, index, fill_value(value, input.dtype, "index_fill_")))


def _check_reduce(input: Any, dim: int, index: Any, source: Any, reduce: str, include_self: bool) -> None:
    if reduce not in ("prod", "mean", "amax", "amin"):
        raise OpError(f"index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got {reduce}.")
    _check_slices("index_reduce_", input, dim, index, source, OutOfBoundsError, "index out of range in self")


@op(inplace=True, check=_check_reduce)
def index_reduce(input: Array, dim, index: Array, source: Array, reduce, *, include_self=True):
    """Slices reduced into the places ``index`` of dimension ``dim``: "prod", "mean", "amax" or "amin".

    Raises RuntimeError for another ``reduce``, IndexError for an index out of bounds.
    """
    x = input if input.ndim else input.reshape(1)
    values = source if source.ndim else source.reshape(1)
    at = wrap_dim(dim, x.ndim)
    index = index.reshape([-1 if d == at else 1 for d in range(x.ndim)])
    places = spread(jnp.broadcast_to(index, values.shape), at)
    return reduced(x, places, values, reduce, include_self).reshape(input.shape)


@function(method=True, inplace=True)
def index_put(input: Tensor, indices: Any, values: Tensor, accumulate: bool = False) -> Tensor:
    """A copy with ``values`` at the places that a tuple of index Tensors names, as in ``x[indices] = values``.

    Args:
        input: (*).
        indices: a tuple of index Tensors or masks, one for each leading dimension.
        values: of input's dtype, broadcast to what the indices pick.
        accumulate: whether to add; then places named twice count twice.

    Raises:
        IndexError: for an index out of bounds, or a mask of another shape.
        RuntimeError: if the values do not broadcast or are of another dtype.

    >>> torch.zeros(2).index_put((torch.tensor([1, 1]),), torch.ones(()), accumulate=True)
    tensor([0., 2.])
    """
    if not isinstance(indices, (tuple, list)):
        found = type(indices).__name__
        raise ArgumentTypeError(f"index_put_(): argument 'indices' (position 1) must be tuple of Tensors, not {found}")
    if kind_of(input) != kind_of(values):
        raise OpError(
            f"Index put requires the source and destination dtypes match, got {TYPE_NAMES[kind_of(input)]} for the "
            f"destination and {TYPE_NAMES[kind_of(values)]} for the source."
        )
    pickers: list[Any] = []
    for picker in indices:
        width = picker.dim() if picker is not None and picker.dtype.name in ("bool", "uint8") else 1
        pickers += [picker, *[None] * (width - 1)]
    if len(pickers) > input.dim():
        raise OutOfBoundsError(f"too many indices for tensor of dimension {input.dim()} (got {len(pickers)})")
    pickers += [None] * (input.dim() - len(pickers))
    return put_at(input, pickers, values, accumulate)


def _check_put(input: Any, index: Any, source: Any, accumulate: bool) -> None:
    if index.numel() != source.numel():
        raise OutOfBoundsError(
            f"put_(): Expected source and index to have the same number of elements, but got source.numel() = "
            f"{source.numel()}, index.numel() = {index.numel()}"
        )
    if kind_of(index) != "int64":
        raise OpError(f"put_(): Expected a long tensor for index, but got {TYPE_NAMES[kind_of(index)]}")
    if kind_of(input) != kind_of(source):
        raise OpError(
            f"put_(): self and source expected to have the same dtype, but got self.dtype = {TYPE_NAMES[kind_of(input)]} and "
            f"source.dtype = {TYPE_NAMES[kind_of(source)]}"
        )
    check_flat(index, input.numel())


@op(inplace=True, check=_check_put)
def put(input: Array, index: Array, source: Array, accumulate=False):
    """``source`` at the places ``index`` of the flattened input; added to what is there if ``accumulate``. z (*).

    Raises IndexError for an index out of range, or where index and source differ in length.
    """
    flat, at, values = input.reshape(-1), index.reshape(-1), source.reshape(-1)
    z = added(flat.at[at], values) if accumulate else choosing(lambda x, y: x.at[at].set(y), flat, values)
    return z.reshape(input.shape)
