"""Rows of a table picked by index and reduced in bags."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..cautions import caution
from ..dtypes import int32, int64
from ..errors import ArgumentValueError, MissingError, OpError
from . import registry
from .activation import PURE
from .declare import Array, function, op
from .embedding import check_table_index, embedding, rescale, rows_of
from .operands import seen
from .picking import known

SWAPPED = (
    "Argument order of nn.functional.embedding_bag was changed: `embedding_bag(weight, input, ...)` is deprecated, and should now be "
    "`embedding_bag(input, weight, ...)`."
)


def _check_bags(input: Any, weight: Any, *rest: Any) -> None:
    check_table_index(input, weight, "embedding_bag")
    values = seen(input)
    size = weight.shape[0]
    if values is None or not values.size:
        return
    wrong = np.flatnonzero((values < 0) | (values >= size))
    if wrong.size:
        at = int(wrong[0])
        raise OpError(f"Index {at} of input takes value {values.flat[at]} which is not in the valid range [0, {size})")


@op(namespace=PURE, name="embedding_bag", out=False, check=_check_bags)
def _embedding_bag(
    input: Array, weight: Array, offsets: Array, per_sample_weights: Array | None, mode, by_frequency, padding_idx, bags
):
    """Rows of a table, summed up, averaged or reduced to their maximum in bags that begin at ``offsets``."""
    rows = rows_of(weight, input, padding_idx, by_frequency)
    kind = rows.dtype
    rows = rows.astype(jnp.float32) if kind.itemsize <= 2 else rows
    bag = jnp.searchsorted(offsets[:bags], jnp.arange(input.size), side="right") - 1
    there = jnp.ones(input.shape, bool) if padding_idx is None else input != padding_idx
    if offsets.shape[0] > bags:
        there &= jnp.arange(input.size) < offsets[bags]
    if mode == "max":
        return _largest(rows, bag, there, bags).astype(kind)
    if per_sample_weights is not None:
        rows = rows * per_sample_weights.astype(rows.dtype)[:, None]
    total = jax.ops.segment_sum(jnp.where(there[:, None], rows, 0), bag, bags)
    if mode == "mean":
        total = total / jnp.maximum(jax.ops.segment_sum(there.astype(rows.dtype), bag, bags), 1)[:, None]
    return total.astype(kind)


def _largest(rows: Array, bag: Array, there: Array, bags: int) -> Array:
    """The largest element of each bag, 0 for an empty one; of equal ones the first gets the gradient."""
    if not rows.shape[0]:
        return jnp.zeros((bags, rows.shape[1]), rows.dtype)
    first = first_largest(rows, bag, there, bags)
    found = jnp.take_along_axis(rows, jnp.clip(first, 0, rows.shape[0] - 1), axis=0)
    return jnp.where(first < rows.shape[0], found, 0)


def first_largest(rows: Array, bag: Array, there: Array, bags: int) -> Array:
    """The row that holds the largest element of each bag, by column; the number of rows where a bag has none. (B, D)."""
    held = jnp.where(there[:, None], rows, -jnp.inf)
    top = jax.ops.segment_max(jax.lax.stop_gradient(held), bag, bags)
    place = jnp.where((held == top[bag]) & there[:, None], jnp.arange(rows.shape[0])[:, None], rows.shape[0])
    return jax.ops.segment_min(place, bag, bags)


def _bag_starts(input: Any, offsets: Any, include_last_offset: bool) -> tuple[Any, Any, int]:
    """The indices as one vector, where each bag begins, and how many bags there are."""
    if input.dim() == 2:
        if offsets is not None:
            raise ArgumentValueError(
                "if input is 2D, then offsets has to be None, as input is treated is a mini-batch of fixed length sequences. "
                f"However, found offsets of type {type(offsets)}"
            )
        rows, length = input.shape
        starts = registry.names("torch")["arange"](rows, device=input.device) * length
        return input.reshape(-1), starts, rows
    if input.dim() != 1:
        raise ArgumentValueError(f"input has to be 1D or 2D Tensor, but got Tensor of dimension {input.dim()}")
    if offsets is None:
        raise ArgumentValueError("offsets has to be a 1D Tensor but got None")
    if offsets.dim() != 1:
        raise ArgumentValueError("offsets has to be a 1D Tensor")
    if offsets.dtype not in (int64, int32):
        raise OpError(f"embedding_bag(): expected offsets of int64 or int32, but got {offsets.dtype}")
    values = known(offsets)
    if values is not None and values.size:
        if values[0] != 0:
            raise OpError(
                "offsets[0] has to be 0, i.e., the first sequence in the mini-batch has to start from position 0. However, got "
                f"{values[0]}"
            )
        if values[-1] > input.shape[0]:
            raise OpError(
                f"offsets[-1] can not be greater than input's length {input.shape[0]} but got offsets[-1] of {values[-1]}"
            )
    return input, offsets, offsets.shape[0] - include_last_offset


def _used_rows(weight: Any, places: Any, starts: Any, factors: Any, padding: int | None) -> tuple[Any, Any, Any, Any, int | None]:
    """The rows in use as a table of their own, through which the gradient of ``weight`` is sparse. The padding isn't in it."""
    from ..sparse.embedding import is_possible

    if not is_possible(weight, places):
        return weight, places, starts, factors, padding
    if padding is not None:
        kept = (places != padding).nonzero().flatten()
        starts = registry.names("torch")["searchsorted"](kept, starts)
        places, factors = places[kept], None if factors is None else factors[kept]
    return embedding(places, weight, sparse=True), places.new_tensor(range(places.shape[0])), starts, factors, None


@function("nn.functional")
def embedding_bag(
    input: Any, weight: Any, offsets: Any = None, max_norm: float | None = None, norm_type: float = 2,
    scale_grad_by_freq: bool = False, mode: str = "mean", sparse: bool = False, per_sample_weights: Any = None,
    include_last_offset: bool = False, padding_idx: int | None = None,
) -> Any:  # fmt: skip
    """Rows of a table, reduced in bags.

    Args:
        input: (B, L) of int64 or int32: a bag a row; or (K), bags one after the other.
        weight: (V, D).
        offsets: (B): where each bag of a (K) input begins; with ``include_last_offset`` one more, its end.
        mode: "sum", "mean" or "max". An empty bag gives 0.
        per_sample_weights: input's shape: a factor for each row, for "sum" only.
        padding_idx: an index that doesn't count.
        max_norm, norm_type, scale_grad_by_freq, sparse: as in `embedding`. (PyTorch 2.13 divides by the frequency of a
            wrong row here.)

    Returns:
        (B, D).

    Raises:
        ValueError: sizes, offsets or a mode that don't fit.
        RuntimeError: indices or offsets out of range.
        NotImplementedError: ``per_sample_weights`` with another mode.
    """
    if weight.dtype is int64 and input.is_floating_point():
        caution(SWAPPED)
        input, weight = weight, input
    if per_sample_weights is not None and input.shape != per_sample_weights.shape:
        raise ArgumentValueError(
            f"embedding_bag: If per_sample_weights ({per_sample_weights.shape}) is not None, then it must have the same shape "
            f"as the input ({input.shape})"
        )
    places, starts, bags = _bag_starts(input, offsets, include_last_offset)
    if mode not in ("sum", "mean", "max"):
        raise ArgumentValueError("mode has to be one of sum, mean or max")
    if mode == "max" and (scale_grad_by_freq or sparse):
        raise ArgumentValueError(
            "max mode does not support " + ("scaling the gradient by the frequency" if scale_grad_by_freq else "sparse weights")
        )
    if per_sample_weights is not None and mode != "sum":
        raise MissingError(
            "embedding_bag: per_sample_weights was not None. per_sample_weights is only supported for mode='sum' (got "
            f"mode='{mode}'). Please open a feature request on GitHub."
        )
    if per_sample_weights is not None and per_sample_weights.dtype is not weight.dtype:
        raise OpError(
            "Expected tensor for argument #1 'weight' to have the same type as tensor for argument #1 'per_sample_weights'; but "
            f"type {weight.type()} does not equal {per_sample_weights.type()} (while checking arguments for embedding_bag)"
        )
    if max_norm is not None:
        _check_bags(places, weight)
        rescale(weight, places, max_norm, norm_type)
    factors = None if per_sample_weights is None else per_sample_weights.reshape(-1)
    padding = None if padding_idx is None else padding_idx % weight.shape[0]
    if sparse and not scale_grad_by_freq:
        weight, places, starts, factors, padding = _used_rows(weight, places, starts, factors, padding)
    return _embedding_bag(places, weight, starts, factors, mode, scale_grad_by_freq, padding, bags)
