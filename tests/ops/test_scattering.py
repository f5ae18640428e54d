"""scatter and index_* against torch: values, gradients with places named twice, ties and zeros, errors."""

import numpy as np
import pytest

import funtorch

X = np.array([[1.0, 5, 2, 7], [3, 10, 8, 6], [9, 4, 1, 2]])
S = np.array([[2.0, 0, 3, 4], [5, 0, 1, 6], [7, 8, 9, 1]])
ROWS = np.array([[0, 1, 2, 0], [0, 1, 1, 2]])


def into(name, *args, **kwargs):
    return lambda t, x, s: getattr(x, name)(0, t.tensor(ROWS), s, *args, **kwargs)


OPS = {
    "scatter": lambda t, x, s: x.scatter(1, t.tensor([[0, 2], [3, 1], [1, 0]]), s[:, :2]),
    "scatter number": lambda t, x, s: t.scatter(x, 1, t.tensor([[0], [2]]), 5),
    "scatter value": lambda t, x, s: x.scatter(1, t.tensor([[0], [2]]), value=1.5),
    "scatter_": lambda t, x, s: (x * 2).scatter_(-1, t.tensor([[0, 2], [3, 1]]), s[:2, :2]),
    "scatter reduce": lambda t, x, s: x.detach().scatter(0, t.tensor(ROWS), s.detach(), reduce="add"),
    "scatter of a number": lambda t, x, s: x[0, 0].scatter(0, t.tensor(0), s[0, 0]),
    "scatter_add": lambda t, x, s: x.scatter_add(0, t.tensor(ROWS), s[:2]),
    "scatter_add_": lambda t, x, s: (x * 1).scatter_add_(0, t.tensor(ROWS), s[:2]),
    "scatter_reduce sum": lambda t, x, s: x.scatter_reduce(0, t.tensor(ROWS), s[:2], "sum"),
    "scatter_reduce prod": lambda t, x, s: x.scatter_reduce(0, t.tensor(ROWS), s[:2], "prod"),
    "scatter_reduce mean": lambda t, x, s: x.scatter_reduce(0, t.tensor(ROWS), s[:2], "mean"),
    "scatter_reduce amax": lambda t, x, s: x.scatter_reduce(0, t.tensor(ROWS), s[:2], "amax"),
    "scatter_reduce amin": lambda t, x, s: x.scatter_reduce(0, t.tensor(ROWS), s[:2], "amin"),
    "sum without self": lambda t, x, s: x.scatter_reduce(0, t.tensor(ROWS), s[:2], "sum", include_self=False),
    "prod without self": lambda t, x, s: x.scatter_reduce(0, t.tensor(ROWS), s[:2], "prod", include_self=False),
    "mean without self": lambda t, x, s: x.scatter_reduce(0, t.tensor(ROWS), s[:2], "mean", include_self=False),
    "amax without self": lambda t, x, s: x.scatter_reduce(0, t.tensor(ROWS), s[:2], "amax", include_self=False),
    "amin without self": lambda t, x, s: x.scatter_reduce(0, t.tensor(ROWS), s[:2], "amin", include_self=False),
    "integer mean": lambda t, x, s: x.long().scatter_reduce(0, t.tensor(ROWS), s[:2].long(), "mean"),
    "integer amax": lambda t, x, s: x.int().scatter_reduce(0, t.tensor(ROWS), s[:2].int(), "amax"),
    "index_add": lambda t, x, s: x.index_add(0, t.tensor([1, 1]), s[:2]),
    "index_add alpha": lambda t, x, s: x.index_add(1, t.tensor([3, 0]), s[:, :2], alpha=-2),
    "index_add_": lambda t, x, s: (x * 1).index_add_(0, t.tensor([2, 0]), s[:2]),
    "index_copy": lambda t, x, s: x.index_copy(1, t.tensor([3, 0]), s[:, :2]),
    "index_fill": lambda t, x, s: x.index_fill(1, t.tensor([3, -4]), 2.5),
    "index_fill 0-dim": lambda t, x, s: x.index_fill(0, t.tensor([1]), s[0, 2]),
    "index_fill_": lambda t, x, s: (x * 1).index_fill_(0, t.tensor([1]), 3),
    "index_reduce prod": lambda t, x, s: x.index_reduce(0, t.tensor([1, 1]), s[:2], "prod"),
    "index_reduce mean": lambda t, x, s: x.index_reduce(1, t.tensor([0, 0]), s[:, :2], "mean", include_self=False),
    "index_reduce amax": lambda t, x, s: x.index_reduce(0, t.tensor([1, 1]), s[:2], "amax"),
    "index_put": lambda t, x, s: x.index_put((t.tensor([0, 2]), t.tensor([1, 1])), s[0, :2]),
    "index_put mask": lambda t, x, s: x.index_put((x.detach() > 4,), s[0, 0]),
    "index_put add": lambda t, x, s: x.index_put((t.tensor([1, 1]),), s[:2], accumulate=True),
    "index_put_": lambda t, x, s: (x * 1).index_put_((t.tensor([0, 1]),), s[0]),
    "put": lambda t, x, s: x.put(t.tensor([3, -1]), s[0, :2]),
    "put add": lambda t, x, s: x.put(t.tensor([3, 3]), s[0, :2], accumulate=True),
    "select_scatter": lambda t, x, s: x.select_scatter(s[0], 0, 1),
    "slice_scatter": lambda t, x, s: t.slice_scatter(x, s[:, :2], 1, 0, None, 2),
    "diagonal_scatter": lambda t, x, s: x.diagonal_scatter(s[0, :3], 1),
    "as_strided_scatter": lambda t, x, s: x.detach().as_strided_scatter(s[:2, :2].detach(), (2, 2), (3, 1), 1),
}


@pytest.mark.parametrize("name", OPS)
def test_values_and_gradients(name, agree):
    agree(OPS[name], X, S)


ERRORS = {
    "scatter": lambda t, x: x.scatter(0, t.tensor([[5, 0, 0, 0]]), x),
    "scatter shape": lambda t, x: x.scatter(0, t.zeros(4, 4, dtype=t.long), x),
    "scatter shape of a number": lambda t, x: x.scatter(0, t.zeros(1, 5, dtype=t.long), 1.0),
    "scatter dtype": lambda t, x: x.scatter(0, t.zeros(1, 4, dtype=t.long), x.float()),
    "scatter_add": lambda t, x: x.scatter_add(0, t.tensor([[-1, 0, 0, 0]]), x),
    "scatter_reduce": lambda t, x: x.scatter_reduce(0, t.tensor([[5, 0, 0, 0]]), x, "sum"),
    "scatter_reduce name": lambda t, x: x.scatter_reduce(0, t.tensor([[0, 0, 0, 0]]), x, "sm"),
    "scatter reduce name": lambda t, x: x.scatter(0, t.tensor([[0, 0, 0, 0]]), x, reduce="sum"),
    "index_add": lambda t, x: x.index_add(0, t.tensor([5]), x[:1]),
    "index_add count": lambda t, x: x.index_add(0, t.tensor([1]), x[:2]),
    "index_add shape": lambda t, x: x.index_add(0, t.tensor([1]), x[:1, :2]),
    "index_add dtype": lambda t, x: x.index_add(0, t.tensor([1]), x[:1].float()),
    "index_copy": lambda t, x: x.index_copy(0, t.tensor([5]), x[:1]),
    "index_fill": lambda t, x: x.index_fill(0, t.tensor([5]), 1.0),
    "index_fill value": lambda t, x: x.index_fill(0, t.tensor([0]), t.ones(2)),
    "index_reduce": lambda t, x: x.index_reduce(0, t.tensor([5]), x[:1], "prod"),
    "put": lambda t, x: x.put(t.tensor([50]), x[0, :1]),
    "put count": lambda t, x: x.put(t.tensor([1]), x[0, :2]),
    "index_put": lambda t, x: x.index_put((t.tensor([5]),), x[0, 0]),
    "select_scatter": lambda t, x: x.select_scatter(x[0, :3], 0, 1),
    "slice_scatter": lambda t, x: x.slice_scatter(x[0, :3], 0, 1),
    "diagonal_scatter": lambda t, x: x.diagonal_scatter(x[0, :2]),
}


@pytest.mark.parametrize("name", ERRORS)
def test_errors(name, refuse):
    refuse(ERRORS[name], X)


def grad_of(f, *values):
    inputs = [funtorch.tensor(v, requires_grad=True) for v in values]
    return [g.tolist() for g in funtorch.autograd.grad(f(*inputs).sum(), inputs)]


def test_product_with_a_zero_keeps_the_gradient():
    at = funtorch.tensor([0, 0, 0])
    (_, g) = grad_of(lambda b, s: b.scatter_reduce(0, at, s, "prod"), [1.0], [0.0, 3, 4])
    assert g == [12.0, 0.0, 0.0]


def test_second_derivative_of_a_product_with_two_zeros():
    s = funtorch.tensor([0.0, 0, 4], requires_grad=True)
    z = funtorch.ones(1).scatter_reduce(0, funtorch.tensor([0, 0, 0]), s, "prod")
    (g,) = funtorch.autograd.grad(z.sum(), s, create_graph=True)
    (h,) = funtorch.autograd.grad(g[0], s)
    assert h.tolist() == [0.0, 4.0, 0.0]


def test_ties_share_the_gradient():
    at = funtorch.tensor([0, 0])
    base, src = grad_of(lambda b, s: b.scatter_reduce(0, at, s, "amax"), [5.0], [5.0, 5.0])
    np.testing.assert_allclose(base + src, [1 / 3] * 3, rtol=1e-6)


def test_source_larger_than_the_index_gets_a_gradient_of_its_own_shape():
    at = funtorch.tensor([[0, 2]])
    (_, g) = grad_of(lambda b, s: b.scatter_add(1, at, s), np.zeros((2, 3)), np.ones((2, 3)))
    assert g == [[1, 1, 0], [0, 0, 0]]


def test_under_vmap():
    x, s = funtorch.tensor(X), funtorch.tensor(S)
    at = funtorch.tensor([[0, 1], [2, 2], [3, 0]])
    found = funtorch.vmap(lambda r, i, v: r.scatter_add(0, i, v[:2]))(x, at, s)
    np.testing.assert_array_equal(found.numpy(), x.scatter_add(1, at, s[:, :2]).numpy())
    found = funtorch.vmap(lambda r, i, v: r.scatter_reduce(0, i, v[:2], "prod"))(x, at, s)
    np.testing.assert_allclose(found.numpy(), x.scatter_reduce(1, at, s[:, :2], "prod").numpy())
