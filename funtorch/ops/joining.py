"""Several Tensors as one: cat, stack and the forms that choose the dimension."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp

from ..core.call import call
from ..core.dims import wrap_dim
from ..core.handle import value_of
from ..core.promotion import result_type
from ..dtypes import can_cast
from ..errors import ArgumentTypeError, ArgumentValueError, OpError
from ..tensor import Tensor
from .arguments import sequence_argument
from .assignment import cast, into
from .declare import function
from .direct import shapes
from .kept import kept


@kept("cat", shapes.joined)
def _cat(dim: int) -> Any:
    def pure(*xs: Any) -> Any:
        return jnp.concatenate(xs, axis=dim)

    return pure


def _check_sizes(shapes: Sequence[tuple[int, ...]], dim: int) -> None:
    first = shapes[0]
    if shapes.count(first) == len(shapes):
        return
    for number, shape in enumerate(shapes):
        if shape == first:
            continue
        if len(shape) != len(first):
            raise OpError(f"Tensors must have same number of dimensions: got {len(first)} and {len(shape)}")
        if shape[:dim] + shape[dim + 1 :] != first[:dim] + first[dim + 1 :]:
            want, have = _differing(first, shape, dim)
            raise OpError(
                f"Sizes of tensors must match except in dimension {dim}. Expected size {want} but got size {have} for tensor "
                f"number {number} in the list."
            )


def _differing(first: tuple, shape: tuple, dim: int) -> tuple[int, int]:
    return next((a, b) for d, (a, b) in enumerate(zip(first, shape, strict=True)) if a != b and d != dim)


@function(alias=("concat", "concatenate"))
def cat(tensors: Any, dim: int = 0, *, out: Any = None) -> Tensor:
    """The Tensors one after another along ``dim``, in their common dtype; empty vectors (0,) are left out.

    Args:
        tensors: at least one Tensor; the sizes agree but along ``dim``.
        dim: the dimension along which they follow each other.
        out: a Tensor for the result.

    Returns:
        Tensor with the sizes along ``dim`` added up.

    Raises:
        RuntimeError: if other sizes differ.

    >>> torch.cat([torch.zeros(2), torch.ones(1)])
    tensor([0., 0., 1.])
    """
    tensors = sequence_argument(tensors, "cat", "tensors", 1)
    if not tensors:
        raise ArgumentValueError("torch.cat(): expected a non-empty list of Tensors")
    shapes = [value_of(x).shape for x in tensors]
    if () in shapes:
        raise OpError(f"zero-dimensional tensor (at position {shapes.index(())}) cannot be concatenated")
    given = tensors
    if (0,) in shapes:  # these are left out
        given = [x for x, shape in zip(tensors, shapes, strict=True) if shape != (0,)] or list(tensors[:1])
        shapes = [x._payload.shape for x in given]
    at = wrap_dim(dim, len(shapes[0]))
    _check_sizes(shapes, at)
    if out is not None or len({x._payload.dtype for x in tensors}) > 1:
        common = result_type(tensors)
        if out is not None:
            if not can_cast(common, out.dtype):
                raise ArgumentTypeError(f"torch.cat(): input types can't be cast to the desired output type {out.dtype}")
            common = out.dtype
        given = [cast(x, common) for x in given]
    result = call(_cat(at), given)
    return result if out is None else into(out, result, "cat")


@kept("stack")
def _stack(dim: int) -> Any:
    def pure(*xs: Any) -> Any:
        return jnp.stack(xs, axis=dim)

    return pure


@function()
def stack(tensors: Any, dim: int = 0, *, out: Any = None) -> Tensor:
    """Tensors of one shape along a new dimension ``dim``, in their common dtype.

    Raises:
        RuntimeError: if the shapes differ, or there are no Tensors.

    >>> torch.stack([torch.zeros(2), torch.ones(2)]).shape
    torch.Size([2, 2])
    """
    tensors = sequence_argument(tensors, "stack", "tensors", 1)
    if not tensors:
        raise OpError("stack expects a non-empty TensorList")
    shapes = [value_of(x).shape for x in tensors]
    first = shapes[0]
    for number, shape in enumerate(shapes):
        if shape != first:
            raise OpError(
                f"stack expects each tensor to be equal size, but got {list(first)} at entry 0 and {list(shape)} at entry {number}"
            )
    if len({x._payload.dtype for x in tensors}) > 1:
        common = result_type(tensors)
        tensors = [cast(x, common) for x in tensors]
    result = call(_stack(wrap_dim(dim, len(first) + 1)), tensors)
    return result if out is None else into(out, result, "stack")


def _at_least(ndim: int, x: Any) -> Any:
    """``x`` as a view with ``ndim`` dimensions at least, the new ones where PyTorch puts them."""
    if not isinstance(x, Tensor):
        raise ArgumentTypeError(f"expected Tensor, but got {type(x).__name__}")
    have = x.dim()
    if have >= ndim:
        return x
    if ndim == 3 and have == 2:
        return x.unsqueeze(-1)
    if ndim == 3 and have == 1:
        return x.unsqueeze(0).unsqueeze(-1)
    return x.reshape((1,) * (ndim - have) + tuple(x.shape))


def _atleast(ndim: int) -> Any:
    def atleast(*tensors: Any) -> Any:
        if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
            return tuple(_at_least(ndim, x) for x in tensors[0])
        found = tuple(_at_least(ndim, x) for x in tensors)
        return found[0] if len(found) == 1 else found

    atleast.__name__ = atleast.__qualname__ = f"atleast_{ndim}d"
    atleast.__doc__ = f"Each Tensor as a view with {ndim} dimension{'s' if ndim > 1 else ''} at least; one, or a tuple of them."
    return atleast


atleast_1d = function(name="atleast_1d", method=False)(_atleast(1))
atleast_2d = function(name="atleast_2d", method=False)(_atleast(2))
atleast_3d = function(name="atleast_3d", method=False)(_atleast(3))


def _stacked(name: str, ndim: int, dim: Any) -> Any:
    def joined(tensors: Any, *, out: Any = None) -> Tensor:
        tensors = sequence_argument(tensors, name, "tensors", 1)
        if not tensors:
            raise OpError(f"{name} expects a non-empty TensorList")
        raised = [_at_least(ndim, x) for x in tensors]
        return cat(raised, dim(raised[0].dim()), out=out)

    joined.__name__ = joined.__qualname__ = name
    joined.__doc__ = f"`cat` of the Tensors with {ndim} dimension{'s' if ndim > 1 else ''} at least, along the one {name} names."
    return joined


hstack = function(name="hstack")(_stacked("hstack", 1, lambda ndim: 0 if ndim == 1 else 1))
vstack = function(name="vstack", alias=("row_stack",))(_stacked("vstack", 2, lambda ndim: 0))
dstack = function(name="dstack")(_stacked("dstack", 3, lambda ndim: 2))


@function()
def column_stack(tensors: Any, *, out: Any = None) -> Tensor:
    """Vectors as columns, and matrices, side by side."""
    tensors = sequence_argument(tensors, "column_stack", "tensors", 1)
    return hstack([x.reshape(x.numel(), 1) if x.dim() <= 1 else x for x in tensors], out=out)
