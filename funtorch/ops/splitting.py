"""One Tensor as several views along a dimension: narrow, select, unbind, split, chunk and the like."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import Any

from ..core.dims import wrap_dim
from ..core.handle import Handle, form_of
from ..core.meta import is_meta
from ..core.views import concrete
from ..dtypes import INTEGER
from ..errors import ArgumentTypeError, OpError, OutOfBoundsError
from ..tensor import Tensor
from . import registry
from .assignment import into
from .declare import function
from .kept import place
from .windows import ONE, WHOLE, show, show_several


def _dim_of(input: Any, dim: int, name: str) -> tuple[int, int]:
    """The dimension from the front and its size. Raises RuntimeError for a Tensor without dimensions."""
    shape = form_of(input).shape
    if not shape:
        raise OpError(f"{name}(): expected a tensor with at least one dimension, got a 0-dim tensor")
    at = wrap_dim(dim, len(shape))
    return at, shape[at]


@function(method=True)
def select(input: Tensor, dim: int, index: int) -> Tensor:
    """The view at ``index`` of dimension ``dim``, without that dimension.

    Raises:
        IndexError: if ``index`` or ``dim`` is out of range.

    >>> torch.arange(6).view(2, 3).select(1, 0)
    tensor([0, 3])
    """
    shape = form_of(input).shape
    if not shape:
        raise OutOfBoundsError("select() cannot be applied to a 0-dim tensor.")
    at = wrap_dim(dim, len(shape))
    if not -shape[at] <= index < shape[at]:
        raise OutOfBoundsError(f"select(): index {index} out of range for tensor of size {list(shape)} at dimension {at}")
    return show(input, (WHOLE,) * at + (ONE,), (place(operator.index(index) % shape[at]),))


@function(method=True)
def narrow(input: Tensor, dim: int, start: Any, length: int) -> Tensor:
    """The view of ``length`` elements of dimension ``dim`` from ``start`` on.

    Raises:
        RuntimeError: if they reach beyond the dimension.

    >>> torch.arange(5).narrow(0, 1, 3)
    tensor([1, 2, 3])
    """
    at, size = _dim_of(input, dim, "narrow")
    if length < 0:
        raise OpError("narrow(): length must be non-negative.")
    if isinstance(start, Handle) and (start.dim() or start.dtype.category != INTEGER):
        raise OpError("start must be an 0-dim integral Tensor.")
    if isinstance(start, Handle) and concrete(start) is None:  # not negative, as far as anyone can tell
        return show(input, (WHOLE,) * at + ((length, 1),), (start,))
    start = int(start) if isinstance(start, Handle) else operator.index(start)
    if not -size <= start <= size:
        raise OutOfBoundsError(f"start out of range (expected to be in range of [-{size}, {size}], but got {start})")
    start += size if start < 0 else 0
    if start + length > size:
        raise OpError(f"start ({start}) + length ({length}) exceeds dimension size ({size}).")
    return show(input, (WHOLE,) * at + ((length, 1),), (place(start),))


@function(method=True)
def narrow_copy(input: Tensor, dim: int, start: int, length: int, *, out: Any = None) -> Tensor:
    """`narrow` as a copy. Raises RuntimeError, where `narrow` raises IndexError, for a dimension beyond the last."""
    if 0 < input.dim() <= dim:
        raise OpError(f"narrow_copy(): Expected dim < {input.dim()}, but got {dim}")
    made = narrow(input, dim, start, length).clone()
    return made if out is None else into(out, made, "narrow_copy", True)


@function(method=True)
def unbind(input: Tensor, dim: int = 0) -> tuple[Tensor, ...]:
    """The slices along ``dim``, each a view without it.

    Raises:
        IndexError: if ``dim`` is out of range.

    >>> torch.arange(2).unbind()
    (tensor(0), tensor(1))
    """
    shape = form_of(input).shape
    if not shape:
        raise OutOfBoundsError(f"Dimension specified as {dim} but tensor has no dimensions")
    at = wrap_dim(dim, len(shape))
    return show_several(input, "unbind", at, tuple((i, 1) for i in range(shape[at])), drop=True)


def _consecutive(lengths: Sequence[int]) -> tuple[tuple[int, int], ...]:
    parts, start = [], 0
    for length in lengths:
        parts.append((start, length))
        start += length
    return tuple(parts)


@function(alias=("unsafe_split",))
def split(tensor: Tensor, split_size_or_sections: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """Views of equal length (the last may be shorter), or of the given lengths.

    Args:
        tensor: (*).
        split_size_or_sections: the length of each part, or a sequence of lengths that add up to the dimension's size.
        dim: the dimension to split.

    Raises:
        RuntimeError: if the lengths do not add up, or the length is not positive.

    >>> [x.tolist() for x in torch.arange(5).split(2)]
    [[0, 1], [2, 3], [4]]
    """
    if not isinstance(split_size_or_sections, (int, Handle)):
        return split_with_sizes(tensor, split_size_or_sections, dim)
    length = operator.index(split_size_or_sections)
    at, size = _dim_of(tensor, dim, "split")
    if length < 0:
        raise OpError(f"split expects split_size be non-negative, but got split_size={length}")
    if length == 0 and size:
        raise OpError(f"split_size can only be 0 if dimension size is 0, but got dimension size of {size}")
    lengths = [min(length, size - start) for start in range(0, size, length)] if size else [0]
    return show_several(tensor, "split", at, _consecutive(lengths))


@function(method=True, alias=("unsafe_split_with_sizes",))
def split_with_sizes(input: Tensor, split_sizes: Sequence[int], dim: int = 0) -> tuple[Tensor, ...]:
    """Views of the given lengths. Raises RuntimeError if they do not add up to the dimension's size."""
    at, size = _dim_of(input, dim, "split")
    lengths = [operator.index(s) for s in split_sizes]
    if any(length < 0 for length in lengths):
        raise OpError(f"split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes={lengths}")
    if sum(lengths) != size:
        raise OpError(
            f"split_with_sizes expects split_sizes to sum exactly to {size} (input tensor's size at dimension {dim}), but "
            f"got split_sizes={lengths}"
        )
    return show_several(input, "split_with_sizes", at, _consecutive(lengths))


@function(method=True, alias=("unsafe_chunk",))
def chunk(input: Tensor, chunks: int, dim: int = 0) -> tuple[Tensor, ...]:
    """At most ``chunks`` views of equal length; the last may be shorter.

    Raises:
        RuntimeError: if ``chunks`` is not positive.

    >>> [len(x) for x in torch.arange(5).chunk(2)]
    [3, 2]
    """
    at, size = _dim_of(input, dim, "chunk")
    if chunks <= 0:
        raise OpError(f"chunk expects `chunks` to be greater than 0, got: {chunks}")
    length = -(-size // chunks)
    if length == 0:
        return show_several(input, "split_with_sizes", at, ((0, 0),) * chunks)
    return split(input, length, at)


@function(method=True)
def tensor_split(
    input: Tensor, indices_or_sections: Any = None, dim: int = 0, *, indices: Any = None, sections: Any = None
) -> tuple[Tensor, ...]:
    """``sections`` views whose lengths differ by one at most, or views that begin at the given indices.

    Raises:
        RuntimeError: if the number of sections is not positive, or the indices have no data.

    >>> [len(x) for x in torch.arange(5).tensor_split(3)]
    [2, 2, 1]
    """
    given = [x for x in (indices_or_sections, indices, sections) if x is not None]
    if len(given) != 1:
        raise ArgumentTypeError(f"tensor_split(): one of indices and sections must be given, got {len(given)}")
    indices_or_sections = given[0]
    at, size = _dim_of(input, dim, "tensor_split")
    if isinstance(indices_or_sections, Handle):
        if indices_or_sections.dim() > 1 or indices_or_sections.dtype.name != "int64":
            raise OpError(
                "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional int64 tensor"
            )
        if is_meta(indices_or_sections):
            raise OpError("tensor_split expected tensor_indices_or_sections to be on cpu, but it's on meta")
        indices_or_sections = indices_or_sections.tolist()
    if isinstance(indices_or_sections, int):
        return _sections(input, at, size, indices_or_sections)
    ends = [*(slice(None, operator.index(i)).indices(size)[1] for i in indices_or_sections), size]
    starts = [0, *ends[:-1]]
    return tuple(show(input, (WHOLE,) * at + ((max(b - a, 0), 1),), (place(a),)) for a, b in zip(starts, ends, strict=True))


def _sections(input: Tensor, at: int, size: int, sections: int) -> tuple[Tensor, ...]:
    if sections <= 0:
        raise OpError(f"number of sections must be larger than 0, got {sections}")
    short, longer = divmod(size, sections)
    parts = _consecutive([short + 1] * longer + [short] * (sections - longer))
    return tuple(show(input, (WHOLE,) * at + ((length, 1),), (place(start),)) for start, length in parts)


def _along(name: str, minimum: int, dim: Any) -> Any:
    def split_along(input: Tensor, *indices_or_sections: Any, **named: Any) -> tuple[Tensor, ...]:
        ndim = len(form_of(input).shape)
        if ndim < minimum:
            raise OpError(
                f"torch.{name} requires a tensor with at least {minimum} dimension{'s' if minimum > 1 else ''}, but got a "
                f"tensor with {ndim} dimensions!"
            )
        given = (*indices_or_sections, *named.values())
        if not given:
            raise ArgumentTypeError(f"{name}(): one of the arguments indices or sections is required")
        wanted = given[0] if len(given) == 1 else given
        at = dim(ndim)
        size = form_of(input).shape[at]
        if isinstance(wanted, int) and (wanted <= 0 or size % wanted):
            raise OpError(
                f"torch.{name} attempted to split along dimension {at}, but the size of the dimension {size} is not divisible "
                f"by the split_size {wanted}!"
            )
        return tensor_split(input, wanted, at)

    split_along.__name__ = split_along.__qualname__ = name
    split_along.__doc__ = f"`tensor_split` along the dimension that gives {name} its name, into equal parts or at indices."
    return split_along


def _split_method(self: Tensor, split_size: Any, dim: int = 0) -> tuple[Tensor, ...]:
    """`split`, whose parameter has this name in the method."""
    return split(self, split_size, dim)


_split_method.__name__ = _split_method.__qualname__ = "split"
registry.add_method("split", _split_method)
registry.add_method("unsafe_split", _split_method)


hsplit = function(name="hsplit", method=True)(_along("hsplit", 1, lambda ndim: 0 if ndim == 1 else 1))
vsplit = function(name="vsplit", method=True)(_along("vsplit", 2, lambda ndim: 0))
dsplit = function(name="dsplit", method=True)(_along("dsplit", 3, lambda ndim: 2))
