"""Each program, in each transform, gives what its Python loop gives in torch."""

import numpy as np
import pytest
import torch as reference
from programs import PROGRAMS, REVERSIBLE

import funtorch

CLOSE = {"rtol": 1e-9, "atol": 1e-9}


def weights(shape):
    return np.cos(np.arange(np.prod(shape, dtype=int)) + 1.0).reshape(shape)


def pair(name, transform):
    """A transform of the construct in funtorch, and of the plain function in torch: arrays."""
    program = PROGRAMS[name]
    ours = transform(funtorch, program.construct, [funtorch.tensor(x) for x in program.inputs])
    theirs = transform(reference, lambda *xs: program.plain(reference, *xs), [reference.tensor(x) for x in program.inputs])
    return [np.asarray(z.detach()) for z in ours], [np.asarray(z.detach()) for z in theirs]


def agree(name, transform):
    ours, theirs = pair(name, transform)
    assert len(ours) == len(theirs) > 0
    for mine, its in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, its, **CLOSE)


def total(m, f):
    def scalar(*xs):
        z = f(*xs)
        return (z * m.tensor(weights(tuple(z.shape)))).sum()

    return scalar


def moved(m, xs):
    """Directions of the inputs' shapes."""
    return [m.tensor(weights(tuple(x.shape)) * (k + 0.5)) for k, x in enumerate(xs)]


def differentiable(name, xs):
    """The inputs that the reference depends on, so that torch has a gradient for them."""
    return range(1) if name.startswith("associative") else range(len(xs))


@pytest.mark.parametrize("name", PROGRAMS)
def test_value(name):
    agree(name, lambda m, f, xs: [f(*xs)])


@pytest.mark.parametrize("name", REVERSIBLE)
def test_backward(name):
    def gradients(m, f, xs):
        xs = [x.requires_grad_() for x in xs]
        total(m, f)(*xs).backward()
        return [m.zeros_like(xs[k]) if xs[k].grad is None else xs[k].grad for k in differentiable(name, xs)]

    agree(name, gradients)


@pytest.mark.parametrize("name", REVERSIBLE)
def test_gradient_of_gradient(name):
    def second(m, f, xs):
        numbers = tuple(differentiable(name, xs))

        def slope(*xs):
            grads = m.func.grad(total(m, f), argnums=numbers)(*xs)
            return sum((g * d).sum() for g, d in zip(grads, moved(m, xs), strict=False))

        return m.func.grad(slope, argnums=numbers)(*xs)

    agree(name, second)


@pytest.mark.parametrize("name", PROGRAMS)
def test_forward_derivative(name):
    def along(m, f, xs):
        count = len(differentiable(name, xs))
        return m.func.jvp(lambda *some: f(*some, *xs[count:]), tuple(xs[:count]), tuple(moved(m, xs)[:count]))

    agree(name, along)


@pytest.mark.parametrize("name", REVERSIBLE)
def test_hessian(name):
    agree(name, lambda m, f, xs: [m.func.hessian(total(m, f))(*xs)])


@pytest.mark.parametrize("name", REVERSIBLE)
def test_jacrev(name):
    agree(name, lambda m, f, xs: [m.func.jacrev(f, argnums=0)(*xs)])


@pytest.mark.parametrize(("name", "number"), [(n, k) for n, p in PROGRAMS.items() for k in range(len(p.inputs))])
def test_vmap_over_each_input(name, number):
    def lanes(m, f, xs):
        dim = number % (xs[number].dim() + 1)  # not the first dimension alone
        batch = m.stack([xs[number], -xs[number], xs[number] * 0.5], dim)
        if m is funtorch:
            dims = tuple(dim if k == number else None for k in range(len(xs)))
            return [m.vmap(f, in_dims=dims)(*[batch if k == number else x for k, x in enumerate(xs)])]
        return [m.stack([f(*[x if k != number else batch.select(dim, i) for k, x in enumerate(xs)]) for i in range(3)])]

    agree(name, lanes)


@pytest.mark.parametrize("name", REVERSIBLE)
def test_gradient_of_each_lane_and_of_all(name):
    def lanes(m, f, xs):
        batch = [m.stack([x, -x, x * 0.5]) for x in xs]
        g = m.func.grad(total(m, f))
        if m is funtorch:
            together = m.func.grad(lambda *b: m.vmap(total(m, f))(*b).sum())
            return [m.vmap(g)(*batch), together(*batch)]
        each = m.stack([g(*[b[i] for b in batch]) for i in range(3)])
        return [each, each]

    agree(name, lanes)


@pytest.mark.parametrize("name", PROGRAMS)
def test_compiled(name):
    program = PROGRAMS[name]
    compiled = funtorch.compile(program.construct)
    for sign in (1.0, 1.0, -1.0, 0.7, -0.7):
        xs = [x * sign for x in program.inputs]
        found = compiled(*map(funtorch.tensor, xs))
        wanted = program.plain(reference, *map(reference.tensor, xs))
        np.testing.assert_allclose(np.asarray(found), wanted.numpy(), **CLOSE)
    assert compiled.counts["guard_failures"] == 0 and compiled.counts["compiled"] == 3, compiled.counts


@pytest.mark.parametrize("name", REVERSIBLE)
def test_a_compiled_training_step(name):
    program = PROGRAMS[name]
    xs = [funtorch.tensor(x, requires_grad=True) for x in program.inputs]
    scale = [funtorch.tensor(s, dtype=funtorch.float64) for s in (1.0, 1.0, 1.0, -1.0)]

    def step(s):
        for x in xs:
            x.grad = None
        loss = (program.construct(*[x * s for x in xs]) ** 2).sum()
        loss.backward()
        return loss

    compiled = funtorch.compile(step)
    for s in scale:
        found = compiled(s)
        gradients = [None if x.grad is None else np.asarray(x.grad) for x in xs]
        wanted = step(s)
        np.testing.assert_allclose(found.item(), wanted.item(), **CLOSE)
        for g, x in zip(gradients, xs, strict=True):
            np.testing.assert_allclose(g, np.asarray(x.grad), **CLOSE)
    assert compiled.counts["compiled"] == 2 and compiled.counts["guard_failures"] == 0, compiled.counts
