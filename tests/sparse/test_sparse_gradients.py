"""Gradients that are sparse: of embedding tables, and what optimisers make of them."""

from __future__ import annotations

import numpy as np
import pytest
import torch as oracle

import funtorch

INDEX = [[1, 2, 2], [5, 1, 7]]


def table(torch, **options):
    made = torch.nn.Embedding(8, 3, sparse=True, **options)
    made.weight.data = torch.arange(24.0).reshape(8, 3) / 10
    return made


@pytest.mark.parametrize("padding", [None, 1])
def test_the_gradient_of_a_table_has_the_rows_that_were_used(padding):
    found = []
    for torch in (funtorch, oracle):
        e = table(torch, padding_idx=padding)
        e(torch.tensor(INDEX)).pow(2).sum().backward()
        grad = e.weight.grad
        assert grad.is_sparse
        assert not grad.is_coalesced()
        found.append((grad._indices().tolist(), repr(grad), grad._values().flatten().tolist()))
    assert found[0][:2] == found[1][:2]
    assert found[0][2] == pytest.approx(found[1][2], rel=3e-7)


def test_uses_of_one_table_add_up():
    for torch in (funtorch, oracle):
        e = table(torch)
        for _ in range(2):
            (e(torch.tensor([1, 3])).sum() + e(torch.tensor([3])).sum()).backward()
        assert e.weight.grad.is_sparse
        assert e.weight.grad.coalesce()._values().tolist() == [[2.0] * 3, [4.0] * 3]
        (e.weight.sum() + e(torch.tensor([0])).sum()).backward()
        assert not e.weight.grad.is_sparse
        assert e.weight.grad[:, 0].tolist() == [2.0, 3.0, 1.0, 5.0, 1.0, 1.0, 1.0, 1.0]


def test_a_table_that_is_no_leaf_or_is_mapped_has_a_dense_gradient():
    w = funtorch.ones(4, 2, requires_grad=True)
    funtorch.nn.functional.embedding(funtorch.tensor([1, 1]), w * 2, sparse=True).sum().backward()
    assert w.grad.tolist() == [[0.0, 0.0], [4.0, 4.0], [0.0, 0.0], [0.0, 0.0]]

    def loss(w, i):
        return funtorch.nn.functional.embedding(i, w, sparse=True).sum()

    grads = funtorch.vmap(funtorch.func.grad(loss), (None, 0))(w.detach(), funtorch.tensor([[1, 1], [0, 3]]))
    assert grads[:, :, 0].tolist() == [[0.0, 2.0, 0.0, 0.0], [1.0, 0.0, 0.0, 1.0]]


@pytest.mark.parametrize("mode", ["sum", "mean"])
@pytest.mark.parametrize("padding", [None, 2, -1])
def test_bags_have_sparse_gradients_too(mode, padding):
    found = []
    for torch in (funtorch, oracle):
        bag = torch.nn.EmbeddingBag(8, 3, sparse=True, mode=mode, padding_idx=padding)
        bag.weight.data = torch.arange(24.0).reshape(8, 3) / 10
        out = bag(torch.tensor(INDEX))
        out.pow(2).sum().backward()
        assert bag.weight.grad.is_sparse
        grad = bag.weight.grad.coalesce()
        found.append((out.detach().numpy(), grad.indices().numpy(), grad.values().numpy()))
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)


@pytest.mark.parametrize("last", [False, True])
@pytest.mark.parametrize("weighted", [False, True])
def test_bags_with_offsets_leave_the_padding_out(last, weighted):
    """Bags that are empty, or hold nothing but padding; factors of the rows, which have a gradient too."""
    index, offsets = [1, 0, 0, 0, 2, 3, 1, 0], [0, 2, 4, 4, 7]
    found = []
    for torch in (funtorch, oracle):
        bag = torch.nn.EmbeddingBag(4, 2, sparse=True, mode="sum", padding_idx=0, include_last_offset=last)
        bag.weight.data = torch.arange(8.0).reshape(4, 2)
        factors = torch.linspace(0.5, 2.0, 8).requires_grad_() if weighted else None
        out = bag(torch.tensor(index), torch.tensor(offsets + [8] * last), per_sample_weights=factors)
        (out * torch.arange(10.0).reshape(5, 2)).sum().backward()
        grad = bag.weight.grad.coalesce()
        found.append([out.detach().numpy(), grad.indices().numpy(), grad.values().numpy()])
        if weighted:
            found[-1].append(factors.grad.numpy())
    for mine, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(mine, theirs, rtol=1e-6)


def test_a_bag_of_padding_alone():
    for torch in (funtorch, oracle):
        bag = torch.nn.EmbeddingBag(4, 2, sparse=True, padding_idx=0)
        out = bag(torch.zeros(1, 3, dtype=torch.long))
        out.sum().backward()
        assert out.tolist() == [[0.0, 0.0]]
        assert bag.weight.grad.is_sparse and bag.weight.grad.to_dense().abs().sum() == 0


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("SparseAdam", {}), ("SparseAdam", {"betas": (0.5, 0.9), "eps": 1e-3, "maximize": True}), ("SGD", {}),
        ("Adagrad", {}), ("Adagrad", {"lr_decay": 0.1}),
    ],
)  # fmt: skip
def test_an_optimiser_moves_as_in_pytorch(name, options):
    found = []
    for torch in (funtorch, oracle):
        e = table(torch)
        optimiser = getattr(torch.optim, name)(e.parameters(), lr=0.1, **options)
        for step in range(4):
            optimiser.zero_grad()
            e((torch.tensor(INDEX) + step) % 8).pow(2).sum().backward()
            optimiser.step()
        found.append(e.weight.detach().numpy())
    np.testing.assert_allclose(found[0], found[1], rtol=2e-5)


def test_rows_without_a_gradient_stay_as_they_are():
    e = table(funtorch)
    before = e.weight.detach().clone()
    optimiser = funtorch.optim.SparseAdam(e.parameters())
    e(funtorch.tensor([2])).sum().backward()
    optimiser.step()
    changed = (e.weight != before).any(1)
    assert changed.nonzero().flatten().tolist() == [2]


@pytest.mark.parametrize(
    "name", ["Adam", "AdamW", "RMSprop", "Adamax", "NAdam", "RAdam", "Adadelta", "ASGD", "Rprop", "Adafactor"]
)
def test_other_optimisers_refuse_a_sparse_gradient(name):
    messages = []
    for m in (funtorch, oracle):
        e = m.nn.Embedding(4, 2, sparse=True)
        optimiser = getattr(m.optim, name)(e.parameters(), lr=0.1)
        e(m.tensor([2])).sum().backward()
        with pytest.raises(RuntimeError) as caught:
            optimiser.step()
        messages.append(str(caught.value))
    assert messages[0] == messages[1]


def test_sparse_adam_refuses_a_dense_gradient():
    w = funtorch.ones(2, requires_grad=True)
    optimiser = funtorch.optim.SparseAdam([w])
    w.sum().backward()
    with pytest.raises(RuntimeError, match="SparseAdam does not support dense gradients"):
        optimiser.step()


def test_zeroing_keeps_the_layout():
    e = table(funtorch)
    e(funtorch.tensor([2])).sum().backward()
    e.zero_grad(set_to_none=False)
    assert e.weight.grad.is_sparse
    assert e.weight.grad._nnz() == 0
