"""Elements read at given places: gather, index_select, take, take_along_dim, and where the true ones are (nonzero)."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.call import call
from ..core.dims import wrap_dim
from ..core.handle import form_of
from ..errors import FuntorchError, OpError, OutOfBoundsError, TracedValueError
from ..tensor import Tensor
from .assignment import TYPE_NAMES, into
from .broadcasting import mismatch
from .declare import Array, function, op
from .found_places import ROWS, no_size, recorded_places
from .kept import kept
from .operands import seen

INDEX = frozenset({np.dtype(np.int64), np.dtype(np.int32)})


def outside(index: Any, size: int, negative: bool = False) -> int | None:
    """An index outside of 0 to ``size`` - 1 (or -``size``, where ``negative`` ones count from the end), if there is one."""
    values = seen(index)
    if values is None or values.size == 0:
        return None
    low, high = (values.item(),) * 2 if values.size == 1 else (int(values.min()), int(values.max()))
    if high >= size:
        return high
    return low if low < (-size if negative else 0) else None


def check_index(name: str, index: Any, size: int, dim: int, error: type[FuntorchError] = OpError) -> None:
    """Raise if an index Tensor has another dtype than int32 and int64, or an element out of bounds."""
    if form_of(index).dtype not in INDEX:
        raise OpError(f"{name}(): Expected dtype int32/int64 for index")
    wrong = outside(index, size)
    if wrong is not None:
        raise error(f"index {wrong} is out of bounds for dimension {dim} with size {size}")


def kind_of(tensor: Any) -> str:
    """The name of a Tensor's dtype."""
    return form_of(tensor).dtype.name


def extent(tensor: Any, dim: int) -> int:
    """The size along a dimension; 1 for a Tensor without dimensions."""
    shape = form_of(tensor).shape
    return shape[wrap_dim(dim, len(shape))] if shape else 1


def _check_gather(input: Any, dim: int, index: Any, sparse_grad: bool) -> None:
    shape, covered = form_of(input).shape, form_of(index).shape
    at = wrap_dim(dim, len(shape))
    if 0 in covered:
        return
    check_index("gather", index, extent(input, dim), at)
    if max(len(shape), 1) != max(len(covered), 1):
        raise OpError("Index tensor must have the same number of dimensions as input tensor")
    for d, (have, want) in enumerate(zip(shape, covered, strict=False)):
        if d != at and want > have:
            raise OpError(
                f"Size does not match at dimension {d} expected index {list(covered)} to be no larger than self {list(shape)} "
                f"apart from dimension {at}"
            )


@op(check=_check_gather, exact_out=True)
def gather(input: Array, dim, index: Array, *, sparse_grad=False):
    """Elements picked along one dimension: z[i, j, k] = x[i, index[i, j, k], k] for dim = 1. index (*), z (*) like index.

    Raises RuntimeError for an index out of bounds, or larger than the input apart from ``dim``.
    """
    if not index.size:
        return jnp.zeros(index.shape, input.dtype)
    if input.ndim == 0 or index.ndim == 0:
        flat = jnp.take(input.reshape(-1), index.reshape(-1))
        return flat.reshape(index.shape)
    at = wrap_dim(dim, input.ndim)
    corner = tuple(slice(None) if d == at else slice(0, n) for d, n in enumerate(index.shape))
    return jnp.take_along_axis(input[corner], index, axis=at)


def _check_select(input: Any, dim: int, index: Any) -> None:
    shape = form_of(input).shape
    wrap_dim(dim, len(shape))
    if len(form_of(index).shape) > 1:
        raise OutOfBoundsError("index_select(): Index is supposed to be a vector")
    if form_of(index).dtype not in INDEX:
        raise OpError("index_select(): Expected dtype int32 or int64 for index")
    if outside(index, extent(input, dim)) is not None:
        raise OutOfBoundsError("index out of range in self")


@op(check=_check_select)
def index_select(input: Array, dim, index: Array):
    """The slices along ``dim`` that ``index`` names. input (*), index (n) or (), z with size n along ``dim``.

    Raises IndexError for an index out of range, or an index of more than one dimension.
    """
    if input.ndim == 0:
        return input
    return jnp.take(input, index.reshape(-1), axis=wrap_dim(dim, input.ndim))


def _check_take(input: Any, index: Any) -> None:
    kind = form_of(index).dtype.name
    if kind != "int64":
        raise OpError(f"take(): Expected a long tensor for index, but got {TYPE_NAMES[kind]}")
    check_flat(index, input.numel())


def check_flat(index: Any, count: int) -> None:
    """Raise IndexError for an index outside of a flattened Tensor."""
    wrong = outside(index, count, negative=True)
    if wrong is not None:
        raise OutOfBoundsError(f"out of range: tried to access index {wrong} on a tensor of {count} elements.")


@op(check=_check_take)
def take(input: Array, index: Array):
    """The elements of the flattened input at the given places. input (*), index (*), z like index."""
    return input.reshape(-1)[index]


@function(method=True)
def take_along_dim(input: Tensor, indices: Tensor, dim: int | None = None, *, out: Any = None) -> Tensor:
    """`gather` in which input and indices broadcast together apart from ``dim``; without it, both are flattened.

    Raises:
        RuntimeError: if they do not broadcast, or the indices are not int64.
        IndexError: for an index out of bounds.

    >>> x = torch.tensor([[3, 1, 2]])
    >>> torch.take_along_dim(x, x.argsort(1), 1)
    tensor([[1, 2, 3]])
    """
    if form_of(indices).dtype not in INDEX:
        raise OpError(f"torch.take_along_dim(): dtype of indices should be Long but got {TYPE_NAMES[indices.dtype.name]}")
    if dim is None:
        input, indices, dim = input.reshape(-1), indices.reshape(-1), 0
    shape, covered = tuple(input.shape), tuple(indices.shape)
    if len(shape) != len(covered):
        raise OpError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, but got "
            f"{len(shape)} dimensions for input, and {len(covered)} dimensions for indices"
        )
    at = wrap_dim(dim, len(shape))
    size = shape[at]
    wrong = outside(indices, size, negative=True)
    if wrong is not None:
        raise OutOfBoundsError(f"index {wrong} is out of bounds for dimension {at} with size {size}")
    both = [s[:at] + (1,) + s[at + 1 :] for s in (shape, covered)]
    try:
        common = np.broadcast_shapes(*both)
    except ValueError:
        raise OpError(mismatch(both)) from None
    wide = input.expand(common[:at] + (size,) + common[at + 1 :])
    picks = indices.expand(common[:at] + (covered[at],) + common[at + 1 :])
    found = call(_along(at), (wide, picks))
    return found if out is None else into(out, found, "take_along_dim")


@kept("gather")
def _along(dim: int) -> Any:
    return lambda x, index: jnp.take_along_axis(x, index, axis=dim)


def _true_places(input: Any, name: str) -> tuple[np.ndarray, ...]:
    try:
        values = input._host(f"{name}()")  # of a Tensor with a tangent (which counts for nothing): its values
    except TracedValueError:
        raise no_size(name) from None
    return np.nonzero(np.atleast_1d(values))


@function(method=True)
def nonzero(input: Tensor, *, as_tuple: bool = False, out: Any = None) -> Any:
    """The places of the elements that are not zero.

    Args:
        input: (*), n dimensions.
        as_tuple: whether to give n vectors, one for each dimension, in place of one (count, n) Tensor.
        out: a Tensor for the result.

    Returns:
        int64 Tensor (count, n), or a tuple of n vectors.

    Raises:
        RuntimeError: if the values are batched or traced; `nonzero_static` gives a result of fixed size.

    >>> torch.tensor([0, 3, 4]).nonzero()
    tensor([[1],
            [2]])
    """
    recorded = recorded_places(input, "nonzero")
    if recorded is not None and (as_tuple or not input.dim()):
        return recorded if as_tuple else recorded[0].new_empty(recorded[0].numel(), 0)
    if recorded is not None:
        rows = call(ROWS, recorded, recording=False)
        return rows if out is None else into(out, rows, "nonzero")
    places = _true_places(input, "nonzero")
    if as_tuple:
        return tuple(Tensor._of_numpy(p.astype(np.int64)) for p in places)
    found = np.stack(places, 1).astype(np.int64) if input.dim() else np.zeros((len(places[0]), 0), np.int64)
    return Tensor._of_numpy(found) if out is None else into(out, Tensor._of_numpy(found), "nonzero")


@function(method=True)
def argwhere(input: Tensor) -> Tensor:
    """The places of the elements that are not zero: int64 (count, n)."""
    return nonzero(input)


@op()
def nonzero_static(input: Array, *, size, fill_value=-1):
    """The first ``size`` places of elements that are not zero, filled up with ``fill_value``: int64 (size, n).

    Works under vmap and compile, where `nonzero` can't.
    """
    if size < 0:
        raise OpError(f"nonzero_static: 'size' must be a non-negative integer, got {size}")
    if input.ndim == 0 or not input.size:
        return jnp.full((size, input.ndim), fill_value, jnp.int64)
    return jnp.stack(jnp.nonzero(input, size=size, fill_value=fill_value), 1).astype(jnp.int64)


@function(method=True)
def is_nonzero(input: Tensor) -> bool:
    """Whether the only element is not zero. Raises RuntimeError if there is not just one."""
    return bool(input)
