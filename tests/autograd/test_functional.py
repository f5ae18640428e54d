"""autograd.functional: values, structures and strictness as torch's."""

import pytest
from same import caught, check

PROGRAMS = []


def program(fn):
    PROGRAMS.append(fn)
    return fn


def points(m):
    return m.tensor([0.3, 1.2], dtype=m.float64), m.tensor([0.5], dtype=m.float64)


def pair(x, y):
    return x.sin() * y, (x * x).sum() + y.exp().sum()


def scalar(x, y):
    return (x.sin() * y).sum() + (x**2).prod() * y.sum()


@program
def jacobians(m):
    jac = m.autograd.functional.jacobian
    x, y = points(m)
    found = [jac(pair, (x, y)), jac(lambda x: x.sin(), x), jac(lambda x: (x.sin(), x.sum()), x), jac(lambda x, y: x * y, (x, y))]
    for strategy in ("forward-mode", "reverse-mode"):
        found += [
            jac(pair, (x, y), vectorize=True, strategy=strategy),
            jac(lambda x: x.sin(), x, vectorize=True, strategy=strategy),
        ]
        found.append(jac(lambda x: (x.sin(), x.sum()), x, vectorize=True, strategy=strategy))
    return found


@program
def jacobian_that_goes_on(m):
    x, y = points(m)
    x.requires_grad_()
    j = m.autograd.functional.jacobian(lambda x: x**3, x, create_graph=True)
    plain = m.autograd.functional.jacobian(lambda x: x**3, x)
    return j, j.requires_grad, plain.requires_grad, m.autograd.grad(j.sum(), x)


@program
def hessians(m):
    hes = m.autograd.functional.hessian
    x, y = points(m)
    x.requires_grad_()
    single = hes(lambda x: (x**3).sum(), x, create_graph=True)
    return (
        hes(scalar, (x, y)), single, m.autograd.grad(single.sum(), x), hes(lambda x: x.sum(), x),
        hes(scalar, (x, y), vectorize=True, outer_jacobian_strategy="forward-mode"),
        caught(lambda: hes(lambda x: x * 2, x), 8), caught(lambda: hes(lambda x: (x.sum(), x), x), 0),
    )  # fmt: skip


@program
def products(m):
    f = m.autograd.functional
    x, y = points(m)
    v, w = m.tensor([1.0, -2.0], dtype=m.float64), m.tensor([3.0], dtype=m.float64)
    s = m.tensor(2.0, dtype=m.float64)
    return (
        f.vjp(pair, (x, y), (v, s)), f.jvp(pair, (x, y), (v, w)), f.vhp(scalar, (x, y), (v, w)), f.hvp(scalar, (x, y), (v, w)),
        f.vjp(lambda x: x.sum(), x), f.vjp(lambda x, y: x.sum(), (x, y)), f.jvp(lambda y: y * 2, y), f.hvp(lambda x: (x**3).sum(), x, v),
        f.vhp(lambda x: x.sum(), x, v),
    )  # fmt: skip


@program
def products_that_go_on(m):
    f, (x, _) = m.autograd.functional, points(m)
    x.requires_grad_()
    v = m.tensor([1.0, -2.0], dtype=m.float64)
    found = []
    for product, fn in ((f.vjp, m.sin), (f.jvp, m.sin), (f.vhp, lambda x: (x**4).sum()), (f.hvp, lambda x: (x**4).sum())):
        _, r = product(fn, x, v, create_graph=True)
        _, cut = product(fn, x, v)
        found += [r.requires_grad, m.autograd.grad(r.sum(), x), cut.requires_grad]
    return found


@program
def strictness(m):
    f, (x, y) = m.autograd.functional, points(m)
    v = m.ones(2, dtype=m.float64)

    def only_x(x, y):
        return x.sin()

    return (
        caught(lambda: f.jacobian(only_x, (x, y), strict=True), 12), caught(lambda: f.vjp(only_x, (x, y), v, strict=True), 0),
        caught(lambda: f.jacobian(lambda x: x.detach(), x, strict=True), 8), f.jacobian(only_x, (x, y)),
        caught(lambda: f.hessian(lambda x: x.sum(), x, strict=True), 0), caught(lambda: f.vhp(lambda x: x.sum(), x, v, strict=True), 0),
        caught(lambda: f.jvp(lambda x, y: y * 1, (x, y), (v, m.ones(1, dtype=m.float64)), strict=True), 0),
    )  # fmt: skip


@program
def misfits(m):
    f, (x, y) = m.autograd.functional, points(m)
    return (
        caught(lambda: f.vjp(lambda x: x * 2, x), 0), caught(lambda: f.vjp(lambda x: x * 2, x, m.ones(3)), 6),
        caught(lambda: f.jvp(lambda x: x * 2, x), 0), caught(lambda: f.jacobian(lambda x: 3, x), 0), caught(lambda: f.jacobian(m.sin, 3.0), 0),
        caught(lambda: f.vjp(pair, (x, y), (x,)), 0), caught(lambda: f.jacobian(m.sin, x, strategy="sideways"), 0),
    )  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_as_torch(program):
    check(program)
