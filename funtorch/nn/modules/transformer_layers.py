"""The layers of transformers: attention and a feed-forward part, each added to its input and normalised.

Masks: (L, S) or (N H, L, S), and for padded keys (N, S); bools (true: don't look) or floats that are added to the scores.
Source: Vaswani et al., "Attention Is All You Need", 2017; ``norm_first``: Xiong et al., "On Layer Normalization in the
Transformer Architecture", 2020, figure 1.
"""

from __future__ import annotations

from typing import Any

from ...errors import OpError
from ...ops.multihead_attention import canonical, dtype_of
from .. import functional as F
from ..module import Module
from .activation import GELU, ReLU
from .attention import MultiheadAttention
from .dropout import Dropout
from .linear import Linear
from .normalization import LayerNorm

__all__ = ["TransformerDecoderLayer", "TransformerEncoderLayer"]

RELU = F.relu
ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu}


def _get_activation_fn(activation: str) -> Any:
    if activation not in ACTIVATIONS:
        raise OpError(f"activation should be relu/gelu, not {activation}")
    return ACTIVATIONS[activation]


class _Layer(Module):
    """What encoder and decoder layers share: the feed-forward part, norms and dropouts."""

    activation: Any
    norms = 0

    def _set_up(
        self, d_model: int, dim_feedforward: int, dropout: float, eps: float, norm_first: bool, bias: bool, where: dict[str, Any]
    ) -> None:
        self.linear1 = Linear(d_model, dim_feedforward, bias=bias, **where)
        self.dropout = Dropout(dropout)
        self.linear2 = Linear(dim_feedforward, d_model, bias=bias, **where)
        self.norm_first = norm_first
        for number in range(1, self.norms + 1):
            setattr(self, f"norm{number}", LayerNorm(d_model, eps=eps, bias=bias, **where))
        for number in range(1, self.norms + 1):
            setattr(self, f"dropout{number}", Dropout(dropout))

    def __setstate__(self, saved: dict[str, Any]) -> None:
        super().__setstate__(saved)
        if not hasattr(self, "activation"):
            self.activation = F.relu

    def _attend(self, attention: Any, dropout: Any, x: Any, memory: Any, mask: Any, padding: Any, causal: bool) -> Any:
        z, _ = attention(x, memory, memory, attn_mask=mask, key_padding_mask=padding, is_causal=causal, need_weights=False)
        return dropout(z)

    def _sa_block(self, x: Any, attn_mask: Any, key_padding_mask: Any, is_causal: bool = False) -> Any:
        return self._attend(self.self_attn, self.dropout1, x, x, attn_mask, key_padding_mask, is_causal)

    def _ff_block(self, x: Any) -> Any:
        last = self.dropout2 if self.norms == 2 else self.dropout3
        return last(self.linear2(self.dropout(self.activation(self.linear1(x)))))


class TransformerEncoderLayer(_Layer):
    """Self-attention and a feed-forward part, each added to its input and normalised.

    z = norm2(y + ff(y)), y = norm1(x + attention(x)); with ``norm_first`` z = y + ff(norm2(y)), y = x + attention(norm1(x)).

    Args:
        d_model: E.
        nhead: H, divides E.
        dim_feedforward: the size between the two Linears of ff.
        dropout: the probability with which values are dropped in training: of the weights, inside ff, and before each sum.
        activation: between the two Linears: "relu", "gelu" or a function.
        layer_norm_eps: of the norms.
        batch_first: whether inputs are (N, L, E) and not (L, N, E).
        norm_first: see above.
        bias: whether Linears and norms have one.

    Raises:
        RuntimeError: another activation's name. AssertionError, RuntimeError: inputs that don't fit.

    Example:
        >>> import funtorch
        >>> TransformerEncoderLayer(8, 2)(funtorch.zeros(5, 3, 8)).shape
        torch.Size([5, 3, 8])
    """

    __constants__ = ["norm_first"]
    norms = 2

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1, activation: Any = F.relu,
        layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        where = {"device": device, "dtype": dtype}
        self.self_attn = MultiheadAttention(d_model, nhead, dropout=dropout, bias=bias, batch_first=batch_first, **where)
        self._set_up(d_model, dim_feedforward, dropout, layer_norm_eps, norm_first, bias, where)
        self.activation = _get_activation_fn(activation) if isinstance(activation, str) else activation
        kinds = ((F.relu, ReLU), (F.gelu, GELU))
        found = [n for n, (fn, kind) in enumerate(kinds, 1) if self.activation is fn or isinstance(self.activation, kind)]
        self.activation_relu_or_gelu = found[0] if found else 0

    def forward(self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False) -> Any:
        """src (L, N, E), (N, L, E) with ``batch_first``, or (L, E); z the same. ``is_causal``: the mask is the causal one."""
        padding = canonical(src_key_padding_mask, "src_key_padding_mask", src.dtype, dtype_of(src_mask), "src_mask")
        x, masks = src, (canonical(src_mask, "src_mask", src.dtype), padding, is_causal)
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *masks)
            return x + self._ff_block(self.norm2(x))
        x = self.norm1(x + self._sa_block(x, *masks))
        return self.norm2(x + self._ff_block(x))


class TransformerDecoderLayer(_Layer):
    """Self-attention, attention to an encoder's results, and a feed-forward part, each added to its input and normalised.

    Args:
        d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias: as in
            `TransformerEncoderLayer`.

    Raises:
        RuntimeError: another activation's name. AssertionError, RuntimeError: inputs that don't fit.

    Example:
        >>> import funtorch
        >>> TransformerDecoderLayer(8, 2)(funtorch.zeros(5, 3, 8), funtorch.zeros(7, 3, 8)).shape
        torch.Size([5, 3, 8])
    """

    __constants__ = ["norm_first"]
    norms = 3

    def __init__(
        self, d_model: int, nhead: int, dim_feedforward: int = 2048, dropout: float = 0.1, activation: Any = F.relu,
        layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False, bias: bool = True,
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        where = {"device": device, "dtype": dtype}
        for name in ("self_attn", "multihead_attn"):
            setattr(self, name, MultiheadAttention(d_model, nhead, dropout=dropout, batch_first=batch_first, bias=bias, **where))
        self._set_up(d_model, dim_feedforward, dropout, layer_norm_eps, norm_first, bias, where)
        self.activation = _get_activation_fn(activation) if isinstance(activation, str) else activation

    def _mha_block(self, x: Any, mem: Any, attn_mask: Any, key_padding_mask: Any, is_causal: bool = False) -> Any:
        return self._attend(self.multihead_attn, self.dropout2, x, mem, attn_mask, key_padding_mask, is_causal)

    def forward(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None, tgt_is_causal: bool = False, memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """tgt (L, N, E), memory (S, N, E), N first with ``batch_first``, or without N; z as tgt."""
        own = tgt_mask, tgt_key_padding_mask, tgt_is_causal
        other = memory, memory_mask, memory_key_padding_mask, memory_is_causal
        x = tgt
        if self.norm_first:
            x = x + self._sa_block(self.norm1(x), *own)
            x = x + self._mha_block(self.norm2(x), *other)
            return x + self._ff_block(self.norm3(x))
        x = self.norm1(x + self._sa_block(x, *own))
        x = self.norm2(x + self._mha_block(x, *other))
        return self.norm3(x + self._ff_block(x))
