"""Causal masks for queries and keys of different lengths, by the corner in which they begin."""

from __future__ import annotations

import enum
from typing import Any

from ...errors import ArgumentValueError, OpError
from ...ops import registry
from ...tensor import Tensor


class CausalVariant(enum.IntEnum):
    """In which corner the diagonal of a causal mask begins or ends, where it's not square."""

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias(Tensor):
    """A causal mask (L, S) of bools, true where a query sees a key: given as ``attn_mask``.

    Args:
        variant: the corner. seq_len_q: L. seq_len_kv: S.

    Raises:
        TypeError: for another variant. RuntimeError: LOWER_RIGHT with L > S, where queries would see nothing.
    """

    variant: CausalVariant
    seq_len_q: int
    seq_len_kv: int

    def __new__(cls, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> Any:
        if not isinstance(variant, CausalVariant):
            raise ArgumentValueError(f"CausalBias(): variant must be a CausalVariant, got {variant!r}")
        if seq_len_q > seq_len_kv and variant is CausalVariant.LOWER_RIGHT:
            raise OpError("Lower right causal bias will produce NaNs in the output when seq_len_q > seq_len_kv!")
        names = registry.names("torch")
        shift = 0 if variant is CausalVariant.UPPER_LEFT else seq_len_kv - seq_len_q
        mask = names["ones"](seq_len_q, seq_len_kv, dtype=names["tensor"](True).dtype).tril(shift)
        return Tensor._make_subclass(cls, mask, False)

    def __init__(self, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> None:
        self.variant, self.seq_len_q, self.seq_len_kv = variant, seq_len_q, seq_len_kv


def causal_upper_left(*size: int) -> CausalBias:
    """Query i sees keys up to i. Raises RuntimeError unless there are two sizes.

    >>> causal_upper_left(2, 3).tolist()
    [[True, False, False], [True, True, False]]
    """
    if len(size) != 2:
        raise OpError("causal_upper_left only supports 2D tensors")
    return CausalBias(CausalVariant.UPPER_LEFT, *size)


def causal_lower_right(*size: int) -> CausalBias:
    """The last query sees all keys, the one before all but one. Raises RuntimeError unless there are two sizes, L <= S.

    >>> causal_lower_right(2, 3).tolist()
    [[True, True, False], [True, True, True]]
    """
    if len(size) != 2:
        raise OpError("causal_lower_right only supports 2D tensors")
    return CausalBias(CausalVariant.LOWER_RIGHT, *size)
