"""Values written to given places along one dimension: scatter, scatter_add, scatter_reduce (see `segments`)."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
from jax import lax

from ..cautions import caution_once
from ..core.call import call
from ..core.dims import wrap_dim
from ..core.handle import Handle, value_of
from ..core.selected import choosing
from ..errors import ArgumentTypeError, OpError
from ..tensor import Tensor
from .assignment import into
from .declare import function
from .filling import fill_value
from .gathering import check_index, extent
from .kept import kept
from .segments import reduced


def spread(index: Any, dim: int) -> tuple:
    """Index arrays that name, for each element of ``index``, the place along ``dim`` that it says and its own elsewhere."""
    return tuple(index if d == dim else lax.broadcasted_iota(index.dtype, index.shape, d) for d in range(index.ndim))


def _check_scatter(name: str, input: Any, dim: int, index: Any, src: Any) -> None:
    shape, covered = value_of(input).shape, value_of(index).shape
    at = wrap_dim(dim, len(shape))
    if 0 not in covered:
        check_index("scatter", index, extent(input, dim), at)
    if max(len(shape), 1) != max(len(covered), 1):
        raise OpError("Index tensor must have the same number of dimensions as self tensor")
    given = value_of(src).shape if isinstance(src, Handle) else None
    if given is not None and max(len(given), 1) != max(len(covered), 1):
        raise OpError("Index tensor must have the same number of dimensions as src tensor")
    larger = any(d != at and n > shape[d] for d, n in enumerate(covered) if shape)
    if larger or (given is not None and any(n > given[d] for d, n in enumerate(covered) if given)):
        words = f" and to be no larger size than src {list(given)}" if given is not None else ""
        raise OpError(f"Expected index {list(covered)} to be no larger than self {list(shape)} apart from dimension {at}{words}")
    if isinstance(src, Handle) and value_of(src).dtype != value_of(input).dtype:
        raise OpError(f"{name}(): Expected self.dtype to be equal to src.dtype")


@kept("scatter")
def _scatter(dim: int, reduce: str | None, include: bool) -> Any:
    def pure(x: Any, index: Any, src: Any) -> Any:
        shape = x.shape
        if x.ndim == 0:
            x, index, src = x.reshape(1), index.reshape(-1), src.reshape(-1) if src.ndim else src
        src = src[tuple(slice(0, n) for n in index.shape)] if src.ndim else jnp.broadcast_to(src, index.shape)
        if 0 in index.shape:
            return x.reshape(shape)
        at = spread(index, dim)
        if reduce is None:
            return choosing(lambda x, y: x.at[at].set(y), x, src).reshape(shape)
        return reduced(x, at, src, reduce, include).reshape(shape)

    return pure


_OLD_REDUCTIONS = {None: None, "add": "sum", "multiply": "prod"}


@function(method=True, inplace=True)
def scatter(
    input: Tensor, dim: int, index: Tensor, src: Any = None, *, value: Any = None, reduce: str | None = None, out: Any = None
) -> Tensor:
    """Write along one dimension: z[i, index[i, j, k], k] = src[i, j, k] for dim = 1, the rest as in ``input``.

    Args:
        input: (*).
        dim: the dimension along which ``index`` says where to write.
        index: int64, no larger than ``src``, nor than ``input`` apart from ``dim``.
        src: a Tensor of input's dtype, of which the corner that index covers is used; or a number.
        value: a number, under its own name.
        reduce: "add" or "multiply" combine with what is there.
        out: a Tensor for the result.

    Raises:
        RuntimeError: for an index out of bounds, other sizes or dtypes.

    >>> torch.zeros(3).scatter(0, torch.tensor([2]), 5.0)
    tensor([0., 0., 5.])
    """
    source = value if src is None else src
    if source is None:
        raise ArgumentTypeError("scatter() missing argument: src or value")
    if reduce not in _OLD_REDUCTIONS:
        raise OpError("reduce argument must be either add or multiply.")
    if reduce is not None and isinstance(source, Handle):
        caution_once(
            "The reduce argument of torch.scatter with Tensor src is deprecated; use torch.scatter_reduce, which has more."
        )
    _check_scatter("scatter", input, dim, index, source)
    if not isinstance(source, Handle):
        source = fill_value(source, input.dtype, "scatter")
    made = call(_scatter(wrap_dim(dim, input.dim()), _OLD_REDUCTIONS[reduce], True), (input, index, source))
    return made if out is None else into(out, made, "scatter")


@function(method=True, inplace=True)
def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor, *, out: Any = None) -> Tensor:
    """`scatter` that adds: values that arrive at one place are summed with what is there.

    Raises:
        RuntimeError: for an index out of bounds, other sizes or dtypes.

    >>> torch.zeros(2).scatter_add(0, torch.tensor([1, 1]), torch.ones(2))
    tensor([0., 2.])
    """
    return _reducing("scatter_add", input, dim, index, src, "sum", True, out)


@function(method=True, inplace=True)
def scatter_reduce(
    input: Tensor, dim: int, index: Tensor, src: Tensor, reduce: str, *, include_self: bool = True, out: Any = None
) -> Tensor:
    """`scatter` in which the values that arrive at one place are reduced: "sum", "prod", "mean", "amax" or "amin".

    Args:
        input, dim, index, src: as in `scatter`.
        reduce: the reduction. Elements that tie for amax or amin share the gradient.
        include_self: whether the element of ``input`` takes part.
        out: a Tensor for the result.

    Raises:
        RuntimeError: for another ``reduce``, an index out of bounds, other sizes or dtypes.

    >>> torch.zeros(1).scatter_reduce(0, torch.tensor([0, 0]), torch.tensor([2.0, 3.0]), "amax")
    tensor([3.])
    """
    if reduce not in ("sum", "prod", "mean", "amax", "amin"):
        raise OpError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    return _reducing("scatter_reduce", input, dim, index, src, reduce, include_self, out)


def _reducing(name: str, input: Any, dim: int, index: Any, src: Any, reduce: str, include: bool, out: Any) -> Any:
    if not isinstance(src, Handle):
        raise ArgumentTypeError(f"{name}(): argument 'src' (position 4) must be Tensor, not {type(src).__name__}")
    _check_scatter(name, input, dim, index, src)
    made = call(_scatter(wrap_dim(dim, input.dim()), reduce, include), (input, index, src))
    return made if out is None else into(out, made, name)
