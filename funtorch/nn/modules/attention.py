"""Layer of attention by several heads."""

from __future__ import annotations

from typing import Any

from ...errors import ArgumentValueError
from ...ops import registry
from .. import functional as F
from .. import init
from ..module import Module
from ..parameter import Parameter
from .linear import NonDynamicallyQuantizableLinear

__all__ = ["MultiheadAttention"]


class MultiheadAttention(Module):
    """Attention by several heads (see `nn.functional.multi_head_attention_forward`).

    Args:
        embed_dim: E.
        num_heads: H; divides E.
        dropout: the probability with which a weight is dropped in training.
        bias: whether the projections have one.
        add_bias_kv: whether there is one more key and value that are trained.
        add_zero_attn: whether there is one more key and value of zeros.
        kdim, vdim: the sizes of keys and values; None: E.
        batch_first: whether inputs are (N, L, E) and not (L, N, E).

    Attributes:
        in_proj_weight: (3 E, E), or q_proj_weight, k_proj_weight, v_proj_weight for other sizes of keys or values.
        in_proj_bias: (3 E); out_proj: a Linear; bias_k, bias_v: (1, 1, E).

    Raises:
        ValueError: a size that's not above 0.
        AssertionError: E isn't divisible by H, or inputs that don't fit.

    Example:
        >>> import funtorch
        >>> x = funtorch.zeros(5, 2, 8)
        >>> z, weights = MultiheadAttention(8, 4)(x, x, x)
        >>> z.shape, weights.shape
        (torch.Size([5, 2, 8]), torch.Size([2, 5, 5]))

    Source: Vaswani et al., "Attention Is All You Need", 2017, section 3.2.2.
    """

    __constants__ = ["batch_first"]
    bias_k: Any
    bias_v: Any

    def __init__(
        self, embed_dim: int, num_heads: int, dropout: float = 0.0, bias: bool = True, add_bias_kv: bool = False,
        add_zero_attn: bool = False, kdim: int | None = None, vdim: int | None = None, batch_first: bool = False,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if embed_dim <= 0 or num_heads <= 0:
            raise ArgumentValueError(
                f"embed_dim and num_heads must be greater than 0, got embed_dim={embed_dim} and num_heads={num_heads} instead"
            )
        super().__init__()
        self.embed_dim = embed_dim
        self.kdim = embed_dim if kdim is None else kdim
        self.vdim = embed_dim if vdim is None else vdim
        self._qkv_same_embed_dim = self.kdim == embed_dim and self.vdim == embed_dim
        self.num_heads = num_heads
        self.dropout = dropout
        self.batch_first = batch_first
        self.head_dim = embed_dim // num_heads
        if self.head_dim * num_heads != embed_dim:
            raise AssertionError("embed_dim must be divisible by num_heads")
        where = {"device": device, "dtype": dtype}
        self._make_projections(bias, where)
        self.out_proj = NonDynamicallyQuantizableLinear(embed_dim, embed_dim, bias=bias, **where)
        for name in ("bias_k", "bias_v"):
            extra = Parameter(registry.names("torch")["empty"]((1, 1, embed_dim), **where)) if add_bias_kv else None
            setattr(self, name, extra)
        self.add_zero_attn = add_zero_attn
        self._reset_parameters()

    def _make_projections(self, bias: bool, where: dict[str, Any]) -> None:
        empty, width = registry.names("torch")["empty"], self.embed_dim
        same = self._qkv_same_embed_dim
        sizes = {"q_proj_weight": width, "k_proj_weight": self.kdim, "v_proj_weight": self.vdim}
        for name, size in sizes.items():
            self.register_parameter(name, None if same else Parameter(empty((width, size), **where)))
        self.register_parameter("in_proj_weight", Parameter(empty((3 * width, width), **where)) if same else None)
        self.register_parameter("in_proj_bias", Parameter(empty(3 * width, **where)) if bias else None)

    def _reset_parameters(self) -> None:
        names = ("in_proj_weight",) if self._qkv_same_embed_dim else ("q_proj_weight", "k_proj_weight", "v_proj_weight")
        for name in names:
            init.xavier_uniform_(getattr(self, name))
        if self.in_proj_bias is not None:
            init.constant_(self.in_proj_bias, 0.0)
            init.constant_(self.out_proj.bias, 0.0)
        for extra in (self.bias_k, self.bias_v):
            if extra is not None:
                init.xavier_normal_(extra)

    def merge_masks(self, attn_mask: Any, key_padding_mask: Any, query: Any) -> tuple[Any, int | None]:
        """Both masks as one (N, H, L, S), and its kind: 1 for padded keys alone, as they are, 2 for others, None for none."""
        if attn_mask is None:
            return key_padding_mask, None if key_padding_mask is None else 1
        batch, length = query.shape[:2]
        if attn_mask.dim() == 3:
            merged = attn_mask.view(batch, -1, length, length)
        else:
            merged = attn_mask.view(1, 1, length, length).expand(batch, self.num_heads, -1, -1)
        if key_padding_mask is not None:
            merged = merged + key_padding_mask.view(batch, 1, 1, length).expand(-1, self.num_heads, -1, -1)
        return merged, 2

    def forward(
        self, query: Any, key: Any, value: Any, key_padding_mask: Any = None, need_weights: bool = True, attn_mask: Any = None,
        average_attn_weights: bool = True, is_causal: bool = False,
    ) -> tuple[Any, Any]:  # fmt: skip
        """query (L, N, E), key (S, N, E_k), value (S, N, E_v), N first with ``batch_first``; z (L, N, E), and weights (N, L, S)."""
        turned = self.batch_first and query.dim() == 3
        if turned:
            query, key, value = (x.transpose(1, 0) for x in (query, key, value))
        z, weights = F.multi_head_attention_forward(
            query, key, value, self.embed_dim, self.num_heads, self.in_proj_weight, self.in_proj_bias, self.bias_k, self.bias_v,
            self.add_zero_attn, self.dropout, self.out_proj.weight, self.out_proj.bias, training=self.training,
            key_padding_mask=key_padding_mask, need_weights=need_weights, attn_mask=attn_mask,
            use_separate_proj_weight=not self._qkv_same_embed_dim, q_proj_weight=self.q_proj_weight,
            k_proj_weight=self.k_proj_weight, v_proj_weight=self.v_proj_weight, average_attn_weights=average_attn_weights,
            is_causal=is_causal,
        )  # fmt: skip
        return (z.transpose(1, 0) if turned else z), weights
