"""flex_attention: attention whose scores go through a function of one's own."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

from ...cautions import caution
from ...errors import ArgumentValueError, MissingError
from ...tensor import Tensor
from .block_mask import (
    _DEFAULT_SPARSE_BLOCK_SIZE,  # noqa: F401
    BlockMask,
    and_masks,
    create_block_mask,
    create_mask,
    indices,
    noop_mask,
    or_masks,
    over_indices,
)

__all__ = [
    "AuxOutput", "AuxRequest", "BlockMask", "and_masks", "create_block_mask", "create_mask", "flex_attention", "noop_mask",
    "or_masks",
]  # fmt: skip

OLD_LSE = "return_lse is deprecated and will be removed in v2.10. Please use return_aux=AuxRequest(lse=True) instead."


class AuxRequest(NamedTuple):
    """What `flex_attention` is to give besides its result."""

    lse: bool = False
    max_scores: bool = False


class AuxOutput(NamedTuple):
    """What was asked for; None for the rest."""

    lse: Tensor | None = None
    max_scores: Tensor | None = None


def flex_attention(
    query: Tensor, key: Tensor, value: Tensor, score_mod: Callable | None = None, block_mask: BlockMask | None = None,
    scale: float | None = None, enable_gqa: bool = False, return_lse: bool = False, kernel_options: dict | None = None,
    *, return_aux: AuxRequest | None = None,
) -> Any:  # fmt: skip
    r"""Attention with modified scores.

    :math:`z_i = \sum_j \mathrm{softmax}_j(f(s_{ij}, b, h, i, j)) v_j` with :math:`s = q k^T \cdot` ``scale``.

    Args:
        query: (B, H, L, D). key: (B, G, S, D). value: (B, G, S, E); G is H, or divides it with ``enable_gqa``. key and value
            may have B = 1 where the query has more.
        score_mod: ``f(score, b, h, q, kv)`` of 0-dim Tensors; may read Tensors from outside, which get gradients.
        block_mask: which keys a query sees, from `create_block_mask`; batches and heads of size 1 are broadcast.
        scale: None: 1 / sqrt(D).
        return_lse: also give the log of the sum of exp of the scores, (B, H, L). Deprecated, as in PyTorch: ``return_aux``.
        kernel_options: accepted as in PyTorch; XLA has no use for them.
        return_aux: what else to give, as an AuxOutput.

    Returns:
        (B, H, L, E); 0 for a query that sees no key. With ``return_lse`` or ``return_aux`` a pair.

    Raises:
        ValueError: sizes that don't fit. NotImplementedError: other ranks than 4.

    >>> import funtorch as torch
    >>> q = torch.ones(1, 1, 2, 1)
    >>> flex_attention(q, q, torch.arange(2.0).reshape(1, 1, 2, 1), lambda s, b, h, i, j: torch.where(i >= j, s, -torch.inf)).flatten()
    tensor([0.0000, 0.5000])
    """
    if return_lse and return_aux is not None:
        raise ArgumentValueError(
            "flex_attention(): return_lse and return_aux can't both be given: return_aux=AuxRequest(lse=True) is enough"
        )
    if return_lse:
        caution(OLD_LSE, FutureWarning)
    _check(query, key, value, block_mask, enable_gqa)
    batch, heads, queries, width = query.shape
    if key.shape[1] != heads:
        key, value = (x.repeat_interleave(heads // x.shape[1], 1) for x in (key, value))
    scores = (query @ key.transpose(-1, -2)).float() if query.dtype.itemsize < 4 else query @ key.transpose(-1, -2)
    scores = scores * (1 / math.sqrt(width) if scale is None else scale)  # (B, H, L, S)
    if score_mod is not None:
        scores = over_indices(score_mod, first=True)(scores, *indices(batch, heads, queries, key.shape[2])).to(scores.dtype)
    if block_mask is not None:
        scores = scores.masked_fill(~block_mask.mask, -math.inf)
    highest = scores.amax(-1, keepdim=True)
    # A query that sees nothing has weights of 0, and not 0 / 0.
    shift = highest.detach().masked_fill(highest == -math.inf, 0.0)
    weights = (scores - shift).exp()
    total = weights.sum(-1, keepdim=True)
    out = (weights / total.masked_fill(total == 0, 1.0)) @ value.to(weights.dtype)  # (B, H, L, E)
    out = out.to(query.dtype)
    if not return_lse and return_aux is None:
        return out
    lse = (total.log() + shift).squeeze(-1)
    if return_aux is None:
        return out, lse
    return out, AuxOutput(lse if return_aux.lse else None, highest.squeeze(-1) if return_aux.max_scores else None)


def _check(query: Tensor, key: Tensor, value: Tensor, mask: BlockMask | None, enable_gqa: bool) -> None:
    shapes = f"query {list(query.shape)}, key {list(key.shape)}, value {list(value.shape)}"
    if any(x.dim() != 4 for x in (query, key, value)):
        raise MissingError(f"flex_attention(): expected query, key and value to be 4 dimensional, got {shapes}")
    if key.shape[-1] != query.shape[-1] or key.shape[:-1] != value.shape[:-1] or key.shape[0] not in (1, query.shape[0]):
        raise ArgumentValueError(f"flex_attention(): sizes do not fit: {shapes}")
    if enable_gqa and query.shape[1] % key.shape[1]:
        raise ArgumentValueError(
            f"flex_attention(): Expect number of query heads to be a multiple of kv heads for GQA but got Hq={query.shape[1]} and "
            f"Hkv={key.shape[1]}."
        )
    if not enable_gqa and key.shape[1] != query.shape[1]:
        raise ArgumentValueError(
            f"flex_attention(): Expect query and key/value to have the same number of heads but got Hq={query.shape[1]} and "
            f"Hkv={key.shape[1]}. Try setting enable_gqa=True for GQA."
        )
    want = (query.shape[0], query.shape[1], query.shape[2], key.shape[2])
    if mask is None:
        return
    if mask.shape[2:] != want[2:] or any(a not in (1, b) for a, b in zip(mask.shape[:2], want[:2], strict=True)):
        raise ArgumentValueError(f"flex_attention(): block_mask was created for {mask.shape} but got {want}: {shapes}")
