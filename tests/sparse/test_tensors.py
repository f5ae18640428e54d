"""What a sparse Tensor is: text, flags, copies, pickles, gradients, and its place in transforms and compiled code."""

from __future__ import annotations

import copy
import pickle

import jax
import numpy as np
import pytest
import torch as oracle

import funtorch

PLACES, VALUES = [[0, 1, 1], [2, 0, 2]], [3.0, 4.0, 5.0]


def sparse(torch, **options):
    return torch.sparse_coo_tensor(torch.tensor(PLACES), torch.tensor(VALUES), (2, 3), **options)


SHOWN = {
    "coordinates": lambda t: sparse(t),
    "requires grad": lambda t: sparse(t, requires_grad=True),
    "grad_fn": lambda t: sparse(t, requires_grad=True) * 2,
    "double": lambda t: sparse(t).double(),
    "int": lambda t: t.sparse_coo_tensor(PLACES, [1, 2, 3], (2, 3)),
    "empty": lambda t: t.sparse_coo_tensor((2, 3)),
    "hybrid": lambda t: t.eye(3).to_sparse(1),
    "rows": lambda t: sparse(t).to_sparse_csr(),
    "columns": lambda t: sparse(t).to_sparse_csc(),
}


@pytest.mark.filterwarnings("ignore::UserWarning")
@pytest.mark.parametrize("name", SHOWN)
def test_it_prints_as_in_pytorch(name):
    assert repr(SHOWN[name](funtorch)) == repr(SHOWN[name](oracle))


def test_layouts_are_objects_that_print_as_in_pytorch():
    for name in ("strided", "sparse_coo", "sparse_csr", "sparse_csc", "sparse_bsr", "sparse_bsc"):
        kind = getattr(funtorch, name)
        assert repr(kind) == repr(getattr(oracle, name))
        assert isinstance(kind, funtorch.layout)
        assert pickle.loads(pickle.dumps(kind)) is kind
    assert funtorch.ones(2).layout is funtorch.strided


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_flags_are_pytorchs():
    for torch in (funtorch, oracle):
        s = sparse(torch)
        assert isinstance(s, torch.Tensor)
        assert (s.is_sparse, s.layout, s.is_coalesced(), s._nnz()) == (True, torch.sparse_coo, False, 3)
        assert (s.sparse_dim(), s.dense_dim(), s.dim(), s.numel(), len(s)) == (2, 0, 2, 6, 2)
        rows = s.to_sparse_csr()
        assert (rows.is_sparse, rows.is_sparse_csr, rows.layout) == (False, True, torch.sparse_csr)
        assert not torch.ones(2).is_sparse
        assert not s.is_contiguous()


def test_a_leaf_has_a_sparse_gradient_and_a_result_none():
    s = sparse(funtorch, requires_grad=True)
    assert s.is_leaf
    doubled = s * 2
    assert not doubled.is_leaf
    assert not s.t().is_leaf
    funtorch.sparse.mm(doubled, funtorch.ones(3, 2)).sum().backward()
    assert s.grad.is_sparse
    assert s.grad._values().tolist() == [4.0, 4.0, 4.0]
    s.to_dense().sum().backward()
    assert s.grad._values().tolist() == [5.0, 5.0, 5.0]
    (given,) = funtorch.autograd.grad(s.to_dense().pow(2).sum(), s)
    assert given._values().tolist() == [6.0, 8.0, 10.0]


def test_the_gradient_of_a_sparse_result_may_be_dense_or_sparse():
    for gradient in (funtorch.arange(6.0).reshape(2, 3), funtorch.arange(6.0).reshape(2, 3).to_sparse()):
        s = sparse(funtorch, requires_grad=True)
        (s * 3).backward(gradient)
        assert s.grad._values().tolist() == [6.0, 9.0, 15.0]


def test_no_grad_and_detach_forget_the_history():
    s = sparse(funtorch, requires_grad=True)
    assert not s.detach().requires_grad
    with funtorch.no_grad():
        assert not (s * 2).requires_grad


def test_values_share_their_elements():
    s = sparse(funtorch).coalesce()
    s.values().mul_(2)
    assert s.to_dense().sum() == 24


def test_copies_and_pickles_hold_the_same():
    for s in (sparse(funtorch, requires_grad=True), sparse(funtorch).coalesce(), sparse(funtorch).to_sparse_csr()):
        for again in (copy.deepcopy(s), pickle.loads(pickle.dumps(s)), copy.copy(s)):
            assert repr(again) == repr(s)


class Propagation(funtorch.autograd.Function):
    """A product with a sparse matrix, by hand, as graph attention networks have it."""

    @staticmethod
    def forward(ctx, indices, values, shape, b):
        a = funtorch.sparse_coo_tensor(indices, values, shape)
        ctx.save_for_backward(a, b)
        return a @ b

    @staticmethod
    def backward(ctx, g):
        a, b = ctx.saved_tensors
        rows, columns = a._indices()
        return None, (g @ b.t())[rows, columns], None, a.t() @ g


def test_a_custom_function_keeps_a_sparse_tensor():
    values, b = funtorch.tensor(VALUES, requires_grad=True), funtorch.ones(3, 2, requires_grad=True)
    Propagation.apply(funtorch.tensor(PLACES), values, (2, 3), b).pow(2).sum().backward()
    found = values.grad.tolist(), b.grad.tolist()
    values.grad = b.grad = None
    (funtorch.sparse_coo_tensor(PLACES, values, (2, 3)) @ b).pow(2).sum().backward()
    assert found == (values.grad.tolist(), b.grad.tolist())


class Layer(funtorch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("adjacency", sparse(funtorch).coalesce())
        self.linear = funtorch.nn.Linear(2, 2)

    def forward(self, x):
        return funtorch.sparse.mm(self.adjacency, self.linear(x))


def test_a_module_has_a_sparse_buffer():
    first, second, x = Layer(), Layer(), funtorch.ones(3, 2)
    second.adjacency.mul_(0)
    second.load_state_dict(first.state_dict())
    assert second(x).tolist() == first(x).tolist()
    assert copy.deepcopy(first)(x).tolist() == first(x).tolist()
    assert first.double().adjacency.dtype is funtorch.float64
    assert first(x.double()).dtype is funtorch.float64


def test_a_transform_does_not_differentiate_by_a_sparse_tensor():
    with pytest.raises(RuntimeError, match="give it the values"):
        funtorch.func.grad(lambda s: s.to_dense().sum())(sparse(funtorch))


def test_a_mapped_function_uses_a_sparse_tensor_from_outside():
    s, x = sparse(funtorch), funtorch.arange(12.0).reshape(4, 3)
    mapped = funtorch.vmap(lambda row: s @ row)(x)
    np.testing.assert_allclose(mapped.numpy(), x.numpy() @ s.to_dense().numpy().T)
    grads = funtorch.vmap(funtorch.func.grad(lambda row: (s @ row).pow(2).sum()))(x)
    dense = s.to_dense()
    wanted = funtorch.vmap(funtorch.func.grad(lambda row: (dense @ row).pow(2).sum()))(x)
    np.testing.assert_allclose(grads.numpy(), wanted.numpy(), rtol=1e-6)


def test_jax_sees_the_parts():
    for s in (sparse(funtorch), sparse(funtorch).to_sparse_csr()):
        product = jax.jit(lambda s, x: (s @ x, s * 2))
        z, twice = product(s, funtorch.ones(3))
        assert z.tolist() == [3.0, 9.0]
        assert repr(twice) == repr(s * 2)


def test_a_mapped_function_gives_no_sparse_tensor():
    with pytest.raises(ValueError, match="a sparse Tensor can't be a result"):
        funtorch.vmap(lambda v: funtorch.sparse_coo_tensor(PLACES, v, (2, 3)))(funtorch.ones(4, 3))


def test_values_may_be_mapped_and_pushed_forward():
    places = funtorch.tensor(PLACES)

    def dense(values):
        return funtorch.sparse_coo_tensor(places, values, (2, 3)).to_dense() ** 2

    lanes = funtorch.tensor([VALUES, [1.0, 2.0, 3.0]])
    mapped = funtorch.vmap(dense)(lanes)
    np.testing.assert_allclose(mapped.numpy(), np.stack([dense(lane).numpy() for lane in lanes]))
    _, tangent = funtorch.func.jvp(dense, (lanes[0],), (funtorch.ones(3),))
    assert tangent.tolist() == [[0.0, 0.0, 6.0], [8.0, 0.0, 10.0]]


def test_the_second_derivative_of_a_product():
    v = funtorch.tensor(VALUES, dtype=funtorch.float64, requires_grad=True)
    x = funtorch.ones(3, 2, dtype=funtorch.float64, requires_grad=True)

    def product(v, x):
        return funtorch.sparse_coo_tensor(funtorch.tensor(PLACES), v, (2, 3)) @ x

    assert funtorch.autograd.gradcheck(product, (v, x))
    assert funtorch.autograd.gradgradcheck(product, (v, x))


def test_compiled_code_uses_a_sparse_tensor_from_outside():
    s, w = sparse(funtorch), funtorch.ones(3, 2, requires_grad=True)

    def loss():
        w.grad = None
        total = funtorch.sparse.mm(s, w).pow(2).sum()
        total.backward()
        return total

    step = funtorch.compile(loss)
    for _ in range(4):
        assert step().item() == 180
    assert step.counts["compiled"] > 0
    dense = sparse(funtorch).to_dense()
    assert w.grad.tolist() == (2 * dense.t() @ (dense @ w.detach())).tolist()


@pytest.mark.parametrize("convert", [lambda s: s, lambda s: s.coalesce(), lambda s: s.to_sparse_csr()])
def test_a_compiled_function_takes_and_gives_sparse_tensors(convert):
    w = funtorch.ones(3, requires_grad=True)

    def both(s, x):
        return {"product": s @ (x * w), "twice": s * 2}

    compiled = funtorch.compile(both)
    for scale in (1, 2, 3, 4):
        s = convert(sparse(funtorch)) * scale
        found = compiled(s, funtorch.ones(3))
        assert found["product"].tolist() == [3.0 * scale, 9.0 * scale]
        assert repr(found["twice"]) == repr(s * 2)
        found["product"].sum().backward()
    assert w.grad.tolist() == [40.0, 0.0, 80.0]
    assert compiled.counts["compiled"] > 0


def test_a_gradient_reaches_a_sparse_argument_of_compiled_code():
    s, double = sparse(funtorch, requires_grad=True), funtorch.compile(lambda s: (s * 2).to_dense().sum())
    for _ in range(4):
        s.grad = None
        double(s).backward()
        assert s.grad._values().tolist() == [2.0, 2.0, 2.0]
    assert double.counts["compiled"] > 0


@pytest.mark.filterwarnings("ignore::UserWarning")
def test_a_graph_network_takes_pytorchs_steps():
    rng = np.random.default_rng(0)
    edges, features, labels = rng.integers(0, 12, (2, 40)), rng.random((12, 6)), rng.integers(0, 3, 12)
    first, second = rng.random((6, 5)), rng.random((5, 3))
    losses = {}
    for torch in (funtorch, oracle):
        i = torch.tensor(edges)
        adj = torch.sparse_coo_tensor(i, torch.ones(40, dtype=torch.float64), (12, 12)).coalesce()
        degree = torch.sparse.sum(adj, dim=1).to_dense().clamp(min=1).pow(-0.5)
        i = adj.indices()
        adj = torch.sparse_coo_tensor(i, degree[i[0]] * adj.values() * degree[i[1]], adj.size())
        x, y = torch.tensor(features), torch.tensor(labels)
        weights = [torch.nn.Parameter(torch.tensor(w)) for w in (first, second)]
        adam = torch.optim.Adam(weights, lr=0.05)
        losses[torch] = []
        for _ in range(6):
            adam.zero_grad()
            h = torch.nn.functional.relu(torch.spmm(adj, x @ weights[0]))
            loss = torch.nn.functional.cross_entropy(torch.sparse.mm(adj, h @ weights[1]), y)
            loss.backward()
            adam.step()
            losses[torch].append(loss.item())
    np.testing.assert_allclose(losses[funtorch], losses[oracle], rtol=1e-9)
