"""What functions that were copied from PyTorch's ``nn.functional`` and changed call: names there that are not public."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..errors import ArgumentValueError
from ..ops.linear import linear
from ..ops.multihead_attention import _checked_ranks, canonical
from ..ops.multihead_attention import dtype_of as _none_or_dtype  # noqa: F401
from ..ops.normalised import implicit_dim


def _get_softmax_dim(name: str, ndim: int, stacklevel: int) -> int:
    """The dimension that is taken where none is given, with a warning."""
    return implicit_dim(name, ndim)


def _in_projection_packed(q: Any, k: Any, v: Any, w: Any, b: Any = None) -> list[Any]:
    """Queries, keys and values (*, E) through one weight (3 E, E) and bias (3 E)."""
    if k is v and q is k:
        return list(linear(q, w, b).chunk(3, -1))
    biases = (None,) * 3 if b is None else b.chunk(3)
    return [linear(x, weight, bias) for x, weight, bias in zip((q, k, v), w.chunk(3), biases, strict=True)]


def _in_projection(
    q: Any, k: Any, v: Any, w_q: Any, w_k: Any, w_v: Any, b_q: Any = None, b_k: Any = None, b_v: Any = None
) -> tuple[Any, Any, Any]:
    """Queries, keys and values, each through a weight and bias of its own."""
    return linear(q, w_q, b_q), linear(k, w_k, b_k), linear(v, w_v, b_v)


def _mha_shape_check(query: Any, key: Any, value: Any, key_padding_mask: Any, attn_mask: Any, num_heads: int) -> bool:
    """Whether there is a batch dimension. Raises AssertionError for ranks that don't fit together."""
    return _checked_ranks(query, key, value, key_padding_mask, attn_mask, num_heads)


def _canonical_mask(
    mask: Any, mask_name: str, other_type: Any, other_name: str, target_type: Any, check_other: bool = True
) -> Any:
    """A mask as numbers that are added to the scores: -inf where a mask of bools is true."""
    return canonical(mask, mask_name, target_type, other_type if check_other else None, other_name)


def _verify_batch_size(size: Sequence[int]) -> None:
    """Raises ValueError where norms over the batch would have one value for each channel alone."""
    count = size[0]
    for each in size[2:]:
        count *= each
    if count == 1:
        raise ArgumentValueError(f"Expected more than 1 value per channel when training, got input size {size}")


def _list_or_empty(values: Sequence[Any] | None) -> Sequence[Any]:
    """The values; none for None."""
    return [] if values is None else values
