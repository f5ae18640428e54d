"""Transformers: encoder and decoder layers, stacks of them, and both together.

Masks: (L, S) or (N H, L, S), and for padded keys (N, S); bools (true: don't look) or floats that are added to the scores.
Source: Vaswani et al., "Attention Is All You Need", 2017; ``norm_first``: Xiong et al., "On Layer Normalization in the
Transformer Architecture", 2020, figure 1.
"""

from __future__ import annotations

import copy
import warnings
from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.state import state
from ...core.views import concrete
from ...errors import OpError
from ...ops import registry
from .. import functional as F
from .. import init
from ..module import Module
from .activation import GELU, ReLU
from .attention import MultiheadAttention
from .container import ModuleList
from .dropout import Dropout
from .linear import Linear
from .normalization import LayerNorm

__all__ = ["Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer"]

_torch = registry.names("torch")
ACTIVATIONS = {"relu": F.relu, "gelu": F.gelu}
NOT_NESTED = "enable_nested_tensor is True, but self.use_nested_tensor is False because encoder_layer{}"


def _activation(given: str | Callable) -> Any:
    if not isinstance(given, str):
        return given
    if given not in ACTIVATIONS:
        raise OpError(f"activation should be relu/gelu, not {given}")
    return ACTIVATIONS[given]


def _clones(module: Module, count: int) -> ModuleList:
    return ModuleList([copy.deepcopy(module) for _ in range(count)])


def _causal_mask(size: int, device: Any = None, dtype: Any = None) -> Any:
    return _torch["triu"](_torch["full"]((size, size), float("-inf"), device=device, dtype=dtype), diagonal=1)


def _is_causal(mask: Any, said: bool | None, size: int) -> bool:
    """Whether a mask is the causal one: what was said, or else what its values say."""
    if said is not None or mask is None:
        return said is True
    values = concrete(mask)
    if values is None or tuple(mask.shape) != (size, size):
        return False
    values, above = np.asarray(values), ~np.tri(size, dtype=bool)
    return bool((values == (above if values.dtype == bool else np.where(above, -np.inf, 0))).all())


def _steps(x: Any, batch_first: bool) -> int:
    return x.shape[1 if batch_first and x.dim() == 3 else 0]


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
        self.activation = _activation(activation)
        kinds = ((F.relu, ReLU), (F.gelu, GELU))
        found = [n for n, (fn, kind) in enumerate(kinds, 1) if self.activation is fn or isinstance(self.activation, kind)]
        self.activation_relu_or_gelu = found[0] if found else 0

    def forward(self, src: Any, src_mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool = False) -> Any:
        """src (L, N, E), (N, L, E) with ``batch_first``, or (L, E); z the same. ``is_causal``: the mask is the causal one."""
        x, masks = src, (src_mask, src_key_padding_mask, is_causal)
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
        self.activation = _activation(activation)

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


def _why_not_nested(layer: Any) -> str:
    """The option of a layer that keeps PyTorch from leaving padding out; "" if none does."""
    if not isinstance(layer, TransformerEncoderLayer):
        return " was not TransformerEncoderLayer"
    attention = layer.self_attn
    reasons = {
        ".norm_first was True": layer.norm_first,
        ".self_attn.batch_first was not True(use batch_first for better inference performance)": not attention.batch_first,
        ".self_attn._qkv_same_embed_dim was not True": not attention._qkv_same_embed_dim,
        ".self_attn was passed bias=False": attention.in_proj_bias is None,
        ".activation_relu_or_gelu was not True": not layer.activation_relu_or_gelu,
        ".norm1.eps was not equal to encoder_layer.norm2.eps": layer.norm1.eps != layer.norm2.eps,
        ".self_attn.num_heads is odd": attention.num_heads % 2 == 1,
    }
    return next((text for text, holds in reasons.items() if holds), "")


class TransformerEncoder(Module):
    """A stack of encoder layers.

    Args:
        encoder_layer: copied for each layer.
        num_layers: how many.
        norm: applied at the end.
        enable_nested_tensor: in evaluation mode without gradients, where ``src_key_padding_mask`` is the only mask, padding
            doesn't go through the layers: it is 0 before ``norm``.
        mask_check: do so only if each sequence's padding is at its end.

    Example:
        >>> import funtorch
        >>> TransformerEncoder(TransformerEncoderLayer(8, 2, batch_first=True), 2)(funtorch.zeros(3, 5, 8)).shape
        torch.Size([3, 5, 8])
    """

    __constants__ = ["norm"]

    def __init__(
        self, encoder_layer: Any, num_layers: int, norm: Module | None = None, enable_nested_tensor: bool = True,
        mask_check: bool = True,
    ) -> None:  # fmt: skip
        super().__init__()
        self.layers = _clones(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check
        reason = _why_not_nested(encoder_layer)
        self.use_nested_tensor = enable_nested_tensor and not reason
        if enable_nested_tensor and reason:
            warnings.warn(NOT_NESTED.format(reason), stacklevel=2)

    def _left_out(self, src: Any, mask: Any, padding: Any) -> Any:
        """Which places (N, L) PyTorch leaves out as padding; None if it treats all alike."""
        if not self.use_nested_tensor or self.training or src.dim() != 3 or padding is None or mask is not None:
            return None
        first = self.layers[0]
        if first.training or (state.grad and any(t.requires_grad for t in (src, *first.parameters()))):
            return None
        values = concrete(padding)
        if values is None:
            return None
        values = np.asarray(values)
        hidden = values if values.dtype == bool else values != 0
        if self.mask_check and (hidden[:, :-1] > hidden[:, 1:]).any():
            return None
        return padding if values.dtype == bool else padding != 0

    def forward(self, src: Any, mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool | None = None) -> Any:
        """src (L, N, E), (N, L, E) with ``batch_first``, or (L, E); z the same. ``is_causal`` None: look at the mask."""
        first = self.layers[0]
        causal = _is_causal(mask, is_causal, _steps(src, first.self_attn.batch_first))
        z = src
        for layer in self.layers:
            z = layer(z, src_mask=mask, is_causal=causal, src_key_padding_mask=src_key_padding_mask)
        left_out = self._left_out(src, mask, src_key_padding_mask)
        if left_out is not None:
            z = z.masked_fill(left_out.unsqueeze(-1), 0.0)
        return z if self.norm is None else self.norm(z)


class TransformerDecoder(Module):
    """A stack of decoder layers.

    Args:
        decoder_layer: copied for each layer.
        num_layers: how many.
        norm: applied at the end.

    Example:
        >>> import funtorch
        >>> decoder = TransformerDecoder(TransformerDecoderLayer(8, 2), 2)
        >>> decoder(funtorch.zeros(5, 3, 8), funtorch.zeros(7, 3, 8)).shape
        torch.Size([5, 3, 8])
    """

    __constants__ = ["norm"]

    def __init__(self, decoder_layer: Any, num_layers: int, norm: Module | None = None) -> None:
        super().__init__()
        self.layers = _clones(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None, tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """tgt (L, N, E), memory (S, N, E), N first with ``batch_first``, or without N; z as tgt."""
        causal = _is_causal(tgt_mask, tgt_is_causal, _steps(tgt, self.layers[0].self_attn.batch_first))
        z = tgt
        for layer in self.layers:
            z = layer(
                z, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
                memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=causal, memory_is_causal=memory_is_causal,
            )  # fmt: skip
        return z if self.norm is None else self.norm(z)


class Transformer(Module):
    """An encoder, and a decoder that attends to its results.

    Args:
        num_encoder_layers, num_decoder_layers: how many.
        custom_encoder, custom_decoder: modules that take their place.
        d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias: as in
            `TransformerEncoderLayer`.

    Raises:
        RuntimeError: src and tgt of different batch sizes, or of other features than d_model.

    Example:
        >>> import funtorch
        >>> model = Transformer(8, 2, 1, 1, 16)
        >>> model(funtorch.zeros(7, 3, 8), funtorch.zeros(5, 3, 8)).shape
        torch.Size([5, 3, 8])
    """

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6,
        dim_feedforward: int = 2048, dropout: float = 0.1, activation: Any = F.relu, custom_encoder: Any = None,
        custom_decoder: Any = None, layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False,
        bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        where = {"device": device, "dtype": dtype}
        options = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        self.encoder, self.decoder = custom_encoder, custom_decoder
        if custom_encoder is None:
            layer = TransformerEncoderLayer(*options, **where)
            self.encoder = TransformerEncoder(layer, num_encoder_layers, LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **where))
        if custom_decoder is None:
            other = TransformerDecoderLayer(*options, **where)
            self.decoder = TransformerDecoder(other, num_decoder_layers, LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **where))
        self._reset_parameters()
        self.d_model = d_model
        self.nhead = nhead
        self.batch_first = batch_first

    def forward(
        self, src: Any, tgt: Any, src_mask: Any = None, tgt_mask: Any = None, memory_mask: Any = None,
        src_key_padding_mask: Any = None, tgt_key_padding_mask: Any = None, memory_key_padding_mask: Any = None,
        src_is_causal: bool | None = None, tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """src (S, N, E), tgt (L, N, E), N first with ``batch_first``, or without N; z as tgt."""
        at = 0 if self.batch_first else 1
        if src.dim() == 3 and src.size(at) != tgt.size(at):
            raise OpError("the batch number of src and tgt must be equal")
        if src.size(-1) != self.d_model or tgt.size(-1) != self.d_model:
            raise OpError("the feature number of src and tgt must be equal to d_model")
        memory = self.encoder(src, mask=src_mask, src_key_padding_mask=src_key_padding_mask, is_causal=src_is_causal)
        return self.decoder(
            tgt, memory, tgt_mask=tgt_mask, memory_mask=memory_mask, tgt_key_padding_mask=tgt_key_padding_mask,
            memory_key_padding_mask=memory_key_padding_mask, tgt_is_causal=tgt_is_causal, memory_is_causal=memory_is_causal,
        )  # fmt: skip

    @staticmethod
    def generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Any:
        """The causal mask: (sz, sz), -inf above the diagonal and 0 elsewhere."""
        return _causal_mask(sz, device, dtype)

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)
