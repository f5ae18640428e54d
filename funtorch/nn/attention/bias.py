"""Causal masks for queries and keys of different lengths, by the corner in which they begin."""

from __future__ import annotations

import enum
from typing import Any

from ...cautions import caution
from ...dtypes import bool_
from ...ops import registry
from ...tensor import Tensor

SEES_NOTHING = "Lower right causal bias will produce NaNs in the output when seq_len_q > seq_len_kv!"


class CausalVariant(enum.IntEnum):
    """In which corner the diagonal of a causal mask begins or ends, where it's not square."""

    UPPER_LEFT = 1
    LOWER_RIGHT = 2


class CausalBias(Tensor):
    """A causal mask (L, S) of bools, true where a query sees a key: given as ``attn_mask``.

    Args:
        variant: the corner. seq_len_q: L. seq_len_kv: S.

    Raises:
        AssertionError: for another variant.

    Warns of LOWER_RIGHT with L > S, where the first queries see nothing: their results are 0.
    """

    variant: CausalVariant
    seq_len_q: int
    seq_len_kv: int

    def __new__(cls, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> Any:
        if not isinstance(variant, CausalVariant):
            raise AssertionError(f"variant must be a CausalVariant, got {type(variant).__name__}")
        if seq_len_q > seq_len_kv and variant is CausalVariant.LOWER_RIGHT:
            caution(SEES_NOTHING)
        return Tensor._make_subclass(cls, _mask(variant, seq_len_q, seq_len_kv, None), False)

    def __init__(self, variant: CausalVariant, seq_len_q: int, seq_len_kv: int) -> None:
        self.variant, self.seq_len_q, self.seq_len_kv = variant, seq_len_q, seq_len_kv

    def _materialize(self, device: Any = None) -> Tensor:
        """The mask as a plain Tensor."""
        return _mask(self.variant, self.seq_len_q, self.seq_len_kv, device)


def _mask(variant: CausalVariant, queries: int, keys: int, device: Any) -> Tensor:
    shift = 0 if variant is CausalVariant.UPPER_LEFT else keys - queries
    return registry.names("torch")["ones"](queries, keys, dtype=bool_, device=device).tril(shift)


def causal_upper_left(*size: int) -> CausalBias:
    """Query i sees keys up to i. Raises AssertionError unless there are two sizes.

    >>> causal_upper_left(2, 3).tolist()
    [[True, False, False], [True, True, False]]
    """
    if len(size) != 2:
        raise AssertionError("causal_upper_left only supports 2D tensors")
    return CausalBias(CausalVariant.UPPER_LEFT, *size)


def causal_lower_right(*size: int) -> CausalBias:
    """The last query sees all keys, the one before all but one. Raises AssertionError unless there are two sizes.

    >>> causal_lower_right(2, 3).tolist()
    [[True, True, False], [True, True, True]]
    """
    if len(size) != 2:
        raise AssertionError("causal_lower_right only supports 2D tensors")
    return CausalBias(CausalVariant.LOWER_RIGHT, *size)
