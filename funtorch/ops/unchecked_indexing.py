"""Indexing under a mask, where what the mask leaves out may be out of range; and Tensors cut into chunks and joined."""

from __future__ import annotations

from typing import Any

from ..core.dims import wrap_dim
from ..errors import OpError
from . import registry
from .arguments import sequence_argument
from .assignment import into
from .joining import cat
from .selection import where


def _inside(input: Any, indices: Any, mask: Any) -> tuple:
    """The indices, 0 where the mask is False."""
    return tuple(
        slice(None) if i is None else where(mask, i, 0).clamp(-n, n - 1) for i, n in zip(indices, input.shape, strict=False)
    )


def _unsafe_masked_index(input: Any, mask: Any, indices: Any, fill: Any) -> Any:
    """``input[indices]`` where ``mask``, else ``fill``. The indices are not checked."""
    return input[_inside(input, indices, mask)].masked_fill(~mask, fill)


def _unsafe_masked_index_put_accumulate(input: Any, mask: Any, indices: Any, values: Any) -> Any:
    """A copy of ``input`` with ``values`` added at the indices where ``mask``. The indices are not checked."""
    return input.index_put(_inside(input, indices, mask), values.masked_fill(~mask, 0), accumulate=True)


def _chunk_cat(tensors: Any, dim: int, num_chunks: int, *, out: Any = None) -> Any:
    """Each Tensor filled up with zeros along ``dim`` and cut into chunks, and the chunks of one number joined, each as a row.

    Args:
        tensors: at least one; the sizes before ``dim`` agree.
        num_chunks: C.

    Returns:
        (*, C, sum of the chunks' numbers of elements).

    Raises:
        RuntimeError: no Tensors, or fewer than one chunk.
    """
    tensors = sequence_argument(tensors, "_chunk_cat", "tensors", 1)
    if num_chunks < 1:
        raise OpError("_chunk_cat expects positive num_chunks")
    if not tensors:
        raise OpError("_chunk_cat expects a non-empty input tensor list")
    if any(dim >= x.dim() for x in tensors):
        raise OpError("_chunk_cat expects dim < ndim for all input tensors")
    if not all(x.numel() for x in tensors):
        raise OpError("_chunk_cat expects non-empty tensor")
    rows = []
    for x in tensors:
        at = wrap_dim(dim, x.dim())
        size = -(-x.shape[at] // num_chunks)
        missing = x.new_zeros((*x.shape[:at], size * num_chunks - x.shape[at], *x.shape[at + 1 :]))
        rows.append(cat([x, missing], at).reshape(*x.shape[:at], num_chunks, -1))
    result = cat(rows, -1)
    return result if out is None else into(out, result, "_chunk_cat")


for _fn in (_unsafe_masked_index, _unsafe_masked_index_put_accumulate, _chunk_cat):
    registry.add("torch", _fn.__name__, _fn)
