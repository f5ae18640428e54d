"""Masks of `flex_attention`: functions of batch, head, query and key, and what is kept of one for given sizes."""

from __future__ import annotations

import functools
import inspect
import math
from collections.abc import Callable
from typing import Any

from ...errors import ArgumentValueError, OpError
from ...ops import registry
from ...tensor import Tensor
from ...transforms import vmap
from .block_lists import blocks_of, drawn, listed, spread, unlisted

Index = Any
_DEFAULT_SPARSE_BLOCK_SIZE = 128
ORDERS = ("dq_write_order", "dq_write_order_full", "dq_kv_order", "dq_kv_order_spt")
LISTS = tuple(f"{kind}{axis}_{what}" for axis in ("kv", "q") for kind in ("", "full_") for what in ("num_blocks", "indices"))


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


def indices(batch: int, heads: int, queries: int, keys: int, device: Any = None) -> tuple[Tensor, ...]:
    """The numbers of batches, heads, queries and keys."""
    arange = registry.names("torch")["arange"]
    return tuple(arange(n, device=device) for n in (batch, heads, queries, keys))


def create_mask(mod_fn: Callable, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None) -> Tensor:  # noqa: N803
    """A mask function as bools (B, H, Q_LEN, KV_LEN); of a score function, where it isn't -inf. ``B``, ``H``: 1 where None."""
    sizes = (1 if B is None else B, 1 if H is None else H, Q_LEN, KV_LEN)
    if _takes(mod_fn) == 5:
        scores = registry.names("torch")["zeros"](sizes, device=device)
        return ~over_indices(mod_fn, first=True)(scores, *indices(*sizes, device)).isneginf()
    return over_indices(mod_fn, first=False)(*indices(*sizes, device))


def _takes(mod_fn: Callable) -> int:
    """How many positional arguments without a default a function takes. Raises AssertionError unless 4 or 5 can be told."""
    kinds = (inspect.Parameter.POSITIONAL_ONLY, inspect.Parameter.POSITIONAL_OR_KEYWORD)
    found = list(inspect.signature(mod_fn).parameters.values())
    if any(p.kind is inspect.Parameter.VAR_POSITIONAL for p in found):
        return 4
    count = sum(p.kind in kinds and p.default is inspect.Parameter.empty for p in found)
    if count not in (4, 5):
        raise AssertionError(f"Expected 4 or 5 positional args, got {count}")
    return count


class BlockMask:
    """A mask function with the sizes for which it was made, and the bools themselves.

    Differs from PyTorch: XLA skips no blocks; the lists of blocks are made when they are asked for.

    Attributes:
        kv_num_blocks, kv_indices: of each row of blocks those with bools of both kinds: how many (B, H, rows), and their numbers
            before the others' (B, H, rows, columns). full_kv_num_blocks, full_kv_indices: of those with true ones alone.
        q_num_blocks, q_indices, full_q_num_blocks, full_q_indices: the same of each column.
        BLOCK_SIZE: of blocks of queries and keys. seq_lengths: numbers of queries and keys. mask_mod: the function.
    """

    # What PyTorch keeps for the order of its gradients' sums.
    dq_write_order = dq_write_order_full = dq_kv_order = dq_kv_order_spt = None

    def __init__(
        self, mask: Tensor, mask_mod: Callable, block_size: tuple[int, int], separate: bool = True,
        blocks: tuple[Tensor, Tensor] | None = None, columns: bool = True,
    ) -> None:  # fmt: skip
        self._mask: Tensor | None = mask
        self._blocks = blocks_of(mask, block_size) if blocks is None else blocks
        self._mask_mod = mask_mod
        self.BLOCK_SIZE = block_size
        self._seq_lengths = tuple(mask.shape[-2:])
        self._separate, self._columns = separate, columns

    @property
    def mask(self) -> Tensor:
        """The bools (B, H, Q_LEN, KV_LEN); made anew when the function or the lengths were set."""
        if self._mask is None:
            parts, whole = self._blocks
            named = create_mask(self._mask_mod, *_batch_and_heads(parts), *self._seq_lengths)
            spreads = (spread(blocks, self.BLOCK_SIZE, self._seq_lengths) for blocks in (parts, whole))
            self._mask = (next(spreads) & named) | next(spreads)
        return self._mask

    @property
    def mask_mod(self) -> Callable:
        """The function. It can be set, as for the rows that were chosen by an index."""
        return self._mask_mod

    @mask_mod.setter
    def mask_mod(self, function: Callable) -> None:
        self._mask_mod, self._mask = function, None

    @property
    def seq_lengths(self) -> tuple[int, int]:
        """(Q_LEN, KV_LEN). They can be set."""
        return self._seq_lengths  # type: ignore[return-value]

    @seq_lengths.setter
    def seq_lengths(self, lengths: tuple[int, int]) -> None:
        self._seq_lengths, self._mask = (lengths[0], lengths[1]), None

    @classmethod
    def from_kv_blocks(
        cls, kv_num_blocks: Tensor, kv_indices: Tensor, full_kv_num_blocks: Tensor | None = None, full_kv_indices: Tensor | None = None,
        BLOCK_SIZE: int | tuple[int, int] = 128, mask_mod: Callable | None = None, seq_lengths: tuple[int, int] | None = None,  # noqa: N803
        compute_q_blocks: bool = True,
    ) -> BlockMask:  # fmt: skip
        """A mask from lists of blocks: those of the first two only where ``mask_mod`` says so, those of the others whole.

        Args:
            kv_num_blocks, kv_indices, full_kv_num_blocks, full_kv_indices: see `BlockMask`.
            BLOCK_SIZE: of blocks of queries and keys.
            mask_mod: None: all elements.
            seq_lengths: None: those of all blocks.
            compute_q_blocks: whether there are lists of the columns of blocks.
            dq_write_order, dq_write_order_full, dq_kv_order: accepted as in PyTorch, without effect.

        Raises:
            ValueError, RuntimeError: sizes that don't fit. AssertionError: one of the two lists of whole blocks alone.
        """
        size = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
        if (full_kv_num_blocks is None) != (full_kv_indices is None):
            raise AssertionError("full_kv_num_blocks and full_kv_indices must be both provided or omitted")
        if kv_indices.dim() < 2:
            raise OpError("BlockMask must have at least 2 dimensions")
        rows, columns = kv_indices.shape[-2:]
        lengths = (rows * size[0], columns * size[1]) if seq_lengths is None else (seq_lengths[0], seq_lengths[1])
        parts = unlisted(kv_num_blocks, kv_indices)
        whole = parts & ~parts
        if full_kv_num_blocks is not None and full_kv_indices is not None:
            whole = unlisted(full_kv_num_blocks, full_kv_indices)
        chosen = noop_mask if mask_mod is None else mask_mod
        named = create_mask(chosen, *_batch_and_heads(parts), *lengths)
        mask = (spread(parts, size, lengths) & named) | spread(whole, size, lengths)
        return cls(mask, chosen, size, full_kv_num_blocks is not None, (parts, whole), compute_q_blocks)

    def _lists(self) -> dict[str, Tensor | None]:
        """The lists of blocks under PyTorch's names."""
        parts, whole = self._blocks
        kinds = {"": parts, "full_": whole} if self._separate else {"": parts | whole}
        found: dict[str, Tensor | None] = dict.fromkeys(LISTS)
        for kind, blocks in kinds.items():
            for axis, turned in (("kv", blocks), ("q", blocks.transpose(-2, -1)))[: 1 + self._columns]:
                found[f"{kind}{axis}_num_blocks"], found[f"{kind}{axis}_indices"] = listed(turned)
        return found

    def __getattr__(self, name: str) -> Any:
        if name not in LISTS:
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
        self.__dict__.update(self._lists())
        return self.__dict__[name]

    @property
    def shape(self) -> tuple[int, ...]:
        """(B, H, Q_LEN, KV_LEN)."""
        return (*_batch_and_heads(self._blocks[0]), *self.seq_lengths)

    def numel(self) -> int:
        """How many elements the mask has."""
        return math.prod(self.shape)

    def as_tuple(self, flatten: bool = True) -> tuple:
        """The lengths, the lists of blocks, their size and the function, in PyTorch's order; pairs as such unless ``flatten``."""
        lengths, size = (self.seq_lengths, self.BLOCK_SIZE) if flatten else ((self.seq_lengths,), (self.BLOCK_SIZE,))
        return (*lengths, *(getattr(self, name) for name in (*LISTS, *ORDERS)), *size, self.mask_mod)

    def to_dense(self) -> Tensor:
        """Which blocks have a query that sees a key: (B, H, blocks of queries, blocks of keys), int32."""
        parts, whole = self._blocks
        return (parts | whole).int()

    def sparsity(self) -> float:
        """How many elements in a hundred are in blocks that need no work; blocks count whole, also past the end."""
        rows, columns = self.BLOCK_SIZE
        return 100 * (1 - self.to_dense().sum().item() * rows * columns / self.numel())

    def to(self, device: Any) -> BlockMask:
        """The same on a device."""
        parts, whole = (blocks.to(device) for blocks in self._blocks)
        return BlockMask(self.mask.to(device), self.mask_mod, self.BLOCK_SIZE, self._separate, (parts, whole), self._columns)

    def __getitem__(self, index: Any) -> BlockMask:
        """The mask of some batches, heads, and rows of blocks; a number keeps its dimension, with size 1."""
        given = index if isinstance(index, tuple) else (index,)
        *first, rows = (*given, slice(None), slice(None), slice(None))[:3]
        mask = self.mask
        for axis, at in enumerate(first):
            mask = mask[(slice(None),) * axis + (_kept(at, mask.shape[axis]),)]
        if rows != slice(None):
            height = self.BLOCK_SIZE[0]
            places = registry.names("torch")["arange"](mask.shape[2])
            blocks = registry.names("torch")["arange"](-(-mask.shape[2] // height))[_kept(rows, -(-mask.shape[2] // height))]
            mask = mask[:, :, (places // height).unsqueeze(0).eq(blocks.unsqueeze(1)).any(0)]
        return BlockMask(mask, _sliced, self.BLOCK_SIZE, self._separate)

    def _adjust(self, new_q_len: int, new_kv_len: int) -> BlockMask:
        """The mask of the first queries and keys."""
        return BlockMask(self.mask[:, :, :new_q_len, :new_kv_len], self.mask_mod, self.BLOCK_SIZE, self._separate)

    def to_string(self, grid_size: int | tuple[int, int] = (20, 20), limit: int = 4) -> str:
        """A picture of the blocks; ``grid_size`` -1: each of them, else at most so many rows and columns, of some each."""
        return drawn(self.to_dense(), grid_size, limit)

    def __str__(self) -> str:
        return f"BlockMask(shape={self.shape}, sparsity={self.sparsity():.2f}%, \n{self.to_string().strip()}\n)"

    def __repr__(self) -> str:
        kept = [f"{name}={None if getattr(self, name) is None else getattr(self, name).shape}" for name in LISTS]
        named = getattr(self.mask_mod, "__name__", self.mask_mod)
        rest = [f"BLOCK_SIZE={self.BLOCK_SIZE}", f"shape={self.shape}", f"sparsity={self.sparsity():.2f}%", f"mask_mod={named}"]
        return "BlockMask(\n    " + ",\n    ".join(kept + rest) + "\n)"


def _batch_and_heads(mask: Tensor) -> tuple[int, int]:
    return (1, 1, *mask.shape[:-2])[-2:]  # type: ignore[return-value]


def _kept(index: Any, size: int) -> Any:
    """An index that keeps its dimension."""
    if not isinstance(index, int):
        return index
    start = index + size if index < 0 else index
    return slice(start, start + 1)


def _sliced(batch: Index, head: Index, token_q: Index, token_kv: Index) -> Any:
    raise OpError(
        "Cannot use mask_mod from a sliced BlockMask: the numbers of its batches, heads and queries are others. Set its mask_mod"
    )


def create_block_mask(
    mask_mod: Callable, B: int | None, H: int | None, Q_LEN: int, KV_LEN: int, device: Any = None,  # noqa: N803
    BLOCK_SIZE: int | tuple[int, int] = 128, _compile: bool = False, separate_full_blocks: bool = True,  # noqa: N803
    compute_dq_write_order: bool = False, dq_kv_order: bool = True,
) -> BlockMask:  # fmt: skip
    """A mask for `flex_attention`.

    Args:
        mask_mod: ``f(b, h, q, kv)`` of 0-dim integers: whether query q sees key kv. May read Tensors from outside.
        B, H: batches and heads, or None where the mask is the same for all.
        Q_LEN, KV_LEN: lengths.
        BLOCK_SIZE: of blocks of queries and keys, for the lists of blocks.
        separate_full_blocks: whether blocks without a false element have lists of their own.
        compute_dq_write_order, dq_kv_order: accepted as in PyTorch, without effect.

    Raises:
        ValueError: a block size that is not positive.
        AssertionError: a function of other than four arguments, or whose values are no bools.
    """
    if _takes(mask_mod) == 5:
        raise AssertionError(f"create_block_mask requires a mask_mod function! Got {mask_mod}")
    rows, columns = (BLOCK_SIZE, BLOCK_SIZE) if isinstance(BLOCK_SIZE, int) else BLOCK_SIZE
    if min(rows, columns) < 1:
        raise ArgumentValueError(f"create_block_mask(): BLOCK_SIZE must be positive, got {BLOCK_SIZE}")
    mask = create_mask(mask_mod, B, H, Q_LEN, KV_LEN, device)
    if mask.dtype.name != "bool":
        raise AssertionError(f"mask.dtype must be torch.bool, got {mask.dtype}")
    return BlockMask(mask, mask_mod, (rows, columns), separate_full_blocks)
