"""Reductions of runs, hashes of bits, chunks that are joined, and Tensors made with given strides."""

from __future__ import annotations

import numpy as np
import pytest
import torch as oracle

import funtorch

REDUCTIONS = ["sum", "mean", "max", "min", "prod"]
RUNS = [
    ((5,), {"lengths": [2, 0, 3]}), ((5,), {"offsets": [0, 2, 2, 5]}), ((5,), {"lengths": [2, 0, 3], "initial": 1.5}),
    ((5, 2), {"lengths": [1, 4]}), ((2, 5), {"lengths": [[2, 0, 3], [1, 1, 3]], "axis": 1}),
    ((5,), {"lengths": [2, 0, 2], "unsafe": True}),
]  # fmt: skip


@pytest.mark.parametrize(("shape", "options"), RUNS)
@pytest.mark.parametrize("reduce", REDUCTIONS)
def test_runs_are_reduced_as_in_pytorch(reduce, shape, options):
    found = []
    for torch in (funtorch, oracle):
        given = {k: torch.tensor(v) if isinstance(v, list) else v for k, v in options.items()}
        x = torch.tensor(np.random.default_rng(0).standard_normal(shape), requires_grad=True)
        z = torch.segment_reduce(x, reduce, **given)
        z.nan_to_num(0, 0, 0).sum().backward()
        found.append((z.detach().numpy(), x.grad.numpy()))
    np.testing.assert_allclose(found[0][0], found[1][0])
    np.testing.assert_allclose(found[0][1], found[1][1])


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({}, "Either lengths or offsets"),
        ({"lengths": funtorch.tensor([2, 2])}, "Expected all rows of lengths"),
        ({"lengths": funtorch.tensor([-1, 6])}, "negative"),
        ({"lengths": funtorch.tensor([[5]])}, "Expected axis"),
    ],
)
def test_runs_that_do_not_fit_are_refused(options, text):
    with pytest.raises(RuntimeError, match=text):
        funtorch.segment_reduce(funtorch.ones(5), "sum", **options)
    with pytest.raises(RuntimeError, match="must be either sum"):
        funtorch.segment_reduce(funtorch.ones(5), "median", lengths=funtorch.tensor([5]))


@pytest.mark.parametrize("kind", ["float32", "float64", "bfloat16", "float16", "int8", "int64", "uint8", "bool"])
@pytest.mark.parametrize("options", [{}, {"dim": 0}, {"dim": (0, 1), "keepdim": True}, {"dim": -1}])
def test_hashes_are_pytorchs(kind, options):
    values = [[1.5, 2.0, 3.0], [0.0, 7.0, 1.0]]
    found, wanted = (t.hash_tensor(t.tensor(values).to(getattr(t, kind)), **options) for t in (funtorch, oracle))
    assert found.dtype is funtorch.uint64
    assert found.tolist() == wanted.tolist()


def test_hashes_tell_tensors_apart_and_refuse():
    x = funtorch.ones(3)
    assert funtorch.hash_tensor(x) != funtorch.hash_tensor(x * 2)
    with pytest.raises(NotImplementedError):
        funtorch.hash_tensor(x + 0j)
    with pytest.raises(RuntimeError, match="mode: 1"):
        funtorch.hash_tensor(x, mode=1)
    with pytest.raises(IndexError):
        funtorch.hash_tensor(funtorch.ones(2, 0), dim=1)
    with pytest.raises(RuntimeError, match="reduction dim to be specified"):
        funtorch.hash_tensor(funtorch.ones(2, 0))


@pytest.mark.parametrize(("size", "stride"), [((), ()), ((5,), (4,)), ((5, 5), (2, 1)), ((2, 3), (1, 2)), ((3, 0), (1, 1))])
def test_strides_are_those_that_were_asked_for(size, stride):
    for made in (funtorch.empty_strided(size, stride), funtorch.ones(2).new_empty_strided(size, stride)):
        assert (made.shape, made.stride()) == (size, stride)
    assert funtorch.ones(2).double().new_empty_strided(size, stride).dtype is funtorch.float64


@pytest.mark.parametrize("order", [(0, 1, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0)])
def test_permuted_memory_has_pytorchs_strides(order):
    found, wanted = (t.empty_permuted((2, 3, 5), order) for t in (funtorch, oracle))
    assert (tuple(found.shape), found.stride()) == (tuple(wanted.shape), wanted.stride())


def test_strides_and_orders_that_do_not_fit_are_refused():
    with pytest.raises(RuntimeError, match="must match dimensionality"):
        funtorch.empty_strided((2,), (1, 2))
    with pytest.raises(RuntimeError, match="negative"):
        funtorch.empty_strided((2,), (-1,))
    with pytest.raises(RuntimeError, match="Duplicate dim"):
        funtorch.empty_permuted((2, 3), (0, 0))
    with pytest.raises(RuntimeError, match="out of range"):
        funtorch.empty_permuted((2, 3), (0, 2))


def test_chunks_are_joined_as_in_pytorch():
    found, wanted = (t._chunk_cat([t.arange(12.0).reshape(2, 6), t.arange(10.0).reshape(2, 5)], 1, 2) for t in (funtorch, oracle))
    assert found.tolist() == wanted.tolist()


def test_what_a_mask_leaves_out_is_not_read():
    for t in (funtorch, oracle):
        mask, index = t.tensor([True, False]), [t.tensor([1, 9])]
        assert t._unsafe_masked_index(t.arange(4.0), mask, index, -5).tolist() == [1.0, -5.0]
        added = t._unsafe_masked_index_put_accumulate(t.arange(4.0), mask, index, t.tensor([10.0, 20.0]))
        assert added.tolist() == [0.0, 11.0, 2.0, 3.0]
