"""Steps of sparse gradients beside PyTorch's: which optimisers take them, what their averages are, and what the others say."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import funtorch

LIBS = (torch, funtorch)
SGD = [
    {}, {"maximize": True}, {"momentum": 0.9}, {"momentum": 0.9, "dampening": 0.3}, {"momentum": 0.9, "nesterov": True}, {"momentum": 0.9, "maximize": True, "foreach": True},
]  # fmt: skip
ADAGRAD = [{}, {"lr_decay": 0.1, "maximize": True}, {"initial_accumulator_value": 0.3, "eps": 1e-2}]


def sparse(lib, step, scale=1.0):
    """A gradient of a (4, 2) table, with a row that is there twice."""
    rows = lib.tensor([[step % 4, (step + 1) % 4, step % 4]])
    values = lib.tensor(np.sin(np.arange(6.0) + step).reshape(3, 2)) * scale
    return lib.sparse_coo_tensor(rows, values, (4, 2), check_invariants=True)


def walk(lib, name, options, kinds="ssss", scale=1.0):
    """Steps with sparse ("s") and dense ("d") gradients: the parameters, and the states with their layouts."""
    table = lib.nn.Parameter(lib.arange(8.0, dtype=lib.float64).reshape(4, 2) * scale)
    bias = lib.nn.Parameter(lib.ones(2, dtype=lib.float64))
    optimizer = getattr(lib.optim, name)([table, bias], lr=0.1, **options)
    for step, kind in enumerate(kinds):
        table.grad = sparse(lib, step, scale) if kind == "s" else lib.ones_like(table)
        bias.grad = lib.ones_like(bias) * step
        optimizer.step()
    state = {key: (str(value.layout), value.to_dense().numpy()) for key, value in optimizer.state[table].items() if value.dim()}
    return [p.detach().numpy() for p in (table, bias)], state


def assert_same(name, options, **more):
    (params, state), (theirs, their_state) = (walk(lib, name, options, **more) for lib in (funtorch, torch))
    for a, b in zip(params, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-9)
    assert {key: layout.replace("funtorch", "torch") for key, (layout, _) in state.items()} == {
        k: layout for k, (layout, _) in their_state.items()
    }
    for key, (_, value) in their_state.items():
        np.testing.assert_allclose(state[key][1], value, rtol=1e-9)


@pytest.mark.parametrize("options", SGD, ids=str)
def test_sgd(options):
    assert_same("SGD", options)


@pytest.mark.filterwarnings("ignore:Sparse invariant checks")  # PyTorch makes one of its own inside
@pytest.mark.parametrize("options", ADAGRAD, ids=str)
def test_adagrad(options):
    assert_same("Adagrad", options)


def test_complex_parameters():
    assert_same("SGD", {"momentum": 0.9, "dampening": 0.1}, scale=1 + 1j)


def test_a_dense_average_takes_sparse_gradients():
    assert_same("SGD", {"momentum": 0.9}, kinds="dsds")


@pytest.mark.parametrize(
    ("name", "options", "kinds"),
    [
        ("SGD", {"momentum": 0.9}, "sd"), ("SGD", {"momentum": 0.9, "nesterov": True}, "ds"), ("SGD", {"weight_decay": 0.1}, "s"),
        ("SGD", {"fused": True}, "s"), ("Adagrad", {"fused": True}, "s"), ("Adagrad", {"weight_decay": 0.1}, "s"),
    ],
)  # fmt: skip
def test_what_is_refused(name, options, kinds):
    said = []
    for lib in LIBS:
        with pytest.raises(RuntimeError) as raised:
            walk(lib, name, options, kinds)
        said.append(str(raised.value))
    assert said[0].rstrip(".") in said[1]


def test_lbfgs_takes_them_as_dense_ones():
    ends = []
    for lib in LIBS:
        table = lib.nn.Parameter(lib.arange(8.0, dtype=lib.float64).reshape(4, 2))
        optimizer = lib.optim.LBFGS([table], lr=0.5, max_iter=3)

        def closure(lib=lib, table=table):
            table.grad = sparse(lib, 1) + sparse(lib, 2)
            return (table * table).sum().detach()

        optimizer.step(closure)
        ends.append(table.detach().numpy())
    np.testing.assert_allclose(ends[1], ends[0], rtol=1e-9)


def test_an_embedding_learns_with_momentum():
    ends = []
    for lib in LIBS:
        layer = lib.nn.Embedding.from_pretrained(lib.tensor(np.sin(np.arange(12.0)).reshape(4, 3)), freeze=False, sparse=True)
        optimizer = lib.optim.SGD(layer.parameters(), lr=0.1, momentum=0.9, nesterov=True)
        for step in range(4):
            optimizer.zero_grad()
            layer(lib.tensor([0, 2, 2, step])).square().sum().backward()
            optimizer.step()
        ends.append(layer.weight.detach().numpy())
    np.testing.assert_allclose(ends[1], ends[0], rtol=1e-9)
