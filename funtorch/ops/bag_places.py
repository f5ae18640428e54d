"""torch's own forms of lookups in a table: the weight comes first, and bags come with where their elements lie."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp

from ..core.handle import value_of
from ..dtypes import float64
from ..errors import OpError
from . import registry
from .activation import PURE
from .declare import Array, function, op
from .embedding import check_table_index, rescale
from .embedding_bag import embedding_bag, first_largest

MODES = ("sum", "mean", "max")


@op(namespace=PURE, name="bag_places", out=False)
def _places(indices: Array, offsets: Array, table: Array | None, mode, padding_idx, bags, listed):
    """The bag of each index, the number of elements in each bag, and for "max" the index of each largest element."""
    count = indices.shape[0]
    bag = jnp.searchsorted(offsets[:bags], jnp.arange(count), side="right") - 1
    there = jnp.ones(count, bool) if padding_idx is None else indices != padding_idx
    sizes = jnp.zeros(bags, int) if mode == "sum" else jax.ops.segment_sum(there.astype(int), bag, bags)
    largest = sizes
    if table is not None:
        largest = jnp.zeros((bags, table.shape[1]), int)
        if count:
            first = first_largest(table[indices], bag, there, bags)
            largest = jnp.where(first < count, indices[jnp.clip(first, 0, count - 1)], 0).astype(int)
    return bag.astype(offsets.dtype) if listed else jnp.zeros(0, int), sizes, largest


def _torch_embedding_bag(
    weight: Any, indices: Any, offsets: Any, scale_grad_by_freq: bool = False, mode: int = 0, sparse: bool = False,
    per_sample_weights: Any = None, include_last_offset: bool = False, padding_idx: int | None = None,
) -> Any:  # fmt: skip
    """`nn.functional.embedding_bag` with the weight first and a number for the mode.

    Args:
        weight: (V, D).
        indices: (K) of int64 or int32, bags one after the other.
        offsets: (B), where each bag begins; with ``include_last_offset`` one more, its end.
        mode: 0 (sum), 1 (mean) or 2 (max).
        scale_grad_by_freq, sparse, per_sample_weights, padding_idx: as in `nn.functional.embedding_bag`.

    Returns:
        (B, D), and what PyTorch's gradient needs: the bag of each index (empty for sums where nothing needs it), the number of
        elements in each bag (0 for sums), and for "max" the index of each largest element, (B, D).

    Raises:
        RuntimeError: another mode, or as `nn.functional.embedding_bag`.
    """
    if mode not in (0, 1, 2):
        raise OpError(f"embedding_bag(): `mode` must be sum, mean, or max (0, 1 or 2), got {mode}")
    if per_sample_weights is not None and mode != 0:
        raise OpError("embedding_bag: per_sample_weights only supported with mode='sum'")
    check_table_index(indices, weight, "embedding_bag")
    how = MODES[mode]
    z = embedding_bag(
        indices, weight, offsets, None, 2, scale_grad_by_freq, how, sparse, per_sample_weights, include_last_offset, padding_idx
    )
    padding = None if padding_idx is None else padding_idx % weight.shape[0]
    bags = value_of(offsets).shape[0] - include_last_offset
    listed = mode != 0 or padding is not None or weight.dtype is float64
    table = weight.detach() if mode == 2 else None
    return z, *_places(indices, offsets, table, how, padding, bags, listed)


_torch_embedding_bag.__name__ = "embedding_bag"
registry.add("torch", "embedding_bag", _torch_embedding_bag)


@function(name="embedding_renorm_")
def embedding_renorm_(input: Any, indices: Any, max_norm: float, norm_type: float) -> Any:
    """Scale down the rows of a table that are in ``indices`` to a norm of ``max_norm`` at most, in place.

    Args:
        input: (V, D).
        indices: (*) of int64 or int32.
        norm_type: the order of the norm.

    Returns:
        ``input``.

    Raises:
        RuntimeError: indices of another type, or an input of another rank.
    """
    check_table_index(indices, input, "embedding_renorm_")
    rescale(input, indices, max_norm, norm_type)
    return input
