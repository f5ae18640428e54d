"""What is kept of a mask for `flex_attention`: the lists of blocks, parts of it, and its picture, as PyTorch has them."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import funtorch

pytestmark = pytest.mark.filterwarnings("ignore:flex_attention called without torch.compile")
LISTS = [f"{kind}{axis}_{what}" for axis in ("kv", "q") for kind in ("", "full_") for what in ("num_blocks", "indices")]
MASKS: dict[str, Callable] = {
    "causal": lambda b, h, q, kv: q >= kv,
    "window": lambda b, h, q, kv: (q - kv).abs() < 3,
    "by head": lambda b, h, q, kv: (q >= kv) | (h > 0),
    "none in the first rows": lambda b, h, q, kv: q > kv + 4,
}


def of(t: Any) -> Any:
    return importlib.import_module(f"{t.__name__}.nn.attention.flex_attention")


def made(t: Any, mask: str, **options: Any) -> Any:
    return of(t).create_block_mask(MASKS[mask], 2, 3, 10, 9, device="cpu", **{"BLOCK_SIZE": 4, **options})


def plain(x: Any) -> Any:
    return x.tolist() if hasattr(x, "tolist") else x


@pytest.mark.parametrize("mask", MASKS)
@pytest.mark.parametrize("size", [4, (2, 3)])
def test_lists_of_blocks(mask, size):
    theirs, ours = (made(t, mask, BLOCK_SIZE=size) for t in (torch, funtorch))
    for name in LISTS:
        assert plain(getattr(ours, name)) == plain(getattr(theirs, name)), name
        assert getattr(ours, name).dtype is funtorch.int32
    assert plain(ours.to_dense()) == plain(theirs.to_dense())
    assert (ours.shape, ours.numel(), ours.BLOCK_SIZE, ours.seq_lengths) == (
        theirs.shape, theirs.numel(), theirs.BLOCK_SIZE, theirs.seq_lengths,
    )  # fmt: skip
    assert ours.sparsity() == pytest.approx(theirs.sparsity()) and str(ours) == str(theirs)


@pytest.mark.parametrize("grid", [(20, 20), 2, (1, 3)])
def test_pictures(grid):
    assert made(funtorch, "window").to_string(grid, 3) == made(torch, "window").to_string(grid, 3)


def test_lists_together():
    theirs, ours = (made(t, "causal", separate_full_blocks=False) for t in (torch, funtorch))
    assert ours.full_kv_num_blocks is None and plain(ours.kv_num_blocks) == plain(theirs.kv_num_blocks)


@pytest.mark.parametrize("index", [0, -1, (slice(None), slice(1, 3)), (1, 2)])
def test_parts(index):
    theirs, ours = (made(t, "by head")[index] for t in (torch, funtorch))
    assert ours.shape == theirs.shape and plain(ours.kv_num_blocks) == plain(theirs.kv_num_blocks)
    with pytest.raises(RuntimeError, match="sliced BlockMask"):
        ours.mask_mod(0, 0, 0, 0)


def test_a_part_serves_the_same_attention():
    whole = made(funtorch, "by head")
    q, kv = funtorch.randn(2, 3, 10, 4), funtorch.randn(2, 3, 9, 4)
    full = of(funtorch).flex_attention(q, kv, kv, block_mask=whole)
    part = of(funtorch).flex_attention(q[:, 1:], kv[:, 1:], kv[:, 1:], block_mask=whole[:, 1:])
    np.testing.assert_allclose(full[:, 1:].numpy(), part.numpy(), rtol=1e-6)
    rows = of(funtorch).flex_attention(q[:, :, 4:8], kv, kv, block_mask=whole[:, :, 1])
    np.testing.assert_allclose(full[:, :, 4:8].numpy(), rows.numpy(), rtol=1e-6)


@pytest.mark.parametrize("separate", [True, False])
def test_repr(separate):
    theirs, ours = (made(t, "by head", separate_full_blocks=separate) for t in (torch, funtorch))
    assert repr(ours) == repr(theirs) and len(ours.as_tuple()) == len(theirs.as_tuple())


def test_rows_with_a_function_and_lengths_of_their_own():
    """One query at a time, of a mask that was made for all."""
    whole = made(funtorch, "causal")
    at = 5
    row = whole[:, :, at // whole.BLOCK_SIZE[0]]
    row.mask_mod, row.seq_lengths = lambda b, h, q, kv: MASKS["causal"](b, h, q + at, kv), (1, whole.shape[3])
    assert row.shape == (*whole.shape[:2], 1, whole.shape[3])
    assert row.mask.tolist() == whole.mask[:, :, at : at + 1].tolist()


def test_functions_that_are_no_masks():
    f = of(funtorch)
    for wrong, text in ((lambda b, h, q: q, "4 or 5 positional"), (lambda s, b, h, q, kv: s, "requires a mask_mod")):
        with pytest.raises(AssertionError, match=text):
            f.create_block_mask(wrong, 1, 1, 4, 4)


def test_from_lists():
    def run(t: Any) -> list:
        counts = t.tensor([[[2, 2]]], dtype=t.int32)
        numbers = t.tensor([[[[1, 0], [0, 1]]]], dtype=t.int32)
        found = [of(t).BlockMask.from_kv_blocks(counts, numbers, BLOCK_SIZE=4, mask_mod=MASKS["window"])]
        found.append(of(t).BlockMask.from_kv_blocks(counts * 0, numbers, counts, numbers, BLOCK_SIZE=4, seq_lengths=(7, 8)))
        return found

    for theirs, ours in zip(run(torch), run(funtorch), strict=True):
        assert ours.shape == theirs.shape and plain(ours.to_dense()) == plain(theirs.to_dense())
        q = np.random.default_rng(0).normal(size=(1, 2, ours.shape[2], 4)).astype(np.float32)
        kv = np.random.default_rng(1).normal(size=(1, 2, 8, 4)).astype(np.float32)
        expected = of(torch).flex_attention(*map(torch.tensor, (q, kv, kv)), block_mask=theirs)
        found = of(funtorch).flex_attention(*map(funtorch.tensor, (q, kv, kv)), block_mask=ours)
        np.testing.assert_allclose(found.numpy(), expected.numpy(), rtol=1e-4, atol=1e-5)
    with pytest.raises(AssertionError, match="both"):
        of(funtorch).BlockMask.from_kv_blocks(ours.kv_num_blocks, ours.kv_indices, ours.kv_num_blocks)


def test_blocks_that_are_not_listed_are_not_seen():
    counts = funtorch.tensor([[[1, 2]]], dtype=funtorch.int32)
    numbers = funtorch.tensor([[[[1, 0], [0, 1]]]], dtype=funtorch.int32)
    mask = of(funtorch).BlockMask.from_kv_blocks(counts, numbers, BLOCK_SIZE=2, mask_mod=MASKS["causal"])
    assert mask.to_dense().tolist() == [[[[0, 1], [1, 1]]]] and mask.kv_num_blocks.tolist() == [[[1, 2]]]
    x, values = funtorch.zeros(1, 1, 4, 1), funtorch.arange(4.0).reshape(1, 1, 4, 1)
    z = of(funtorch).flex_attention(x, x, values, block_mask=mask)
    assert z.flatten().tolist() == [0, 0, 1, 1.5]


def test_masks_of_functions():
    f = of(funtorch)
    assert f._DEFAULT_SPARSE_BLOCK_SIZE == 128
    scores = f.create_mask(lambda s, b, h, q, kv: funtorch.where(q >= kv, s, -funtorch.inf), 1, 1, 3, 3)
    assert scores.tolist() == f.create_mask(MASKS["causal"], 1, 1, 3, 3).tolist()
    with pytest.raises(AssertionError, match="torch.bool"):
        f.create_block_mask(lambda b, h, q, kv: q - kv, 1, 1, 3, 3)
    x = funtorch.ones(1, 1, 2, 2)
    with pytest.raises(ValueError, match="return_aux"):
        f.flex_attention(x, x, x, return_lse=True, return_aux=f.AuxRequest(lse=True))
    with pytest.raises(NotImplementedError, match="4 dimensional"):
        f.flex_attention(x[0], x[0], x[0])
