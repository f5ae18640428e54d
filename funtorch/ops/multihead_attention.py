"""Attention by several heads, with projections of queries, keys, values and results."""

from __future__ import annotations

import math
from typing import Any

from ..cautions import caution
from ..errors import OpError
from .attention import scaled_dot_product_attention
from .creation import zeros
from .declare import function
from .dropout import dropout
from .joining import cat
from .linear import linear, matmul
from .normalised import softmax
from .padding import pad
from .selection import where

fast: list[bool] = [True]  # whether encoders may give the results of PyTorch's fast path (`torch.backends.mha`)
NEEDS_MASK = (
    "Need attn_mask if specifying the is_causal hint. You may use the Transformer module method "
    "`generate_square_subsequent_mask` to create this mask."
)
MISMATCHED = "Support for mismatched {} and {} is deprecated. Use same type for both instead."


def _checked_ranks(query: Any, key: Any, value: Any, padding: Any, mask: Any, heads: int) -> bool:
    """Whether there is a batch dimension. Raises AssertionError for ranks that don't fit together."""
    rank = query.dim()
    if rank not in (2, 3):
        raise AssertionError(f"query should be unbatched 2D or batched 3D tensor but received {rank}-D query tensor")
    words = "batched (3-D)" if rank == 3 else "unbatched (2-D)"
    if key.dim() != rank or value.dim() != rank:
        raise AssertionError(
            f"For {words} `query`, expected `key` and `value` to be {rank}-D but found {key.dim()}-D and {value.dim()}-D tensors "
            "respectively"
        )
    if padding is not None and padding.dim() != rank - 1:
        raise AssertionError(
            f"For {words} `query`, expected `key_padding_mask` to be `None` or {rank - 1}-D but found {padding.dim()}-D tensor "
            "instead"
        )
    if mask is not None:
        if mask.dim() not in (2, 3):
            raise AssertionError(
                f"For {words} `query`, expected `attn_mask` to be `None`, 2-D or 3-D but found {mask.dim()}-D tensor instead"
            )
        if rank == 2 and mask.dim() == 3 and tuple(mask.shape) != (heads, query.shape[0], key.shape[0]):
            expected = (heads, query.shape[0], key.shape[0])
            raise AssertionError(f"Expected `attn_mask` shape to be {expected} but got {tuple(mask.shape)}")
    return rank == 3


def dtype_of(tensor: Any) -> Any:
    """The dtype of a Tensor, None for None."""
    return None if tensor is None else tensor.dtype


def canonical(mask: Any, name: str, dtype: Any, other: Any = None, other_name: str = "") -> Any:
    """A mask as numbers that are added to the scores: -inf where a mask of bools is true. ``dtype``: of these numbers.

    Warns if ``other``, the dtype of another mask, is not this one's. Raises AssertionError for a mask of integers.
    """
    if mask is None:
        return None
    if other is not None and mask.dtype is not other:
        caution(MISMATCHED.format(name, other_name))
    if mask.dtype.name == "bool":
        return where(mask, -math.inf, zeros((), dtype=dtype))
    if not mask.dtype.is_floating_point:
        raise AssertionError(f"only bool and floating types of {name} are supported")
    return mask


def _check_mask(mask: Any, heads: int, batch: int, rows: int, columns: int) -> Any:
    expected = (rows, columns) if mask.dim() == 2 else (batch * heads, rows, columns)
    if tuple(mask.shape) != expected:
        raise OpError(f"The shape of the {mask.dim()}D attn_mask is {mask.shape}, but should be {expected}.")
    return mask if mask.dim() == 2 else mask.reshape(batch, heads, rows, columns)


def _merged(mask: Any, padding: Any) -> Any:
    """One mask, broadcast to (N, H, L, S), of that of the scores and that of the keys (N, S)."""
    if padding is None:
        return mask
    padding = padding[:, None, None, :]
    return padding if mask is None else mask + padding


def _projected(inputs: tuple[Any, ...], together: Any, apart: tuple[Any, ...], bias: Any, separate: bool) -> list[Any]:
    """Queries, keys and values, each (length, N, E)."""
    weights = apart if separate else together.chunk(3)
    biases = (None,) * 3 if bias is None else bias.chunk(3)
    return [linear(x, w, b) for x, w, b in zip(inputs, weights, biases, strict=True)]


def _attended(q: Any, k: Any, v: Any, mask: Any, dropout_p: float, causal: bool, need_weights: bool) -> tuple[Any, Any]:
    """The heads' results (N, H, L, D), and their weights (N, H, L, S) if they're needed."""
    if not need_weights:
        return scaled_dot_product_attention(q, k, v, mask, dropout_p, causal), None
    scores = matmul(q * math.sqrt(1.0 / q.shape[-1]), k.transpose(-2, -1))
    weights = softmax(scores if mask is None else scores + mask, -1)
    if dropout_p > 0:
        weights = dropout(weights, dropout_p)
    return matmul(weights, v), weights


def _check_sizes(query: Any, key: Any, value: Any, width: int, heads: int, separate: bool) -> None:
    found = query.shape[2]
    if found != width:
        raise AssertionError(f"was expecting embedding dimension of {width}, but got {found}")
    if width % heads:
        raise AssertionError(f"embed_dim {width} not divisible by num_heads {heads}")
    if key.shape[:2] != value.shape[:2] or (not separate and key.shape != value.shape):
        raise AssertionError(f"key shape {key.shape} does not match value shape {value.shape}")


def _heads(
    projected: tuple[Any, ...], heads: int, extra: tuple[Any, ...], static: tuple[Any, ...], zero: bool
) -> tuple[Any, Any, Any, int]:
    """Queries, keys and values by heads (N, H, length, D), and how many keys were added to those given."""
    q, k, v = projected
    batch, width = q.shape[1:]
    added = 0
    if extra[0] is not None and extra[1] is not None:
        k, v = (cat([x, one.expand(1, batch, width)]) for x, one in zip((k, v), extra, strict=True))
        added += 1
    by_heads = [x.reshape(x.shape[0], batch, heads, width // heads).permute(1, 2, 0, 3) for x in (q, k, v)]
    for at, given in enumerate(static, 1):
        if given is not None:
            by_heads[at] = given.reshape(batch, heads, -1, width // heads)
    q, k, v = by_heads
    if zero:
        nothing = zeros((batch, heads, 1, width // heads), dtype=k.dtype)
        k, v = cat([k, nothing], 2), cat([v, nothing], 2)
        added += 1
    return q, k, v, added


@function("nn.functional")
def multi_head_attention_forward(
    query: Any, key: Any, value: Any, embed_dim_to_check: int, num_heads: int, in_proj_weight: Any, in_proj_bias: Any,
    bias_k: Any, bias_v: Any, add_zero_attn: bool, dropout_p: float, out_proj_weight: Any, out_proj_bias: Any,
    training: bool = True, key_padding_mask: Any = None, need_weights: bool = True, attn_mask: Any = None,
    use_separate_proj_weight: bool = False, q_proj_weight: Any = None, k_proj_weight: Any = None, v_proj_weight: Any = None,
    static_k: Any = None, static_v: Any = None, average_attn_weights: bool = True, is_causal: bool = False,
) -> tuple[Any, Any]:  # fmt: skip
    """Attention by several heads: z = concat(head_1, ..., head_H) W_o + b_o.

    Args:
        query: (L, N, E) or (L, E).
        key: (S, N, E_k) or (S, E_k); value: (S, N, E_v) or (S, E_v).
        embed_dim_to_check: E; num_heads: H, divides E.
        in_proj_weight: (3 E, E), or with ``use_separate_proj_weight`` instead of it q_proj_weight (E, E), k_proj_weight
            (E, E_k), v_proj_weight (E, E_v); in_proj_bias: (3 E).
        bias_k, bias_v: (1, 1, E): one more key and value.
        add_zero_attn: whether there is one more key and value of zeros.
        dropout_p: the probability with which a weight is dropped in training mode.
        out_proj_weight: (E, E); out_proj_bias: (E).
        key_padding_mask: (N, S) or (S): bools (true: don't look), or floats that are added to the scores.
        attn_mask: (L, S) or (N H, L, S), likewise. need_weights: whether to return the weights.
        static_k, static_v: (N H, S, E / H): keys and values that are used as they are.
        average_attn_weights: average them over the heads; is_causal: ``attn_mask`` is the causal one.

    Returns:
        (L, N, E) or (L, E), and the weights (N, L, S), (N, H, L, S) or without N, or None.

    Raises:
        AssertionError, RuntimeError: sizes or types that don't fit.

    Source: Vaswani et al., "Attention Is All You Need", 2017, section 3.2.2.
    """
    batched = _checked_ranks(query, key, value, key_padding_mask, attn_mask, num_heads)
    if not batched:
        query, key, value = (x.unsqueeze(1) for x in (query, key, value))
        key_padding_mask = None if key_padding_mask is None else key_padding_mask.unsqueeze(0)
    if is_causal and attn_mask is None:
        raise OpError(NEEDS_MASK)
    # The mask itself is only left out where the attention can make it by itself.
    causal = is_causal and key_padding_mask is None and not need_weights
    padding = canonical(key_padding_mask, "key_padding_mask", query.dtype, dtype_of(attn_mask), "attn_mask")
    mask = None if causal else canonical(attn_mask, "attn_mask", query.dtype)
    _check_sizes(query, key, value, embed_dim_to_check, num_heads, use_separate_proj_weight)
    if mask is not None:
        mask = _check_mask(mask, num_heads, query.shape[1], query.shape[0], key.shape[0])
    q, k, v = _projected(
        (query, key, value), in_proj_weight, (q_proj_weight, k_proj_weight, v_proj_weight), in_proj_bias,
        use_separate_proj_weight,
    )  # fmt: skip
    q, k, v, more = _heads((q, k, v), num_heads, (bias_k, bias_v), (static_k, static_v), add_zero_attn)
    if padding is not None and padding.shape[1] + more != k.shape[2]:
        raise AssertionError(f"Expected key_padded_mask.shape[1] to be {k.shape[2] - more}, but got {padding.shape[1]}")
    if more:
        mask, padding = (None if m is None else pad(m, (0, more)) for m in (mask, padding))
    rate = dropout_p if training else 0.0
    z, weights = _attended(q, k, v, _merged(mask, padding), rate, causal, need_weights)
    z = linear(z.permute(2, 0, 1, 3).reshape(query.shape), out_proj_weight, out_proj_bias)
    if weights is not None:
        weights = weights.mean(dim=1) if average_attn_weights else weights
        weights = weights if batched else weights.squeeze(0)
    return (z if batched else z.squeeze(1)), weights
