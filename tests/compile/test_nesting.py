"""compile inside and outside of every transform, and inside itself."""

import functools

import pytest
from harness import Cases, Plan, batch, check, net, parameter, tensor

import funtorch
from funtorch.func import functional_call, grad, grad_and_value, hessian, jacfwd, jacrev, jvp, vjp, vmap

cases = Cases()


def wavy(x):
    return (x.sin() * x).sum() + (x * x).prod()


TRANSFORMS = {
    "grad": grad,
    "grad_and_value": grad_and_value,
    "vmap": lambda f: vmap(lambda row: f(row.expand(2) * 1)),
    "jacrev": jacrev,
    "jacfwd": jacfwd,
    "hessian": hessian,
    "jvp": lambda f: lambda x: jvp(f, (x,), (x.cos(),)),
    "vjp": lambda f: lambda x: vjp(f, x)[1](funtorch.ones(()) * 2),
    "vmap(grad)": lambda f: vmap(grad(lambda row: f(row.expand(2) * 1))),
    "grad(grad)": lambda f: lambda x: grad(lambda s: grad(lambda t: f(x * t))(s))(tensor(1.5)[0]),
    "backward": lambda f: lambda x: funtorch.autograd.grad(f(x.detach().requires_grad_()), [], allow_unused=True) or f(x),
}
del TRANSFORMS["backward"]


@pytest.mark.parametrize("name", TRANSFORMS)
def test_compile_outside(name):
    check(lambda: Plan(TRANSFORMS[name](wavy), batch(2)), 10)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_compile_inside(name):
    inner = funtorch.compile(wavy)
    for i in range(4):
        (x,) = batch(2)(i)
        inner(x)
        ours, plain = TRANSFORMS[name](inner)(x), TRANSFORMS[name](wavy)(x)
        for a, b in zip(*(p if isinstance(p, tuple) else (p,) for p in (ours, plain)), strict=True):
            assert funtorch.allclose(a, b, rtol=1e-12)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_compile_inside_and_outside(name):
    check(lambda: Plan(TRANSFORMS[name](funtorch.compile(wavy)), batch(2)), 10)


@cases(10)
def a_compiled_function_inside_another():
    inner = funtorch.compile(lambda x: x.sin() * 2)
    return Plan(lambda x: inner(x) + inner(x * 2), batch(3))


@cases(10)
def a_compiled_function_with_state_inside_another():
    count = funtorch.zeros(())

    @funtorch.compile
    def inner(x):
        count.add_(1)
        return x * count

    return Plan(lambda x: inner(x) + inner(x), batch(3), {"count": count})


@cases(6)
def a_compiled_function_with_a_branch_inside_another():
    inner = funtorch.compile(lambda x: x * 2 if x.sum() > 0 else -x)
    return Plan(lambda x: inner(x) + 1, lambda i: (tensor(1.0, -3.0 * (i % 2)),))


@cases(8)
def backward_through_two_compiled_functions():
    w = parameter(3)
    first, second = funtorch.compile(lambda x: (x * w).tanh()), funtorch.compile(lambda h: (h * w).sum())

    def step(x):
        w.grad = None
        loss = second(first(x))
        loss.backward()
        return loss.detach()

    return Plan(step, batch(3), {"w": w})


@cases(8)
def gradients_per_sample():
    model = net()
    names = {k: v.detach() for k, v in model.named_parameters()}

    def loss(parameters, x):
        return functional_call(model, parameters, (x,)).pow(2).sum()

    return Plan(lambda x: vmap(grad(loss), in_dims=(None, 0))(names, x), batch(4, 3))


@cases(8)
def one_step_of_learning_inside():
    w = parameter(3)

    def loss(v, x):
        return ((v * x).sum() - 1) ** 2

    def step(x):
        w.grad = None
        inner = w - 0.1 * grad(loss)(w, x)
        outer = loss(inner, x * 2)
        outer.backward()
        with funtorch.no_grad():
            w.sub_(0.1 * w.grad)
        return outer.detach()

    return Plan(step, batch(3), {"w": w})


@cases(8)
def batch_norm_statistics_under_vmap():
    w = parameter(3)

    def step(xs):
        return vmap(lambda x: (x * w).sum().tanh())(xs).sum()

    return Plan(step, batch(4, 3), {"w": w})


@cases(8)
def random_numbers_in_each_lane():
    def step(xs):
        return vmap(lambda x: x + funtorch.rand(2), randomness="different")(xs)

    return Plan(step, batch(3, 2))


SCALE = 1.0


def scaled(x):
    return (x * x).sum() * SCALE


WRAPPED = {
    "compiled": funtorch.compile(scaled),
    "grad": grad(scaled),
    "vmap of grad": vmap(grad(lambda x: scaled(x))),
    "no_grad": funtorch.no_grad()(scaled),
    "partial": functools.partial(scaled),
}


@pytest.mark.parametrize("name", WRAPPED)
def test_what_functions_inside_read_is_seen(name):
    inner = WRAPPED[name]
    run = funtorch.compile(lambda x: inner(x) * 2)
    try:
        for i in range(12):
            globals()["SCALE"] = 1.0 if i < 6 else 3.0
            (x,) = batch(2)(i)
            assert funtorch.allclose(run(x), inner(x) * 2, rtol=1e-12)
    finally:
        globals()["SCALE"] = 1.0
    assert run.counts["compiled"] >= 4


def test_backward_twice_through_a_compiled_forward():
    w = parameter(2)

    def forward(x):
        return (x * w).tanh().sum()

    run = funtorch.compile(forward)
    for i in range(6):
        found = []
        for f in (forward, run):
            x = tensor(1.0, i).requires_grad_()
            w.grad = None
            y = f(x)
            (first,) = funtorch.autograd.grad(y, x, create_graph=True)
            (first.sum() + y).backward()
            found.append((x.grad, w.grad, first))
        for a, b in zip(*found, strict=True):
            assert funtorch.allclose(a, b, rtol=1e-12)
    assert run.counts["compiled"] >= 3


test_nesting = cases.test
