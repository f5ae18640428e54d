"""What sparse Tensors refuse: the exception's type is PyTorch's, nothing is made dense unasked, and the text says what to do."""

from __future__ import annotations

import pytest
import torch as oracle

import funtorch


def sparse(torch):
    return torch.sparse_coo_tensor(torch.tensor([[0, 1, 1], [2, 0, 2]]), torch.tensor([3.0, 4.0, 5.0]), (2, 3))


REFUSED = {
    "values of an uncoalesced": lambda t: sparse(t).values(),
    "indices of an uncoalesced": lambda t: sparse(t).indices(),
    "exp": lambda t: sparse(t).exp(),
    "sigmoid": lambda t: t.sigmoid(sparse(t)),
    "cos": lambda t: sparse(t).cos(),
    "sparse + dense": lambda t: sparse(t) + t.ones(2, 3),
    "sparse + number": lambda t: sparse(t) + 1,
    "other sizes": lambda t: sparse(t) + sparse(t).t(),
    "division by dense": lambda t: sparse(t) / t.ones(2, 3),
    "equality": lambda t: sparse(t) == sparse(t),
    "max": lambda t: sparse(t).max(),
    "mean": lambda t: sparse(t).mean(),
    "view": lambda t: sparse(t).view(6),
    "reshape": lambda t: sparse(t).reshape(6),
    "numpy": lambda t: sparse(t).numpy(),
    "item": lambda t: sparse(t).item(),
    "bool": lambda t: bool(sparse(t)),
    "data_ptr": lambda t: sparse(t).data_ptr(),
    "ones_like": lambda t: t.ones_like(sparse(t)),
    "in-place on a leaf": lambda t: sparse(t).requires_grad_().abs_(),
    "coalesce of a dense": lambda t: t.ones(2).coalesce(),
    "is_coalesced of a dense": lambda t: t.ones(2).is_coalesced(),
    "values of a dense": lambda t: t.ones(2).values(),
    "_nnz of a dense": lambda t: t.ones(2)._nnz(),
    "_indices of a dense": lambda t: t.ones(2)._indices(),
    "crow_indices of a dense": lambda t: t.ones(2).crow_indices(),
    "crow_indices of coordinates": lambda t: sparse(t).crow_indices(),
    "another number of values": lambda t: t.sparse_coo_tensor([[0, 1]], [1.0, 2.0, 3.0], (2,)),
    "another number of dimensions": lambda t: t.sparse_coo_tensor([[0, 1]], [1.0, 2.0], (2, 2)),
    "flat indices": lambda t: t.sparse_coo_tensor([0, 1], [1.0, 2.0], (2,)),
    "outside": lambda t: t.sparse_coo_tensor([[0, 5]], [1.0, 2.0], (2,), check_invariants=True),
    "negative": lambda t: t.sparse_coo_tensor([[0, -1]], [1.0, 2.0], (2,), check_invariants=True),
    "value size": lambda t: t.sparse_coo_tensor([[0, 1]], [[1.0], [2.0]], (2, 3)),
    "compressed beginnings": lambda t: t.sparse_csr_tensor([0, 2, 1], [0, 1], [1.0, 2.0], (2, 2), check_invariants=True),
    "compressed columns": lambda t: t.sparse_csr_tensor([0, 1, 2], [0, 7], [1.0, 2.0], (2, 2), check_invariants=True),
    "mm sizes": lambda t: t.sparse.mm(sparse(t), t.ones(2, 2)),
    "softmax of a dense": lambda t: t.sparse.softmax(t.ones(2, 2), 0),
    "sampled_addmm of coordinates": lambda t: t.sparse.sampled_addmm(t.ones(2, 2), t.ones(2, 2), t.ones(2, 2)),
    "sampled_addmm sizes": lambda t: t.sparse.sampled_addmm(t.eye(2).to_sparse_csr(), t.ones(2, 3), t.ones(2, 2)),
    "sparse_mask sizes": lambda t: t.ones(3, 3).sparse_mask(sparse(t).coalesce()),
    "sum out of range": lambda t: t.sparse.sum(sparse(t), 5),
    "spdiags offsets": lambda t: t.sparse.spdiags(t.ones(2, 3), t.tensor([1, 1]), (3, 3)),
    "to_sparse dims": lambda t: t.ones(2, 2).to_sparse(5),
    "backward without a gradient": lambda t: (sparse(t).requires_grad_() * 2).backward(),
}  # fmt: skip


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", REFUSED)
def test_what_pytorch_refuses_is_refused(name):
    with pytest.raises(Exception) as theirs:  # noqa: PT011
        REFUSED[name](oracle)
    kind = next(k for k in (NotImplementedError, RuntimeError, IndexError, ValueError, TypeError) if issubclass(theirs.type, k))
    with pytest.raises(kind) as ours:
        REFUSED[name](funtorch)
    assert str(ours.value)


def test_an_operation_that_is_not_there_says_how_to_go_on():
    with pytest.raises(NotImplementedError, match=r"exp is not there for Tensors of layout torch.sparse_coo. x.to_dense\(\)"):
        sparse(funtorch).exp()


def test_an_index_outside_is_refused_unless_the_check_is_left_out():
    with pytest.raises(RuntimeError, match="size is inconsistent with indices: for dim 0, size is 2 but found index 5"):
        funtorch.sparse_coo_tensor([[0, 5]], [1.0, 2.0], (2,))
    assert funtorch.sparse_coo_tensor([[0, 5]], [1.0, 2.0], (2,), check_invariants=False)._nnz() == 2


def test_blocks_are_not_there():
    for make in (funtorch.sparse_bsr_tensor, funtorch.sparse_bsc_tensor):
        with pytest.raises(NotImplementedError, match="layouts of blocks are not there"):
            make([0, 1], [0], [[[1.0]]], (1, 1))
    with pytest.raises(NotImplementedError, match="layouts of blocks"):
        funtorch.eye(2).to_sparse(blocksize=(1, 1))


def test_a_sparse_tensor_is_not_mapped_over():
    with pytest.raises(ValueError, match="sparse Tensors can't be mapped over"):
        funtorch.vmap(lambda s: s * 2)(sparse(funtorch))


def test_places_that_are_traced_are_not_made_out():
    with pytest.raises(RuntimeError, match="which elements are not zero is a matter of values"):
        funtorch.vmap(lambda x: x.to_sparse().to_dense())(funtorch.ones(2, 3))
