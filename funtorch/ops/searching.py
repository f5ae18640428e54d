"""Where values belong in a sorted sequence: searchsorted, bucketize."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..core.call import call
from ..core.handle import Handle
from ..core.promotion import result_type, scalar
from ..errors import OpError
from ..tensor import Tensor
from .assignment import cast, into
from .declare import function
from .kept import kept


@kept("searchsorted")
def _search(side: str, narrow: bool, ordered: bool) -> Any:
    def find(sequence: Any, values: Any) -> Any:
        return jnp.searchsorted(sequence, values, side=side)

    def pure(sequence: Any, values: Any, *order: Any) -> Any:
        if ordered:
            sequence = jnp.take_along_axis(sequence, order[0], axis=-1)
        search = find
        for _ in range(sequence.ndim - 1):
            search = jax.vmap(search)
        return search(sequence, values).astype(jnp.int32 if narrow else jnp.int64)

    return pure


def _side(right: bool, side: str | None) -> str:
    if side is not None and side not in ("left", "right"):
        raise OpError(f"torch.searchsorted(): side can only be 'left' or 'right' but got {side}")
    if side == "left" and right:
        raise OpError("torch.searchsorted(): side and right can't be set to opposites, got side of left while right was True")
    return "right" if right else side or "left"


def _pair(sequence: Any, values: Any) -> tuple[Any, Any]:
    """Both in one dtype; a number as an array."""
    if isinstance(values, Handle):
        common = result_type((sequence.reshape(-1), values.reshape(-1)))
        return cast(sequence, common), cast(values, common)
    common = result_type((sequence, values))
    return cast(sequence, common), scalar(values, common)


@function()
def searchsorted(
    sorted_sequence: Tensor, input: Any, *, out_int32: bool = False, right: bool = False, side: str | None = None,
    sorter: Any = None, out: Any = None,
) -> Tensor:  # fmt: skip
    """The places in a sorted sequence before which each value belongs, so that the order is kept.

    Args:
        sorted_sequence: (*, n), in order along the last dimension.
        input: (*, m), or of any shape if the sequence is a vector; or a number.
        out_int32: whether to give int32 in place of int64.
        right: whether to choose the last of several places, not the first.
        side: "left" or "right", the same by name.
        sorter: int64 (*, n), the order of an unsorted sequence.
        out: a Tensor for the result.

    Returns:
        Tensor of input's shape.

    Raises:
        RuntimeError: if the leading sizes differ, or ``side`` contradicts ``right``.

    >>> torch.searchsorted(torch.tensor([1, 3, 5]), torch.tensor([3, 6]))
    tensor([1, 3])
    """
    where = _side(right, side)
    if not sorted_sequence.dim():
        raise OpError("torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1")
    have = tuple(sorted_sequence.shape)
    given = tuple(input.shape) if isinstance(input, Handle) else ()
    if not isinstance(input, Handle) and len(have) != 1:
        raise OpError(
            "torch.searchsorted(): input value can be a scalar only when boundaries tensor dimension is 1, but we got boundaries "
            f"tensor dim({len(have)}) and input value's dim(0) numel(1)"
        )
    if len(have) > 1 and have[:-1] != given[:-1]:
        raise OpError(
            "torch.searchsorted(): boundaries tensor should be 1 dimension or the first N-1 dimensions of boundaries tensor and "
            f"input value tensor must match, but we got boundaries tensor {list(have)} and input value tensor {list(given)}"
        )
    if sorter is not None and tuple(sorter.shape) != have:
        raise OpError(
            f"torch.searchsorted(): boundary and sorter must have the same size, but got boundary tensor {list(have)}and got "
            f"sorter tensor {list(sorter.shape)}"
        )
    sequence, values = _pair(sorted_sequence, input)
    extra = () if sorter is None else (sorter,)
    found = call(_search(where, bool(out_int32), sorter is not None), (sequence, values, *extra))
    return found if out is None else into(out, found, "searchsorted")


@function()
def bucketize(input: Any, boundaries: Tensor, *, out_int32: bool = False, right: bool = False, out: Any = None) -> Tensor:
    """The bucket of each value between sorted boundaries: i where boundaries[i-1] < value <= boundaries[i].

    Args:
        input: (*), or a number.
        boundaries: (n), in order.
        out_int32: whether to give int32 in place of int64.
        right: whether a bucket has its left end rather than its right one.
        out: a Tensor for the result.

    Raises:
        RuntimeError: if the boundaries are not a vector.

    >>> torch.bucketize(torch.tensor([0, 2, 5]), torch.tensor([1, 3]))
    tensor([0, 1, 2])
    """
    if boundaries.dim() != 1:
        raise OpError(f"boundaries tensor must be 1 dimension, but got dim({boundaries.dim()})")
    return searchsorted(boundaries, input, out_int32=out_int32, right=right, out=out)
