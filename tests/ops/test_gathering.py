"""gather, index_select, take, nonzero and masks against torch: values, gradients, errors."""

import numpy as np
import pytest

import funtorch

X = np.arange(12.0).reshape(3, 4)
I = np.array([[2, 0, 0, 1]])

OPS = {
    "gather": lambda t, x: x.gather(0, t.tensor(I)),
    "gather columns": lambda t, x: t.gather(x, 1, t.tensor([[0, 0], [3, 1]])),
    "gather int32": lambda t, x: x.gather(-1, t.tensor([[0, 0], [3, 1]], dtype=t.int32)),
    "gather nothing": lambda t, x: x.gather(0, t.zeros((0, 2), dtype=t.int64)),
    "gather of a number": lambda t, x: x[0, 0].gather(0, t.tensor(0)),
    "index_select": lambda t, x: x.index_select(1, t.tensor([0, 3, 3])),
    "index_select of one": lambda t, x: t.index_select(x, 0, t.tensor(2)),
    "index_select of a number": lambda t, x: x[0, 0].index_select(0, t.tensor([0])),
    "take": lambda t, x: x.take(t.tensor([[0, 5], [-1, 5]])),
    "take_along_dim": lambda t, x: t.take_along_dim(x, t.tensor([[0], [2], [1]]), 1),
    "take_along_dim broadcast": lambda t, x: x.take_along_dim(t.tensor([[1, 0]]), dim=1),
    "take_along_dim flat": lambda t, x: x.take_along_dim(t.tensor([11, 0])),
    "masked_select": lambda t, x: x.masked_select(x > 4),
    "masked_select broadcast": lambda t, x: t.masked_select(x, t.tensor([True, False, False, True])),
    "masked_fill": lambda t, x: x.masked_fill(x > 4, -1),
    "masked_fill 0-dim": lambda t, x: x.masked_fill(t.tensor([True, False, False, True]), x[0, 1]),
    "masked_fill wider": lambda t, x: x.masked_fill(t.ones(2, 3, 4) > 0, 2.5),
    "masked_fill_": lambda t, x: (x * 1).masked_fill_(x > 4, 2.5),
    "masked_scatter": lambda t, x: x.masked_scatter(x > 4, x * 2),
    "masked_scatter_": lambda t, x: (x * 1).masked_scatter_(t.tensor([True, False, False, True]), x.flatten() * 2),
    "nonzero": lambda t, x: x.nonzero(),
    "nonzero as_tuple": lambda t, x: t.nonzero(x > 3, as_tuple=True),
    "nonzero of a number": lambda t, x: (x.sum().nonzero(), x.sum().nonzero(as_tuple=True)),
    "argwhere": lambda t, x: t.argwhere(x > 8),
    "nonzero_static": lambda t, x: (t.nonzero_static(x > 9, size=4), t.nonzero_static(x > 9, size=1, fill_value=7)),
    "where of a condition": lambda t, x: t.where(x > 5),
}


@pytest.mark.parametrize("name", OPS)
def test_values_and_gradients(name, agree):
    agree(OPS[name], X)


ERRORS = {
    "gather": lambda t, x: x.gather(0, t.tensor([[5, 0, 0, 0]])),
    "gather negative": lambda t, x: x.gather(0, t.tensor([[-1, 0, 0, 0]])),
    "gather shape": lambda t, x: x.gather(0, t.zeros(1, 5, dtype=t.long)),
    "gather dim": lambda t, x: x.gather(0, t.tensor([1])),
    "gather dtype": lambda t, x: x.gather(0, t.zeros(1, 4, dtype=t.int16)),
    "index_select": lambda t, x: x.index_select(0, t.tensor([5])),
    "index_select negative": lambda t, x: x.index_select(0, t.tensor([-1])),
    "index_select dim": lambda t, x: x.index_select(0, t.tensor([[1]])),
    "index_select dtype": lambda t, x: x.index_select(0, t.tensor([1.0])),
    "take": lambda t, x: x.take(t.tensor([50])),
    "take dtype": lambda t, x: x.take(t.tensor([1.0])),
    "masked_fill dtype": lambda t, x: x.masked_fill(t.tensor([1, 0, 0, 0]), 1.0),
    "masked_fill shape": lambda t, x: x.masked_fill(t.ones(3) > 0, 1.0),
    "masked_fill value": lambda t, x: x.masked_fill(x > 3, t.ones(2)),
    "masked_fill integer": lambda t, x: t.arange(3).masked_fill(t.arange(3) > 1, float("inf")),
    "masked_fill_ wider": lambda t, x: x.masked_fill_(t.ones(2, 3, 4) > 0, 1.0),
    "masked_scatter": lambda t, x: x.masked_scatter(x > 3, x[0, :1]),
    "masked_select dtype": lambda t, x: x.masked_select(t.tensor([1, 0, 0, 0])),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name, refuse):
    refuse(ERRORS[name], X, words=name not in ("masked_fill_ wider",))


def test_under_vmap():
    x = funtorch.tensor(X)
    rows = funtorch.tensor([[1, 1], [0, 2], [3, 3]])
    found = funtorch.vmap(lambda r, i: r.gather(0, i))(x, rows)
    assert found.tolist() == x.gather(1, rows).tolist()
    found = funtorch.vmap(lambda r: funtorch.nonzero_static(r > 5, size=2))(x)
    assert found.tolist() == [[[-1], [-1]], [[2], [3]], [[0], [1]]]
    with pytest.raises(RuntimeError, match="nonzero_static"):
        funtorch.vmap(lambda r: r.nonzero())(x)
    with pytest.raises(RuntimeError, match="repeats"):
        funtorch.vmap(lambda r: funtorch.arange(4).repeat_interleave(r))(rows)
