"""What PyTorch keeps of a mask: for each row of blocks how many there are, and their numbers before those of the others."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from ...errors import ArgumentValueError
from ...ops import registry
from ...tensor import Tensor

BLOCKS, PARTS, NONE = "█", "░", " "
MORE = "...\nTo print out more, set BlockMask.to_string(limit=N)\nYou can also index (BlockMask[batch, head]) to choose a specific batch or head"


def blocks_of(mask: Tensor, size: tuple[int, int]) -> tuple[Tensor, Tensor]:
    """Which blocks of a mask (B, H, Q, KV) hold both kinds of bools, and which only true ones: (B, H, rows, columns), bool."""
    pad = registry.names("nn.functional")["pad"]
    rows, columns = size
    batch, heads, queries, keys = mask.shape
    full = pad(mask.int(), (0, -keys % columns, 0, -queries % rows))
    parts = full.reshape(batch, heads, full.shape[2] // rows, rows, full.shape[3] // columns, columns).sum((3, 5))
    whole = parts == rows * columns
    return (parts > 0) & ~whole, whole


def listed(blocks: Tensor) -> tuple[Tensor, Tensor]:
    """Of blocks (B, H, rows, columns): how many a row has (B, H, rows), and their numbers first (B, H, rows, columns), int32."""
    return blocks.int().sum(-1).int(), blocks.int().argsort(-1, descending=True, stable=True).int()


def unlisted(counts: Tensor, numbers: Tensor) -> Tensor:
    """The blocks of which `listed` made counts and numbers. Raises ValueError for sizes that don't fit."""
    if counts.dim() < 2 or numbers.dim() != counts.dim() + 1:
        raise ArgumentValueError(
            f"BlockMask must have at least 2 dimensions, and kv_indices one more than kv_num_blocks: got {list(numbers.shape)} and "
            f"{list(counts.shape)}"
        )
    torch = registry.names("torch")
    columns = numbers.shape[-1]
    valid = torch["arange"](columns) < counts.unsqueeze(-1)
    found = torch["zeros"](tuple(numbers.shape), dtype=valid.dtype)
    return found.scatter(-1, numbers.long(), valid)


def spread(blocks: Tensor, size: tuple[int, int], lengths: tuple[int, int]) -> Tensor:
    """Blocks (B, H, rows, columns) as elements (B, H, Q, KV)."""
    wide = blocks.repeat_interleave(size[0], -2).repeat_interleave(size[1], -1)
    return wide[..., : lengths[0], : lengths[1]]


def drawn(dense: Tensor, grid_size: Any, limit: int) -> str:
    """A picture of blocks (B, H, rows, columns) for each of the first batches and heads."""
    array = np.asarray(dense.tolist())
    rows, columns = array.shape[-2:]
    most = (rows, columns) if grid_size == -1 else (grid_size, grid_size) if isinstance(grid_size, int) else grid_size
    down, right = (max(1, math.ceil(n / m)) for n, m in zip((rows, columns), most, strict=True))
    pictures = []
    for number, at in enumerate(np.ndindex(*array.shape[:-2])):
        if number == limit:
            pictures.append(MORE)
            break
        lines = [
            "".join(_shade(array[at][r : r + down, c : c + right]) * 2 for c in range(0, columns, right))
            for r in range(0, rows, down)
        ]
        pictures.append("\n".join([f"{tuple(map(int, at))}", *lines, ""]))
    return "\n".join(pictures)


def _shade(part: np.ndarray) -> str:
    return BLOCKS if part.all() else PARTS if part.any() else NONE
