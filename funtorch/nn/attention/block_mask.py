"""Masks of `flex_attention`: functions of batch, head, query and key, and what is kept of one for given sizes."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from ...errors import ArgumentValueError, OpError
from ...ops import registry
from ...tensor import Tensor
from ...transforms import vmap

Index = Any


def noop_mask(batch: Index, head: Index, token_q: Index, token_kv: Index) -> Any:
    """True: every query sees every key."""
    return batch.new_ones((), dtype=registry.names("torch")["tensor"](True).dtype)


def and_masks(*mask_mods: Callable) -> Callable:
    """The mask in which a query sees the keys that it sees in all of the masks. Raises RuntimeError for what can't be called."""
    _callable(mask_mods, "and_masks")
    return lambda b, h, q, kv: functools.reduce(lambda x, y: x & y, [m(b, h, q, kv) for m in mask_mods], noop_mask(b, h, q, kv))


def or_masks(*mask_mods: Callable) -> Callable:
    """The mask in which a query sees the keys that it sees in one of the masks. Raises RuntimeError for what can't be called."""
    _callable(mask_mods, "or_masks")
    return lambda b, h, q, kv: functools.reduce(lambda x, y: x | y, [m(b, h, q, kv) for m in mask_mods], ~noop_mask(b, h, q, kv))


def _callable(mods: tuple, name: str) -> None:
    if not all(callable(m) for m in mods):
        raise OpError(f"{name}(): All inputs should be callable mask_mods: {mods}")


def over_indices(function: Callable, first: bool) -> Callable:
    """``function(score, b, h, q, kv)``, or without ``score`` where not ``first``, for all indices at once."""
    lead = (0,) if first else ()
    mapped = function
    for axis in (3, 2, 1, 0):
        mapped = vmap(mapped, in_dims=(*lead, *(0 if i == axis else None for i in range(4))), randomness="different")
    return mapped


def indices(batch: int, heads: int, queries: int, keys: int) -> tuple[Tensor, ...]:
    """The numbers of batches, heads, queries and keys."""
    arange = registry.names("torch")["arange"]
    return tuple(arange(n) for n in (batch, heads, queries, keys))


def create_mask(mod_fn: Callable, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None) -> Tensor:  # noqa: N803
    """A mask function as bools (B, H, Q_LEN, KV_LEN). ``B``, ``H``: 1 where None."""
    return over_indices(mod_fn, first=False)(*indices(B or 1, H or 1, Q_LEN, KV_LEN))


class BlockMask:
    """A mask function with the sizes for which it was made, and the bools themselves.

    Differs from PyTorch: XLA skips no blocks; ``BLOCK_SIZE`` is kept, and `sparsity` counts blocks as PyTorch does.
    """

    def __init__(self, mask: Tensor, mask_mod: Callable, block_size: tuple[int, int]) -> None:
        self.mask = mask
        self.mask_mod = mask_mod
        self.BLOCK_SIZE = block_size
        self.seq_lengths = tuple(mask.shape[-2:])

    @property
    def shape(self) -> tuple[int, ...]:
        """(B, H, Q_LEN, KV_LEN)."""
        return tuple(self.mask.shape)

    def to_dense(self) -> Tensor:
        """Which blocks have a query that sees a key: (B, H, blocks of queries, blocks of keys), int32."""
        pad = registry.names("nn.functional")["pad"]
        rows, columns = self.BLOCK_SIZE
        b, h, q, kv = self.shape
        full = pad(self.mask.int(), (0, -kv % columns, 0, -q % rows))
        blocks = full.reshape(b, h, full.shape[2] // rows, rows, full.shape[3] // columns, columns)
        return blocks.amax((3, 5))

    def sparsity(self) -> float:
        """How many blocks in a hundred need no work."""
        dense = self.to_dense()
        return 100 * (1 - dense.sum().item() / dense.numel())

    def to(self, device: Any) -> BlockMask:
        """The same on a device."""
        return BlockMask(self.mask.to(device), self.mask_mod, self.BLOCK_SIZE)

    def __repr__(self) -> str:
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%)"


def create_block_mask(
    mask_mod: Callable, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None,  # noqa: N803
    BLOCK_SIZE: int | tuple[int, int] = 128, _compile: bool = False,  # noqa: N803
) -> BlockMask:  # fmt: skip
    """A mask for `flex_attention`.

    Args:
        mask_mod: ``f(b, h, q, kv)`` of 0-dim integers: whether query q sees key kv. May read Tensors from outside.
        B, H: batches and heads, or None where the mask is the same for all.
        Q_LEN, KV_LEN: lengths.
        BLOCK_SIZE: of blocks of queries and keys, for `BlockMask.sparsity`.

    Raises:
        ValueError: a block size that is not positive.
    """
    rows, columns = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    if min(rows, columns) < 1:
        raise ArgumentValueError(f"create_block_mask(): BLOCK_SIZE must be positive, got {BLOCK_SIZE}")
    return BlockMask(create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device), mask_mod, (rows, columns))
