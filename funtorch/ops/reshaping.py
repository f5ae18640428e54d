"""Views that give the same elements another shape: reshape, view, flatten, unflatten."""

from __future__ import annotations

import functools
import math
import operator
from collections.abc import Sequence
from typing import Any

from ..core.call import call
from ..core.dims import wrap_dim
from ..core.handle import form_of
from ..core.strides import contiguous_strides, layout
from ..dtypes import as_dtype
from ..errors import ArgumentTypeError, OpError
from ..tensor import Tensor
from . import registry
from .declare import function
from .kept import kept, viewing
from .reinterpreting import reinterpreted

Sizes = tuple[int, ...]


def sizes_of(sizes: Sequence, name: str, named: Any = None) -> Sizes:
    """Sizes given as separate arguments, as one sequence, or by name, as Python ints. Raises TypeError for anything else."""
    if named is not None:
        sizes = (*sizes, named)
    elif not sizes:
        raise ArgumentTypeError(f"{name}() missing 1 required positional arguments: the sizes")
    if len(sizes) == 1 and isinstance(sizes[0], Sequence):
        sizes = sizes[0]
    try:
        return tuple(map(operator.index, sizes))
    except TypeError:
        kinds = ", ".join(type(s).__name__ for s in sizes)
        raise ArgumentTypeError(f"{name}(): argument 'size' must be tuple of ints, but found element of type {kinds}") from None


@functools.lru_cache(maxsize=8192)
def inferred(sizes: Sizes, shape: Sizes) -> Sizes:
    """``sizes`` with a -1 replaced by what the number of elements asks for. Raises RuntimeError if none fits."""
    count = math.prod(shape)
    if any(s < -1 for s in sizes):
        raise OpError(f"invalid shape dimension {min(sizes)} at index {sizes.index(min(sizes))} of shape {list(sizes)}")
    if sizes.count(-1) > 1:
        raise OpError("only one dimension can be inferred")
    known = math.prod(s for s in sizes if s != -1)
    if -1 in sizes:
        if known == 0 and count == 0:
            raise OpError(
                f"cannot reshape tensor of 0 elements into shape {list(sizes)} because the unspecified dimension size -1 "
                "can be any value and is ambiguous"
            )
        if known and count % known == 0:
            at = sizes.index(-1)
            return (*sizes[:at], count // known, *sizes[at + 1 :])
    elif known == count:
        return sizes
    raise OpError(f"shape '{list(sizes)}' is invalid for input of size {count}")


def view_strides(shape: Sizes, strides: Sizes, sizes: Sizes) -> Sizes | None:
    """The strides under which ``sizes`` show the same elements, or None where only a copy can."""
    if 0 in shape:
        return strides if shape == sizes else contiguous_strides(sizes)
    found: list[int] = []
    wanted = len(sizes) - 1
    block, step = 1, strides[-1] if strides else 1
    for d in reversed(range(len(shape))):
        block *= shape[d]
        if d and (shape[d - 1] == 1 or strides[d - 1] == block * step):
            continue  # the next dimension out continues this block of evenly spaced elements
        filled = 1
        while wanted >= 0 and (filled < block or sizes[wanted] == 1):
            found.append(filled * step)
            filled *= sizes[wanted]
            wanted -= 1
        if filled != block:
            return None
        if d:
            block, step = 1, strides[d - 1]
    found += [(found[-1] if found else 1)] * (wanted + 1)
    return tuple(reversed(found))


def _reshape_layout(shape: Sizes, strides: Sizes, offset: int, sizes: Sizes) -> tuple:
    return sizes, view_strides(shape, strides, sizes) or contiguous_strides(sizes), offset


@viewing("view", lambda base, value, sizes: value.reshape(base.shape), _reshape_layout)
def _view(x: Any, sizes: Sizes) -> Any:
    return x.reshape(sizes)


@kept("unsafe_view")
def _copied(sizes: Sizes) -> Any:
    return lambda x: x.reshape(sizes)


def _shown(x: Any, sizes: Sizes) -> Any:
    """A view of ``x`` with these sizes, or None where the strides don't allow one."""
    if x._base is not None and view_strides(tuple(x.shape), layout(x)[0], sizes) is None:
        return None
    return _view(x, sizes)


@function(method=True)
def reshape(input: Tensor, *sizes: Any, shape: Any = None) -> Tensor:
    """The same elements in another shape; a view where the strides allow it, else a copy.

    Args:
        input: (*), any dtype.
        sizes: the sizes, one of which may be -1 and follows from the others; or one sequence of them.
        shape: the sequence by its name.

    Returns:
        Tensor of that shape.

    Raises:
        RuntimeError: if the number of elements differs.

    >>> torch.arange(6).reshape(2, -1).shape
    torch.Size([2, 3])
    """
    wanted = inferred(sizes_of(sizes, "reshape", shape), tuple(form_of(input).shape))
    found = _shown(input, wanted)
    return call(_copied(wanted), (input,)) if found is None else found


def view(self: Tensor, *sizes: Any, size: Any = None, dtype: Any = None) -> Tensor:
    """The same elements in another shape, never copied; or, given a dtype, the same bytes read as that type.

    Raises:
        RuntimeError: if the number of elements differs, or if the strides do not allow a view.

    >>> torch.arange(6).view(3, 2).shape
    torch.Size([3, 2])
    """
    kind = sizes[0] if len(sizes) == 1 and not isinstance(sizes[0], (int, Sequence, Tensor)) else dtype
    if kind is not None:
        return reinterpreted(self, as_dtype(kind))
    found = _shown(self, inferred(sizes_of(sizes, "view", size), tuple(form_of(self).shape)))
    if found is None:
        raise OpError(
            "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
            "contiguous subspaces). Use .reshape(...) instead."
        )
    return found


registry.add_method("view", view)


@function(method=True)
def flatten(input: Tensor, start_dim: int = 0, end_dim: int = -1) -> Tensor:
    """Dimensions ``start_dim`` to ``end_dim`` joined to one: a view where the strides allow it, ``input`` if it is one already.

    Raises:
        RuntimeError: if ``start_dim`` comes after ``end_dim``.

    >>> torch.zeros(2, 3, 4).flatten(1).shape
    torch.Size([2, 12])
    """
    shape = tuple(form_of(input).shape)
    first, last = wrap_dim(start_dim, len(shape)), wrap_dim(end_dim, len(shape))
    if first > last:
        raise OpError("flatten() has invalid args: start_dim cannot come after end_dim")
    if not shape:
        return reshape(input, 1)
    if first == last:
        return input
    return reshape(input, (*shape[:first], math.prod(shape[first : last + 1]), *shape[last + 1 :]))


@function(method=True)
def ravel(input: Tensor) -> Tensor:
    """All elements in one dimension."""
    return reshape(input, -1)


@function(method=True)
def unflatten(input: Tensor, dim: int, sizes: Any) -> Tensor:
    """Dimension ``dim`` split into several of the given ``sizes``, one of which may be -1.

    Raises:
        RuntimeError: if the sizes do not multiply to that of the dimension.

    >>> torch.zeros(3, 8).unflatten(1, (2, -1)).shape
    torch.Size([3, 2, 4])
    """
    shape = tuple(form_of(input).shape)
    dim = wrap_dim(dim, len(shape))
    sizes = sizes_of((sizes,), "unflatten")
    if not sizes:
        raise OpError("unflatten: sizes must be non-empty")
    try:
        split = inferred(sizes, shape[dim : dim + 1])
    except OpError:
        raise OpError(
            f"unflatten: Provided sizes {list(sizes)} don't multiply up to the size of dim {dim} ({shape[dim]}) in the input "
            "tensor"
        ) from None
    return view(input, (*shape[:dim], *split, *shape[dim + 1 :]))


def view_as(self: Tensor, other: Tensor) -> Tensor:
    """``self.view(other.size())``."""
    return view(self, tuple(other.shape))


def reshape_as(self: Tensor, other: Tensor) -> Tensor:
    """``self.reshape(other.size())``."""
    return reshape(self, tuple(other.shape))


registry.add_method("view_as", view_as)
registry.add_method("reshape_as", reshape_as)
