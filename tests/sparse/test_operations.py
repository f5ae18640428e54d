"""What is computed with sparse Tensors: each row of the table runs on PyTorch and on funtorch, values and gradients."""

from __future__ import annotations

import numpy as np
import pytest
import torch as oracle

import funtorch

PLACES = np.array([[0, 1, 1, 2, 2], [2, 0, 2, 1, 1]])  # the last one comes twice
VALUES = np.array([3.0, -4.0, 5.0, 0.5, 0.25])
DENSE = np.arange(1.0, 13.0).reshape(3, 4) / 7
SQUARE = np.arange(1.0, 10.0).reshape(3, 3) / 5


class Given:
    """The same Tensors on either side."""

    def __init__(self, torch, values=VALUES):
        self.torch = torch
        self.v = torch.tensor(values, requires_grad=True)
        self.s = torch.sparse_coo_tensor(torch.tensor(PLACES), self.v, (3, 3))
        self.c = self.s.coalesce()
        self.csr = self.c.to_sparse_csr()
        self.other = torch.sparse_coo_tensor(
            torch.tensor([[0, 1, 2], [2, 1, 0]]), torch.tensor([2.0, 3.0, 7.0]).double(), (3, 3)
        ).coalesce()
        self.hybrid = torch.sparse_coo_tensor(torch.tensor([[0, 2, 0]]), torch.tensor(SQUARE), (4, 3))
        self.x = torch.tensor(DENSE, requires_grad=True)
        self.m = torch.tensor(SQUARE, requires_grad=True)

    def leaves(self):
        return [self.v, self.x, self.m]


OPERATIONS = {
    "to_dense": lambda g: g.s.to_dense(),
    "values": lambda g: g.c.values(),
    "indices": lambda g: g.c.indices(),
    "_indices": lambda g: g.s._indices(),
    "_values": lambda g: g.s._values(),
    "coalesce": lambda g: g.s.coalesce(),
    "csr_to_dense": lambda g: g.csr.to_dense(),
    "csr_parts": lambda g: [g.csr.crow_indices(), g.csr.col_indices(), g.csr.values()],
    "csr_to_coo": lambda g: g.csr.to_sparse(),
    "csc_parts": lambda g: [g.c.to_sparse_csc().ccol_indices(), g.c.to_sparse_csc().row_indices(), g.c.to_sparse_csc().values()],
    "hybrid_to_dense": lambda g: g.hybrid.to_dense(),
    "hybrid_coalesce": lambda g: g.hybrid.coalesce(),
    "hybrid_sum": lambda g: g.torch.sparse.sum(g.hybrid, 1),
    "hybrid_transpose": lambda g: g.hybrid.coalesce() * 2,
    "mul_number": lambda g: g.s * 3,
    "number_mul": lambda g: 3 * g.s,
    "div_number": lambda g: g.s / 4,
    "mul_zero_dim": lambda g: g.s * g.m[1, 1],
    "mul_dense": lambda g: g.c * g.m,
    "dense_mul": lambda g: g.m * g.c,
    "mul_sparse": lambda g: g.c * g.other,
    "add_sparse": lambda g: g.c + g.other,
    "sub_sparse": lambda g: g.c - g.other,
    "add_alpha": lambda g: g.torch.add(g.c, g.other, alpha=0.5),
    "dense_add": lambda g: g.m + g.s,
    "dense_sub": lambda g: g.m - g.s,
    "mul_": lambda g: g.m.detach().clone().mul_(g.c.detach()),
    "add_": lambda g: g.m.detach().clone().add_(g.s.detach(), alpha=2),
    "sparse_mul_": lambda g: g.c.detach().clone().mul_(3),
    "neg": lambda g: -g.s,
    "abs": lambda g: g.s.abs(),
    "sin": lambda g: g.s.sin(),
    "square": lambda g: g.s**2,
    "pow": lambda g: g.torch.pow(g.s, 3),
    "sqrt": lambda g: g.s.abs().sqrt(),
    "relu": lambda g: g.s.relu(),
    "tanh": lambda g: g.torch.tanh(g.s),
    "float": lambda g: g.s.float(),
    "to_dtype": lambda g: g.s.to(g.torch.float32),
    "clone": lambda g: g.s.clone(),
    "t": lambda g: g.s.t(),
    "transpose": lambda g: g.s.transpose(0, 1),
    "T": lambda g: g.s.T,
    "csr_t": lambda g: g.csr.t().to_dense(),
    "cat": lambda g: g.torch.cat([g.c, g.other], 1),
    "stack": lambda g: g.torch.stack([g.c, g.other]),
    "bmm": lambda g: g.torch.bmm(g.torch.stack([g.c, g.other]), g.torch.stack([g.x, g.x * 2])),
    "index_select": lambda g: g.s.index_select(0, g.torch.tensor([2, 0, 2])),
    "select": lambda g: g.s[1],
    "select_last": lambda g: g.s.select(1, -1),
    "element": lambda g: g.s[2, 1],
    "column": lambda g: g.s[:, 2],
    "hybrid_select": lambda g: g.hybrid[0],
    "unsqueeze": lambda g: g.s.unsqueeze(1),
    "unsqueeze_hybrid": lambda g: g.hybrid.unsqueeze(2),
    "sum": lambda g: g.s.sum(),
    "sum_dim": lambda g: g.torch.sparse.sum(g.s, dim=1),
    "sum_method": lambda g: g.s.sum(0),
    "sum_dims": lambda g: g.torch.sparse.sum(g.s, [0, 1]),
    "norm": lambda g: g.s.norm(),
    "softmax": lambda g: g.torch.sparse.softmax(g.s, 1),
    "softmax_rows": lambda g: g.torch.sparse.softmax(g.s, 0),
    "log_softmax": lambda g: g.torch.sparse.log_softmax(g.s, 1),
    "mm": lambda g: g.torch.mm(g.s, g.x),
    "sparse_mm": lambda g: g.torch.sparse.mm(g.s, g.x),
    "spmm": lambda g: g.torch.spmm(g.s, g.x),
    "matmul": lambda g: g.s @ g.x,
    "matmul_vector": lambda g: g.s @ g.x[:, 0],
    "mv": lambda g: g.s.mv(g.x[:, 1]),
    "dense_matmul": lambda g: g.x.t() @ g.s,
    "csr_matmul": lambda g: g.csr @ g.x,
    "sparse_sparse": lambda g: g.torch.sparse.mm(g.c, g.other),
    "addmm": lambda g: g.torch.addmm(g.x, g.s, g.x, beta=0.5, alpha=2),
    "sparse_addmm": lambda g: g.torch.sparse.addmm(g.x, g.s, g.x, beta=0.5, alpha=2),
    "linear": lambda g: g.torch.nn.functional.linear(g.s, g.m),
    "smm": lambda g: g.torch.smm(g.s.detach(), g.x.detach()),
    "hsmm": lambda g: g.torch.hsmm(g.s.detach(), g.x.detach()),
    "dsmm": lambda g: g.torch.dsmm(g.s.detach(), g.x.detach()),
    "copies of places": lambda g: [
        g.torch.crow_indices_copy(g.s.detach().to_sparse_csr()), g.torch.ccol_indices_copy(g.s.detach().to_sparse_csc()),
        g.torch.col_indices_copy(g.s.detach().to_sparse_csr()), g.torch.row_indices_copy(g.s.detach().to_sparse_csc()),
    ],
    "hspmm": lambda g: g.torch.hspmm(g.s.detach(), g.x.detach()),
    "sspaddmm": lambda g: g.torch.sspaddmm(g.other, g.s.detach(), g.m.detach()),
    "sampled_addmm": lambda g: g.torch.sparse.sampled_addmm(g.csr, g.x, g.x.t(), beta=0.5, alpha=2),
    "sparse_mask": lambda g: g.m.sparse_mask(g.other),
    "to_sparse": lambda g: g.m.to_sparse(),
    "to_sparse_hybrid": lambda g: g.m.to_sparse(1),
    "to_sparse_csr": lambda g: g.m.to_sparse_csr(),
    "zeros_like": lambda g: g.torch.zeros_like(g.s),
    "zeros_layout": lambda g: g.torch.zeros(2, 3, layout=g.torch.sparse_coo),
    "empty_coo": lambda g: g.torch.sparse_coo_tensor((2, 3)),
    "float_tensor": lambda g: g.torch.sparse.DoubleTensor(g.torch.tensor(PLACES), g.torch.tensor(VALUES), g.torch.Size([3, 3])),
    "spdiags": lambda g: g.torch.sparse.spdiags(g.torch.arange(9.0).reshape(3, 3), g.torch.tensor([0, 1, -1]), (3, 4)),
    "mean_reduce": lambda g: g.torch.sparse.mm(g.csr, g.x, "mean"),
    "amax_reduce": lambda g: g.torch.sparse.mm(g.csr, g.x, "amax"),
    "normalised": lambda g: g.c * (1 / g.torch.sparse.sum(g.c.detach(), 1).to_dense())[:, None],
}  # fmt: skip


def at_rest(value):
    """A result as NumPy arrays: sparse ones as layout, size and elements."""
    if isinstance(value, (list, tuple)):
        return [at_rest(v) for v in value]
    value = value.detach()
    layout = repr(value.layout)
    dense = value.to_dense() if layout != "torch.strided" else value
    return layout, str(value.dtype), tuple(value.shape), np.asarray(dense.numpy())


def check_same(ours, theirs):
    if isinstance(theirs, list):
        assert len(ours) == len(theirs)
        for a, b in zip(ours, theirs, strict=True):
            check_same(a, b)
        return
    assert ours[:3] == theirs[:3]
    np.testing.assert_allclose(ours[3], theirs[3], rtol=1e-6, atol=1e-12)


def weighed(result):
    """A number that depends on each element of a result in another way, or None where nothing can be differentiated."""
    results = result if isinstance(result, list) else [result]
    total = None
    for each in results:
        if not each.requires_grad:
            continue
        dense = each.to_dense() if repr(each.layout) != "torch.strided" else each
        weights = np.cos(np.arange(dense.numel(), dtype=np.float64)).reshape(tuple(dense.shape))
        part = (dense * dense.new_tensor(weights)).sum()
        total = part if total is None else total + part
    return total


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", OPERATIONS)
def test_an_operation_is_pytorchs(name):
    ours, theirs = Given(funtorch), Given(oracle)
    found, expected = OPERATIONS[name](ours), OPERATIONS[name](theirs)
    check_same(at_rest(found), at_rest(expected))
    total = weighed(found)
    if total is None:
        return
    total.backward()
    try:
        weighed(expected).backward()
    except (RuntimeError, AttributeError):  # PyTorch lacks many of these gradients, or drops the history
        np.testing.assert_allclose(dense_gradient(ours.v), quotients(name), rtol=1e-5, atol=1e-8)
        return
    for a, b in zip(ours.leaves(), theirs.leaves(), strict=True):
        np.testing.assert_allclose(dense_gradient(a), dense_gradient(b), rtol=1e-6, atol=1e-12)


def dense_gradient(leaf):
    return np.zeros(tuple(leaf.shape)) if leaf.grad is None else np.asarray(leaf.grad.to_dense().numpy())


def quotients(name):
    """How the weighed result changes with each value, by differences."""
    step, found = 1e-6, np.zeros_like(VALUES)
    for at in range(VALUES.size):
        ends = []
        for sign in (1, -1):
            moved = VALUES.copy()
            moved[at] += sign * step
            ends.append(float(weighed(OPERATIONS[name](Given(funtorch, moved))).detach()))
        found[at] = (ends[0] - ends[1]) / (2 * step)
    return found


@pytest.mark.parametrize("index", [slice(0, 2), [2, 0], (slice(None), slice(1, None)), (..., 1), (-1, slice(0, 2)), ([1, 1], 2)])
def test_parts_that_pytorch_lacks_are_those_of_the_dense_tensor(index):
    s = Given(funtorch).s
    np.testing.assert_array_equal(s[index].to_dense().detach().numpy(), s.to_dense().detach().numpy()[index])


def test_dimensions_of_size_one_go():
    s = Given(funtorch).s
    back = s.unsqueeze(0).squeeze(0)
    assert back.layout is funtorch.sparse_coo
    np.testing.assert_array_equal(back.to_dense().detach().numpy(), s.to_dense().detach().numpy())
