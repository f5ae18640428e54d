"""The square of a norm, a modulus, a deviation or a distance is smooth where that is 0: its second derivative is that of the sum of squares."""

import jax
import numpy as np
import pytest

import funtorch
from funtorch import func
from funtorch.core.handle import make

SUM = lambda v: (v * v).sum()  # noqa: E731
VARIANCE = lambda v: ((v - v.mean()) ** 2).sum() / (v.numel() - 1)  # noqa: E731
ORIGIN = np.zeros(3)

# The square through its root, and the same without.
FUNCTIONS = {
    "linalg.norm": (lambda v: funtorch.linalg.norm(v) ** 2, SUM),
    "norm, pow": (lambda v: funtorch.norm(v).pow(2), SUM),
    "norm, square": (lambda v: v.norm().square(), SUM),
    "norm times itself": (lambda v: (lambda n: n * n)(v.norm()), SUM),
    "vector_norm, keepdim": (lambda v: (funtorch.linalg.vector_norm(v[None], dim=1, keepdim=True) ** 2).sum(), SUM),
    "matrix_norm": (lambda v: funtorch.linalg.matrix_norm(v[None]) ** 2, SUM),
    "abs": (lambda v: (v.abs() ** 2).sum(), SUM),
    "std": (lambda v: v.std() ** 2, VARIANCE),
    "dist": (lambda v: funtorch.dist(v, v.new_zeros(3)) ** 2, SUM),
    "cdist": (lambda v: (funtorch.cdist(v[None], v.new_zeros(1, 3)) ** 2).sum(), SUM),
    "pdist": (lambda v: (funtorch.pdist(funtorch.stack([v, -v])) ** 2).sum(), lambda v: 4 * SUM(v)),
    "within a function": (lambda v: funtorch.exp(-3 * v.norm() ** 2), lambda v: funtorch.exp(-3 * SUM(v))),
    "of lanes": (lambda v: (funtorch.vmap(lambda x: x.norm())(v[:, None]) ** 2).sum(), SUM),
    "in lanes": (lambda v: funtorch.vmap(lambda x: x.norm() ** 2)(v[:, None]).sum(), SUM),
}


def by_backward(f):
    def hessian(v):
        v = v.clone().requires_grad_()
        (g,) = funtorch.autograd.grad(f(v), v, create_graph=True)
        return funtorch.stack([funtorch.autograd.grad(each, v, retain_graph=True)[0] for each in g])

    return hessian


HESSIANS = {
    "forward over reverse": lambda f: func.jacfwd(func.grad(f)),
    "reverse over reverse": lambda f: func.jacrev(func.grad(f)),
    "forward over forward": lambda f: func.jacfwd(func.jacfwd(f)),
    "reverse over forward": lambda f: func.jacrev(func.jacfwd(f)),
    "backward": by_backward,
    "mapped": lambda f: lambda v: funtorch.vmap(func.hessian(f))(v.expand(2, 3))[1],
}


@pytest.mark.parametrize("mode", HESSIANS)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_second_derivatives_at_zero(name, mode):
    f, smooth = FUNCTIONS[name]
    at = make(ORIGIN)
    np.testing.assert_allclose(HESSIANS[mode](f)(at), func.jacfwd(func.jacrev(smooth))(at), atol=1e-12)


def square_of_norm(v):
    return v.norm() ** 2


@pytest.mark.parametrize(
    "hessian",
    [
        funtorch.compile(func.hessian(square_of_norm)),
        func.hessian(funtorch.compile(square_of_norm)),
        func.hessian(lambda v: funtorch.utils.checkpoint.checkpoint(square_of_norm, v, use_reentrant=False)),
    ],
)
def test_traced(hessian):
    for _ in range(3):
        np.testing.assert_allclose(hessian(make(ORIGIN)), 2 * np.eye(3))


def test_derived_by_jax():
    np.testing.assert_allclose(jax.hessian(lambda a: square_of_norm(make(a))._payload)(ORIGIN), 2 * np.eye(3))


def test_fourth_order():
    f = lambda x: funtorch.stack([x, x * x]).norm() ** 2  # noqa: E731  (x^2 + x^4)
    for derive in (func.grad, lambda f: lambda x: func.jvp(f, (x,), (funtorch.ones_like(x),))[1]):
        g, found = f, []
        for _ in range(4):
            g = derive(g)
            found.append(g(make(np.zeros(()))).item())
        assert found == [0, 2, 0, 24]


@pytest.mark.parametrize("root", [funtorch.abs, funtorch.linalg.vector_norm])
def test_complex(root):
    z = funtorch.zeros(2, dtype=funtorch.complex128, requires_grad=True)
    (g,) = funtorch.autograd.grad((root(z) ** 2).sum(), z, create_graph=True)
    (h,) = funtorch.autograd.grad(g.real.sum(), z)
    np.testing.assert_array_equal(h, [2, 2])


def test_half_precision():
    for dtype in (funtorch.float16, funtorch.bfloat16):
        found = func.hessian(square_of_norm)(funtorch.zeros(2, dtype=dtype))
        assert found.dtype == dtype and found.tolist() == [[2, 0], [0, 2]]


def point(*values):
    return funtorch.tensor(values, dtype=funtorch.float64, requires_grad=True)


def test_the_root_itself_has_its_gradient():
    v = point(3.0, 4.0)
    n = v.norm()
    seen = []
    n.register_hook(seen.append)
    n.retain_grad()
    p = n**2
    assert p.grad_fn.name() == "PowBackward0" and p.grad_fn.next_functions[0][0] is n.grad_fn
    assert funtorch.autograd.grad(p, n, create_graph=True)[0].item() == 10
    p.backward(create_graph=True)
    assert n.grad.item() == 10 and seen[-1].item() == 10
    np.testing.assert_allclose(v.grad.detach(), [6, 8])


def test_hooks_of_the_square():
    v = point(0.0, 0.0)
    p = v.norm() ** 2
    p.retain_grad()
    p.register_hook(lambda g: 3 * g)
    (g,) = funtorch.autograd.grad(p, v, create_graph=True)
    np.testing.assert_array_equal(funtorch.autograd.grad(g.sum(), v)[0], [6, 6])
    assert p.grad is not None


def overwrite(n):
    with funtorch.no_grad():
        n.mul_(2)


def give_data(n):
    n.data = n.data * 2


@pytest.mark.parametrize("write", [overwrite, give_data])
def test_a_root_that_was_written_is_none(write):
    v = point(3.0, 4.0)
    n = v.norm()
    write(n)
    for create_graph in (False, True):
        np.testing.assert_allclose(
            funtorch.autograd.grad(n**2, v, create_graph=create_graph, retain_graph=True)[0].detach(), [12, 16]
        )


def test_without_grad_mode_the_root_is_a_constant():
    def f(v):
        with funtorch.no_grad():
            n = v.norm()
        return n**2 * v.sum()

    found = func.jacrev(func.grad(f))(make(np.ones(3)))
    np.testing.assert_array_equal(found, np.zeros((3, 3)))


def test_the_graph_is_freed():
    v = point(3.0, 4.0)
    p = v.norm() ** 2
    funtorch.autograd.grad(p, v, create_graph=True, retain_graph=False)
    with pytest.raises(RuntimeError, match="second time"):
        funtorch.autograd.grad(p, v)
