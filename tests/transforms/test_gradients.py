"""grad, grad_and_value, vjp, jvp, linearize, jacrev, jacfwd, hessian: arguments, structures, refusals."""

import pytest
from same import caught, check

import funtorch

PROGRAMS = []


def program(fn):
    PROGRAMS.append(fn)
    return fn


def points(m):
    return m.tensor([0.3, 1.2], dtype=m.float64), m.tensor([0.5, -1.0], dtype=m.float64)


@program
def argument_numbers(m):
    x, y = points(m)

    def f(x, y, k=2.0):
        return (x**2 * y * k).sum()

    g = m.func.grad
    return (
        g(f)(x, y), g(f, argnums=1)(x, y), g(f, argnums=(0, 1))(x, y), g(f, argnums=(1, 0))(x, y), g(f, argnums=-1)(x, y), g(f, argnums=(1,))(x, y),
        g(f)(x, y, k=3.0), g(f)(x, y, 4.0), caught(lambda: g(f, argnums=2)(x, y), 0), m.func.grad_and_value(f, argnums=(0, 1))(x, y),
    )  # fmt: skip


@program
def auxiliary_results(m):
    x, y = points(m)

    def f(x):
        return (x**2).sum(), {"twice": x * 2}

    return (
        m.func.grad(f, has_aux=True)(x), m.func.grad_and_value(f, has_aux=True)(x), m.func.vjp(lambda x: (x.sin(), x * 3), x, has_aux=True)[2],
        m.func.jvp(lambda x: (x.sin(), x * 3), (x,), (y,), has_aux=True), m.func.jacrev(lambda x: (x.sin(), x * 3), has_aux=True)(x),
        m.func.jacfwd(lambda x: (x.sin(), x * 3), has_aux=True)(x), caught(lambda: m.func.grad(lambda x: x.sum(), has_aux=True)(x), 0),
    )  # fmt: skip


@program
def columns_that_draw_random_numbers(m):
    x, _ = points(m)
    found = []
    for randomness in ("different", "same"):
        m.manual_seed(3)
        found += [m.func.jacfwd(lambda x: {"a": x * m.rand(2), "b": x.sin().sum()}, randomness=randomness)(x), m.rand(1)]
    m.manual_seed(3)
    found += [
        m.func.jacfwd(lambda x: (x * m.rand(2), {"seen": x * m.rand(2)}), has_aux=True, randomness="different")(x),
        m.rand(1),
    ]
    return found, caught(lambda: m.func.jacfwd(lambda x: x * m.rand(2))(x), 0)


@program
def containers_keep_their_order(m):
    x, y = points(m)

    def f(p, q):
        return (p["z"] * p["a"][0]).sum() + (q[1] ** 2).sum()

    found = m.func.grad(f, argnums=(0, 1))({"z": x, "a": [y, x]}, (x, y))
    return found, list(found[0])


@program
def unused_arguments_have_zeros(m):
    x, y = points(m)
    return (
        m.func.grad(lambda x, y: x.sum(), argnums=(0, 1))(x, y), m.func.grad(lambda p: p["a"].sum())({"a": x, "b": y.float()}),
        m.func.grad(lambda x: y.sum())(x), m.func.vjp(lambda x, y: x * 2, x, y)[1](y), m.func.jacrev(lambda x, y: x * 2, argnums=1)(x, y),
        m.func.jvp(lambda x: y, (x,), (y,)), m.func.grad(lambda x: x.detach().sum())(x),
    )  # fmt: skip


@program
def refusals(m):
    x, y = points(m)
    g, i = m.func.grad, m.arange(2)
    return [
        caught(run, 0)
        for run in (
            lambda: g(lambda x: x * 2)(x), lambda: g(lambda x: 3.0)(x), lambda: g(lambda x: x.sum())(i), lambda: g(lambda x: (x.sum(), x))(x),
            lambda: m.func.jvp(m.sin, x, y), lambda: m.func.jvp(m.sin, (x,), (y, y)), lambda: m.func.jvp(m.sin, (x,), (y[:1],)),
            lambda: m.func.jvp(lambda x: 3, (x,), (y,)),
            lambda: m.func.vjp(lambda x: 3, x), lambda: m.func.jacrev(m.sin, chunk_size=0)(x),
        )
    ]  # fmt: skip


@program
def structures_of_jacobians(m):
    x, y = points(m)

    def f(p, y):
        return {"s": p["x"].sin() * y, "t": (p["x"].sum(),)}

    return (
        [j(f, argnums=n)({"x": x}, y) for j in (m.func.jacrev, m.func.jacfwd) for n in (0, 1, (0, 1))],
        m.func.hessian(lambda p: (p["x"] ** 3 * p["y"]).sum())({"x": x, "y": y}),
        m.func.jacrev(lambda x: x.sum())(x[0]),
        m.func.hessian(lambda x, y: (x**2 * y).sum(), argnums=(0, 1))(x, y),
    )


@program
def chunked_jacobians(m):
    x = m.arange(5, dtype=m.float64)
    return [m.func.jacrev(lambda x: x.outer(x).sin(), chunk_size=k)(x) for k in (1, 2, 7)]


@program
def products(m):
    x, y = points(m)
    value, pull = m.func.vjp(lambda x: (x.sin(), {"c": x.cos()}), x)
    out, push = m.func.linearize(lambda x, y: x.sin() * y, x, y)
    return (
        value, pull((y, {"c": x})), pull((x, {"c": x})), m.func.vmap(lambda c: pull((c, {"c": x}))[0])(m.stack([x, y])), out, push(y, x), push(x, x),
        m.func.jvp(lambda x, y: (x * y, x.sum()), (x, y), (y, x)),
    )  # fmt: skip


@program
def integers_beside(m):
    x, _ = points(m)
    n = m.tensor([1, 0])
    return (
        m.func.grad(lambda x, n: x[n].prod())(x, n), m.func.jvp(lambda x: (x * 2, x.argmax()), (x,), (x,))[0], m.func.vjp(lambda x: x * n, x)[1](x),
        m.func.jvp(lambda x: (x > 0.5).double() * x, (x,), (x,)),
    )  # fmt: skip


@program
def closures_over_recorded_tensors(m):
    x, y = points(m)
    w = y.clone().requires_grad_()
    g = m.func.grad(lambda x: (x.sin() * w).sum())(x)
    v = m.func.jvp(lambda x: x * w, (x,), (x,))[1]
    return (
        g.requires_grad,
        m.autograd.grad(g.sum() + v.sum(), w),
        m.func.grad(lambda x: m.autograd.grad((x**3 * w).sum(), x, create_graph=True)[0].sum())(x),
    )


@program
def recorded_arguments(m):
    x, y = points(m)
    x.requires_grad_()
    g = m.func.grad(lambda x: (x**3).sum())(x)
    with m.no_grad():
        cut = m.func.grad(lambda x: (x**3).sum())(x)
        value = m.func.grad_and_value(lambda x: (x**3).sum())(x)[1]
        dot = m.func.jvp(lambda x: m.func.grad(lambda x: (x**3).sum())(x), (x,), (y,))
    return g.requires_grad, m.autograd.grad(g.sum(), x), cut.requires_grad, cut, value.requires_grad, dot


@program
def stops(m):
    """detach stops both modes at every level, no_grad only the reverse one."""
    x, y = points(m)
    f = {
        "detach": lambda x: x * (x**2).detach(), "view": lambda x: x * (x**2).detach()[:2].view(2),
        "no_grad": lambda x: x * silent(x),
    }  # fmt: skip

    def silent(x):
        with m.no_grad():
            return x**2

    func = m.func
    found = []
    for h in f.values():
        total = lambda x, h=h: h(x).sum()  # noqa: E731
        found += [
            func.grad(total)(x), func.jvp(h, (x,), (y,))[1], func.grad(lambda x, h=h: func.vmap(h)(x[:, None]).sum() if h is not f["view"] else x.sum())(x),
            func.vmap(func.grad(total))(m.stack([x, y])), func.jvp(func.grad(total), (x,), (y,))[1], func.grad(lambda x, h=h: func.jvp(h, (x,), (y,))[1].sum())(x),
            func.jacfwd(h)(x), func.jacrev(h)(x), func.hessian(total)(x),
        ]  # fmt: skip
    return found


def written_values(m):
    """Functions that write values alone: their derivatives are those of what the values were written over."""

    def without_grad_mode(write):
        def f(x):
            a = x * 1.0
            with m.no_grad():
                write(a)
            return a * a + a

        return f

    def detached(x):
        a = x * 1.0
        a.detach()[1:].mul_(3)
        return a * a

    return detached, *map(without_grad_mode, (lambda a: a.mul_(5), lambda a: a.zero_(), lambda a: a[:1].fill_(4.0)))


@program
def values_written_without_history(m):
    x, t = points(m)
    found = []
    for f in written_values(m):
        mapped = lambda x, f=f: m.func.vmap(f)(m.stack([x, 2 * x])).sum(0)  # noqa: E731
        across = lambda x, f=f: m.func.vmap(f, in_dims=1)(m.stack([x, 2 * x])).sum(0)  # noqa: E731
        sums = [lambda x, g=g: g(x).sum() for g in (f, mapped, across)]
        slopes = [m.func.grad(g)(x) for g in sums]
        pushed = [m.func.jvp(g, (x,), (t,)) for g in (f, mapped)]
        found.append(
            (slopes, pushed, m.func.hessian(sums[0])(x), m.func.grad(lambda x, f=f: m.func.jvp(f, (x,), (t,))[1].sum())(x))
        )
    return found


def test_derivatives_of_values_written_through_data():
    def f(x):
        a = x * 1.0
        a.data.copy_(a * 5)
        return a * a

    x, t = points(funtorch)
    assert funtorch.equal(funtorch.func.jvp(f, (x,), (t,))[1], 10 * x * t)
    assert funtorch.equal(funtorch.func.grad(lambda x: f(x).sum())(x), 10 * x)
    assert funtorch.equal(funtorch.func.grad(lambda x: funtorch.vmap(f)(x[None]).sum())(x), 10 * x)


@program
def linearized_where_the_result_does_not_depend_on_it(m):
    x, t = points(m)
    constant = m.func.linearize(lambda x: m.ones_like(x) * 2, x)[1]
    flat = m.func.linearize(m.func.vjp(lambda x: x * 3, x)[1], x)[1]
    return constant(t), flat(t)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_as_torch(program):
    check(program)


def test_messages():
    x = funtorch.ones(2)
    with pytest.raises(RuntimeError, match="scalar tensor, got tensor with 1 dims"):
        funtorch.func.grad(lambda x: x * 2)(x)
    with pytest.raises(RuntimeError, match="int64"):
        funtorch.func.grad(lambda x: x.sum())(funtorch.arange(2))
    with pytest.raises(RuntimeError, match="argnum=3.*1 positional"):
        funtorch.func.grad(lambda x: x.sum(), argnums=3)(x)
    with pytest.raises(RuntimeError, match=r"\[1\].*\[2\]|\[2\].*\[1\]"):
        funtorch.func.jvp(funtorch.sin, (x,), (x[:1],))


class Affine(funtorch.nn.Module):
    def __init__(self):
        super().__init__()
        self.weight = funtorch.nn.Parameter(funtorch.tensor([2.0, -1.0], dtype=funtorch.float64))
        self.bias = funtorch.nn.Parameter(funtorch.tensor(0.5, dtype=funtorch.float64))
        self.fixed = funtorch.nn.Parameter(funtorch.tensor(1.0, dtype=funtorch.float64), requires_grad=False)
        self.register_buffer("calls", funtorch.zeros(()))

    def forward(self, x):
        self.calls.add_(1)
        return (self.weight * x).sum() + self.bias * self.fixed


def test_a_module_as_the_first_argument():
    module, x = Affine(), funtorch.tensor([3.0, 4.0], dtype=funtorch.float64)
    weight = module.weight
    slopes, value = funtorch.func.grad_and_value(lambda module, x: module(x) ** 2)(module, x)
    assert list(slopes) == ["weight", "bias"] and value.item() == 2.5**2
    assert slopes["weight"].tolist() == [15.0, 20.0] and slopes["bias"].item() == 5.0
    assert module.weight is weight and weight.grad is None and module.calls.item() == 1
    lanes = funtorch.vmap(funtorch.func.grad(lambda module, x: module.weight @ x), in_dims=(None, 0))(
        module, funtorch.stack([x, 2 * x])
    )
    assert lanes["weight"].tolist() == [[3.0, 4.0], [6.0, 8.0]]


def test_jvp_writes_the_primal_outside():
    memory = funtorch.zeros(2)

    def f(x):
        memory.add_(x)
        return memory * x

    x, dot = funtorch.tensor([1.0, 2.0]), funtorch.tensor([1.0, 1.0])
    assert funtorch.func.jvp(f, (x,), (dot,))[1].tolist() == [2.0, 4.0]
    assert memory.tolist() == [1.0, 2.0]


def test_grad_writes_outside_what_an_eager_call_would():
    memory = funtorch.zeros(2)

    def f(x):
        memory.add_(x.detach())
        return (x * x).sum()

    funtorch.func.grad(f)(funtorch.ones(2))
    assert memory.tolist() == [1.0, 1.0] and not memory.requires_grad


def test_chunked_columns():
    x = funtorch.arange(5, dtype=funtorch.float64)
    for k in (1, 2, 7):
        assert funtorch.allclose(funtorch.func.jacfwd(lambda x: x**3, chunk_size=k)(x), funtorch.diag(3 * x**2))


def test_linearize_and_pullbacks_can_be_kept_for_later():
    x = funtorch.tensor([0.3, 0.4], dtype=funtorch.float64)
    _, push = funtorch.func.linearize(lambda x: x**3, x)
    _, pull = funtorch.func.vjp(lambda x: x**3, x)
    x.mul_(100)
    for _ in range(3):
        assert funtorch.allclose(push(funtorch.ones(2, dtype=funtorch.float64)), 3 * (x / 100) ** 2)
        assert funtorch.allclose(pull(funtorch.ones(2, dtype=funtorch.float64))[0], 3 * (x / 100) ** 2)
