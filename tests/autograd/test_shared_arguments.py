"""Gradients of what many calls share: a layer or a table used over and over in one graph."""

import numpy as np
import pytest
import torch as reference

import funtorch


def gradients(m, build, dtype):
    """The gradients of a loss that ``build`` makes from one layer and one table, met twice: the second time in the same structure."""
    draw = np.random.default_rng(0)
    layer, table = m.nn.Linear(6, 4, dtype=dtype(m)), m.nn.Embedding(9, 3, dtype=dtype(m))
    with m.no_grad():
        for p in (*layer.parameters(), *table.parameters()):
            p.copy_(m.tensor(draw.standard_normal(tuple(p.shape))))
    results = []
    for _ in range(2):
        x = m.tensor(draw.standard_normal((5, 6)), dtype=dtype(m), requires_grad=True)
        found = build(m, layer, table, x)
        loss, more = found if isinstance(found, tuple) else (found, [])
        results += m.autograd.grad(loss, [x, *layer.parameters(), *table.parameters(), *more], allow_unused=True)
    return [None if g is None else g.numpy() for g in results]


def rows(m, layer, table, x):
    return sum(layer(row).square().sum() for row in x)


def matrices(m, layer, table, x):
    return sum(layer(x * k).tanh().sum() for k in range(1, 6))


def chain(m, layer, table, x):
    h = x
    for k in range(6):
        h = m.cat([layer(h), table(m.tensor([k, 1, k, 2, 2]))[:, :2]], 1)
    return h.square().mean()


def words(m, layer, table, x):
    return sum((table(m.tensor(k % 4)) * (k + 1)).square().sum() for k in range(8)) + x.sum() * 0


def captured_between(m, layer, table, x):
    hidden = [layer(row) for row in x]
    return sum(h.square().sum() for h in hidden), [hidden[0], hidden[3]]


def weight_changed_between(m, layer, table, x):
    weight = layer.weight * 1
    total = 0
    for row in x:
        total = total + m.nn.functional.linear(row, weight, layer.bias).square().sum()
    return total


def without_bias(m, layer, table, x):
    return sum(m.nn.functional.linear(row, layer.weight).exp().sum() for row in x)


def few(m, layer, table, x):
    return layer(x[0]).sum() * layer(x[1]).sum()


BUILDS = (rows, matrices, chain, words, captured_between, weight_changed_between, without_bias, few)


@pytest.mark.parametrize("build", BUILDS, ids=lambda build: build.__name__)
@pytest.mark.parametrize("double", [True, False], ids=["float64", "float32"])
def test_gradients_of_shared_arguments(build, double):
    def dtype(m):
        return m.float64 if double else m.float32

    ours, theirs = gradients(funtorch, build, dtype), gradients(reference, build, dtype)
    for got, want in zip(ours, theirs, strict=True):
        assert (got is None) == (want is None)
        if want is not None:
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=1e-9 if double else 2e-5, atol=1e-10 if double else 2e-5)


def test_a_frozen_weight_gets_no_gradient():
    for m in (funtorch, reference):
        layer = m.nn.Linear(2, 2)
        layer.weight.requires_grad_(False)
        x = m.ones(6, 2, requires_grad=True)
        sum(layer(row).sum() for row in x).backward()
        assert layer.weight.grad is None
        assert layer.bias.grad.tolist() == [6, 6]
        assert x.grad.shape == (6, 2)


def test_a_gradient_that_is_there_is_added_to():
    layer = funtorch.nn.Linear(2, 2)
    for times in (1, 2):
        sum(layer(funtorch.ones(2)).sum() for _ in range(5)).backward()
        assert layer.bias.grad.tolist() == [5 * times] * 2
        assert layer.weight.grad.tolist() == [[5 * times] * 2] * 2


@pytest.mark.parametrize("frozen", [(), ("weight_ih",), ("bias_hh", "weight_hh")], ids=["none", "weight_ih", "two"])
def test_a_recurrent_cell_over_time(frozen):
    results = []
    for m in (funtorch, reference):
        draw = np.random.default_rng(0)
        cell = m.nn.LSTMCell(3, 4, dtype=m.float64)
        with m.no_grad():
            for p in cell.parameters():
                p.copy_(m.tensor(draw.standard_normal(tuple(p.shape))))
        for name in frozen:
            getattr(cell, name).requires_grad_(False)
        x = m.tensor(draw.standard_normal((7, 2, 3)), requires_grad=True)
        h, c = (m.tensor(draw.standard_normal((2, 4)), requires_grad=True) for _ in range(2))
        first = h
        total = 0
        for step in x:
            h, c = cell(step, (h, c))
            total = total + h.square().sum()
        total.backward()
        results.append([x.grad, first.grad, *(p.grad for p in cell.parameters())])
    for got, want in zip(*results, strict=True):
        assert (got is None) == (want is None)
        if want is not None:
            np.testing.assert_allclose(got.numpy(), want.numpy(), rtol=1e-9, atol=1e-10)
