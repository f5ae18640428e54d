"""Transformers: stacks of encoder and of decoder layers, and both together.

Masks: (L, S) or (N H, L, S), and for padded keys (N, S); bools (true: don't look) or floats that are added to the scores.
Source: Vaswani et al., "Attention Is All You Need", 2017.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np

from ...cautions import caution
from ...core.state import state
from ...core.views import concrete
from ...errors import OpError
from ...ops import registry
from ...ops.multihead_attention import canonical, dtype_of, fast
from .. import init
from ..module import Module
from .container import ModuleList
from .normalization import LayerNorm
from .transformer_layers import (  # noqa: F401
    RELU,
    TransformerDecoderLayer,
    TransformerEncoderLayer,
    _get_activation_fn,
)

__all__ = ["Transformer", "TransformerDecoder", "TransformerDecoderLayer", "TransformerEncoder", "TransformerEncoderLayer"]

_torch = registry.names("torch")
NOT_NESTED = "enable_nested_tensor is True, but self.use_nested_tensor is False because encoder_layer{}"


def _get_clones(module: Module, N: int) -> ModuleList:
    return ModuleList([copy.deepcopy(module) for _ in range(N)])


def _generate_square_subsequent_mask(sz: int, device: Any = None, dtype: Any = None) -> Any:
    return _torch["triu"](_torch["full"]((sz, sz), float("-inf"), device=device, dtype=dtype), diagonal=1)


def _detect_is_causal_mask(mask: Any, is_causal: bool | None = None, size: int | None = None) -> bool:
    """Whether a mask is the causal one: what was said, or else what its values say."""
    if is_causal is not None or mask is None:
        return is_causal is True
    values = concrete(mask)
    size = mask.shape[-2] if size is None else size
    if values is None or tuple(mask.shape) != (size, size):
        return False
    values, above = np.asarray(values), ~np.tri(size, dtype=bool)
    return bool((values == (above if values.dtype == bool else np.where(above, -np.inf, 0))).all())


def _get_seq_len(src: Any, batch_first: bool) -> int:
    return src.shape[1 if batch_first and src.dim() == 3 else 0]


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
        self.layers = _get_clones(encoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm
        self.enable_nested_tensor = enable_nested_tensor
        self.mask_check = mask_check
        reason = _why_not_nested(encoder_layer)
        self.use_nested_tensor = enable_nested_tensor and not reason
        if enable_nested_tensor and reason:
            caution(NOT_NESTED.format(reason))

    def _left_out(self, src: Any, mask: Any, padding: Any) -> Any:
        """Which places (N, L) PyTorch leaves out as padding; None if it treats all alike."""
        if not self.use_nested_tensor or self.training or src.dim() != 3 or padding is None or mask is not None:
            return None
        first = self.layers[0]
        if first.training or (state.grad and any(t.requires_grad for t in (src, *first.parameters()))):
            return None
        if not fast[0]:
            return None
        hidden = padding if padding.dtype.name == "bool" else padding != 0
        if not self.mask_check:
            return hidden
        values = concrete(hidden)
        if values is None:  # in a program it has to be asked by the program
            return hidden & ~(hidden[:, :-1] & ~hidden[:, 1:]).any()
        values = np.asarray(values)
        return None if (values[:, :-1] > values[:, 1:]).any() else hidden

    def forward(self, src: Any, mask: Any = None, src_key_padding_mask: Any = None, is_causal: bool | None = None) -> Any:
        """src (L, N, E), (N, L, E) with ``batch_first``, or (L, E); z the same. ``is_causal`` None: look at the mask."""
        first = self.layers[0]
        causal = _detect_is_causal_mask(mask, is_causal, _get_seq_len(src, first.self_attn.batch_first))
        padding = canonical(src_key_padding_mask, "src_key_padding_mask", src.dtype, dtype_of(mask), "mask")
        added = canonical(mask, "mask", src.dtype)
        z = src
        for layer in self.layers:
            z = layer(z, src_mask=added, is_causal=causal, src_key_padding_mask=padding)
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
        self.layers = _get_clones(decoder_layer, num_layers)
        self.num_layers = num_layers
        self.norm = norm

    def forward(
        self, tgt: Any, memory: Any, tgt_mask: Any = None, memory_mask: Any = None, tgt_key_padding_mask: Any = None,
        memory_key_padding_mask: Any = None, tgt_is_causal: bool | None = None, memory_is_causal: bool = False,
    ) -> Any:  # fmt: skip
        """tgt (L, N, E), memory (S, N, E), N first with ``batch_first``, or without N; z as tgt."""
        causal = _detect_is_causal_mask(tgt_mask, tgt_is_causal, _get_seq_len(tgt, self.layers[0].self_attn.batch_first))
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
        >>> model = Transformer(8, 2, 1, 1, 16, batch_first=True)
        >>> model(funtorch.zeros(3, 7, 8), funtorch.zeros(3, 5, 8)).shape
        torch.Size([3, 5, 8])
    """

    def __init__(
        self, d_model: int = 512, nhead: int = 8, num_encoder_layers: int = 6, num_decoder_layers: int = 6,
        dim_feedforward: int = 2048, dropout: float = 0.1, activation: Any = RELU, custom_encoder: Any = None,
        custom_decoder: Any = None, layer_norm_eps: float = 1e-5, batch_first: bool = False, norm_first: bool = False,
        bias: bool = True, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        where = {"device": device, "dtype": dtype}
        options = (d_model, nhead, dim_feedforward, dropout, activation, layer_norm_eps, batch_first, norm_first, bias)
        self.encoder, self.decoder = custom_encoder, custom_decoder
        if custom_encoder is None:
            layer = TransformerEncoderLayer(*options, **where)
            self.encoder = TransformerEncoder(
                layer, num_encoder_layers, LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **where)
            )
        if custom_decoder is None:
            other = TransformerDecoderLayer(*options, **where)
            self.decoder = TransformerDecoder(
                other, num_decoder_layers, LayerNorm(d_model, eps=layer_norm_eps, bias=bias, **where)
            )
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
        return _generate_square_subsequent_mask(sz, device, dtype)

    def _reset_parameters(self) -> None:
        for parameter in self.parameters():
            if parameter.dim() > 1:
                init.xavier_uniform_(parameter)
