"""autograd.Function in both styles: every feature of ctx, second derivatives, misuse, and every transform."""

import gc
import math
import weakref

import numpy as np
import pytest
from same import caught, check

import funtorch

PROGRAMS = []


def program(fn):
    PROGRAMS.append(fn)
    return fn


def leaf(m, *values):
    return m.tensor(values, dtype=m.float64, requires_grad=True)


@program
def both_styles(m):
    class Old(m.autograd.Function):
        @staticmethod
        def forward(ctx, x, power, scale=1.0):
            ctx.save_for_backward(x)
            ctx.power, ctx.scale = power, scale
            return x**power * scale

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            return g * ctx.power * x ** (ctx.power - 1) * ctx.scale, None, None

    class New(m.autograd.Function):
        @staticmethod
        def forward(x, power, scale):
            return x**power * scale

        @staticmethod
        def setup_context(ctx, inputs, output):
            x, ctx.power, ctx.scale = inputs
            ctx.save_for_backward(x)

        backward = Old.backward

    x = leaf(m, 1.0, 2.0)
    found = []
    for kind in (Old, New):
        y = kind.apply(x, 3, 2.0)
        (g,) = m.autograd.grad(y.sum(), x, create_graph=True)
        found += [
            y,
            y.grad_fn.name(),
            g,
            m.autograd.grad(g.sum(), x),
            m.autograd.gradcheck(lambda x, kind=kind: kind.apply(x, 3, 2.0), x),
        ]
    return found


@program
def saved_result(m):
    class Exp(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x.exp()
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            (y,) = ctx.saved_tensors
            return g * y

    x, found = leaf(m, 0.3, 0.7), []
    y = Exp.apply(x)
    for _ in range(4):
        (y,) = m.autograd.grad(y.sum(), x, create_graph=True)
        found.append(y)
    return found, m.autograd.gradgradcheck(Exp.apply, x)


@program
def several_results(m):
    seen = []

    class Split(m.autograd.Function):
        @staticmethod
        def forward(ctx, x, materialize):
            ctx.set_materialize_grads(materialize)
            whole = (x * 2).to(m.int64)
            ctx.mark_non_differentiable(whole)
            return x.sin(), whole, "text", x.cos()

        @staticmethod
        def backward(ctx, a, b, c, d):
            seen.append([None if g is None else g.clone() for g in (a, b, c, d)])
            return (0 if a is None else a) + (0 if d is None else 2 * d), None

    x, found = leaf(m, 1.0, 2.0), []
    for materialize in (True, False):
        a, whole, text, d = Split.apply(x, materialize)
        found += [whole.requires_grad, whole, text, a.requires_grad, m.autograd.grad(d.sum(), x)]
    return found, [s[0] for s in seen], seen[1][0]


@program
def marked_not_differentiable(m):
    class Sorted(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            values, twice = x.sort()[0], x * 2
            ctx.mark_non_differentiable(twice)
            return values, twice

        @staticmethod
        def backward(ctx, a, b):
            return a * 10 + b

    x = leaf(m, 3.0, 1.0)
    a, b = Sorted.apply(x)
    return a.requires_grad, b.requires_grad, b.is_leaf, m.autograd.grad(a.sum(), x)


@program
def needs_input_grad(m):
    class Product(m.autograd.Function):
        @staticmethod
        def forward(ctx, x, y, z):
            ctx.save_for_backward(x, y)
            return x * y

        @staticmethod
        def backward(ctx, g):
            x, y = ctx.saved_tensors
            seen.append(ctx.needs_input_grad)
            return g * y if ctx.needs_input_grad[0] else None, g * x if ctx.needs_input_grad[1] else None, None

    seen = []
    x, y = leaf(m, 1.0, 2.0), m.tensor([3.0, 4.0], dtype=m.float64)
    Product.apply(x, y, 5).sum().backward()
    return [list(s) for s in seen], x.grad, y.grad


@program
def dirty(m):
    class AddOne(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.add_(1)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 3

    x = leaf(m, 1.0, 2.0)
    h = x * 2
    out = AddOne.apply(h)
    plain = m.zeros(2)
    AddOne.apply(plain)
    return out is h, h, plain, m.autograd.grad((h * h).sum(), x), caught(lambda: AddOne.apply(x), 0)


@program
def dirty_view(m):
    class Double(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            x.mul_(2)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 5

    base = m.ones(3, dtype=m.float64)
    Double.apply(base[1:])
    x = leaf(m, 1.0, 2.0, 3.0)
    h = x * 1
    Double.apply(h[1:])
    return base, h, m.autograd.grad((h * m.arange(3)).sum(), x)


@program
def saved_and_written_by_forward(m):
    class Halve(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            x.mul_(0.5)
            ctx.mark_dirty(x)
            return x

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0]

    x = leaf(m, 4.0)
    return m.autograd.grad(Halve.apply(x * 1), x)


@program
def the_input_itself(m):
    class Same(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            return x

        @staticmethod
        def backward(ctx, g):
            return g * 7

    x = leaf(m, 1.0, 2.0)
    y = Same.apply(x)
    return y, y is x, y.requires_grad, m.autograd.grad(y.sum(), x)


@program
def once(m):
    class Square(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        @m.autograd.function.once_differentiable
        def backward(ctx, g):
            seen.append(m.is_grad_enabled())
            return 2 * g * ctx.saved_tensors[0]

    x, seen = leaf(m, 1.0, 2.0), []
    (first,) = m.autograd.grad(Square.apply(x).sum(), x)
    (g,) = m.autograd.grad(Square.apply(x).sum(), x, create_graph=True)
    return first, g, g.requires_grad, caught(g.sum().backward, 6), seen


@program
def misuse(m):
    class Base(m.autograd.Function):
        gradients = None

        @staticmethod
        def forward(ctx, x, y):
            return x * y

    def of(gradients):
        class Wrong(Base):
            @staticmethod
            def backward(ctx, g):
                return gradients(g)

        return Wrong

    x, y = leaf(m, 1.0, 2.0), m.ones(2, dtype=m.float64)
    run = [
        (lambda g: g, y, 0), (lambda g: (g, None, None), y, 0), (lambda g: (g, None, g), y, 0), (lambda g: (g[:1], None), y, 0),
        (lambda g: (1.0, None), y, 0), (lambda g: (g, 1.0), 3.0, 0), (lambda g: (None, None), y, 3),
    ]  # fmt: skip
    found = [caught(lambda k=k, o=o: of(k).apply(x, o).sum().backward(), n) for k, o, n in run]

    class NoBackward(Base):
        pass

    class BadSave(Base):
        @staticmethod
        def forward(ctx, x, y):
            ctx.save_for_backward(1.0)

    return found, caught(lambda: NoBackward.apply(x, y).sum().backward(), 0), caught(lambda: BadSave.apply(x, y), 4), x.grad


@program
def gradient_of_a_broadcast_shape(m):
    class Sum(m.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, g):
            return g, g

    x, y = leaf(m, 1.0, 2.0), leaf(m, 3.0)
    Sum.apply(x, y).sum().backward()
    return x.grad, y.grad


@program
def the_same_gradient_for_two_leaves(m):
    class Sum(m.autograd.Function):
        @staticmethod
        def forward(ctx, x, y):
            return x + y

        @staticmethod
        def backward(ctx, g):
            return g, g

    x, y = leaf(m, 1.0, 2.0), leaf(m, 3.0, 4.0)
    Sum.apply(x, y).sum().backward()
    (x * 2).sum().backward()
    return x.grad, y.grad


@program
def grad_mode_inside(m):
    class Look(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            seen.append(m.is_grad_enabled())
            return x * 1

        @staticmethod
        def backward(ctx, g):
            seen.append(m.is_grad_enabled())
            return g

    x, seen = leaf(m, 1.0), []
    m.autograd.grad(Look.apply(x), x)
    m.autograd.grad(Look.apply(x), x, create_graph=True)
    with m.no_grad():
        seen.append(Look.apply(x).requires_grad)
    return seen


@program
def containers_pass_through(m):
    class Pick(m.autograd.Function):
        @staticmethod
        def forward(ctx, pair, x):
            return pair[0] * x

        @staticmethod
        def backward(ctx, g):
            return None, g

    x = leaf(m, 1.0, 2.0)
    pair = (leaf(m, 3.0, 4.0), 5)
    y = Pick.apply(pair, x)
    y.sum().backward()
    return y, x.grad, pair[0].grad


@program
def nested_functions(m):
    class Inner(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.sin()

        @staticmethod
        def backward(ctx, g):
            return Outer.apply(ctx.saved_tensors[0]) * g

    class Outer(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x.cos()

        @staticmethod
        def backward(ctx, g):
            return -Inner.apply(ctx.saved_tensors[0]) * g

    x, found = leaf(m, 0.4), []
    y = Inner.apply(x)
    for _ in range(4):
        (y,) = m.autograd.grad(y, x, create_graph=True)
        found.append(y)
    return found


@program
def hooks_see_hooks(m):
    class Twice(m.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * 2

        @staticmethod
        def backward(ctx, g):
            return g * 2 + 0 * ctx.saved_tensors[0]

    x, packed = leaf(m, 1.0, 2.0), []
    with m.autograd.graph.saved_tensors_hooks(lambda t: packed.append(t.clone()) or len(packed) - 1, lambda i: packed[i] * 1):
        y = Twice.apply(x)
        z = y * x
    z.sum().backward()
    return x.grad, len(packed), caught(lambda: z.sum().backward(), 3)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_as_torch(program):
    check(program)


class Scaled(funtorch.autograd.Function):
    """A gradient that is not the derivative: 3 in place of 2, so that a derivative by other means shows."""

    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return 2 * x

    @staticmethod
    def backward(ctx, g):
        return 3 * g


class WithJvp(Scaled):
    @staticmethod
    def jvp(ctx, dot):
        return 5 * dot


func = funtorch.func
WAYS = {
    "grad": (lambda f, x: func.grad(f)(x), 3),
    "vmap grad": (lambda f, x: func.vmap(func.grad(f))(x[None].expand(2, -1))[0], 3),
    "grad vmap": (lambda f, x: func.grad(lambda x: func.vmap(f)(x[None].expand(2, -1)).sum())(x), 6),
    "jacrev": (lambda f, x: func.jacrev(f)(x), 3),
    "vjp": (lambda f, x: func.vjp(f, x)[1](funtorch.ones(()))[0], 3),
    "compiled": (lambda f, x: [funtorch.compile(func.grad(f))(x) for _ in range(3)][-1], 3),
}  # fmt: skip


@pytest.mark.parametrize("way", WAYS)
def test_its_own_gradient_counts_in_every_transform(way):
    run, factor = WAYS[way]
    found = run(lambda x: Scaled.apply(x).sum(), funtorch.ones(2))
    assert found.tolist() == [factor] * 2


@pytest.mark.parametrize(("function", "factor"), [(Scaled, 3), (WithJvp, 5)])
def test_forward_mode_is_the_transpose_or_the_jvp_given(function, factor):
    x, dot = funtorch.ones(2), funtorch.tensor([1.0, -2.0])
    f = function.apply
    assert func.jvp(f, (x,), (dot,))[1].tolist() == [factor, -2 * factor]
    assert func.jacfwd(f)(x).tolist() == [[factor, 0], [0, factor]]
    assert func.vmap(lambda d: func.jvp(f, (x,), (d,))[1])(funtorch.stack([dot, dot]))[1].tolist() == [factor, -2 * factor]
    assert func.jvp(func.vmap(f), (x,), (dot,))[1].tolist() == [factor, -2 * factor]
    with funtorch.no_grad():  # forward mode does not mind
        assert func.jvp(f, (x,), (dot,))[1].tolist() == [factor, -2 * factor]


def test_a_compiled_forward_keeps_the_function_s_own_gradient():
    compiled = funtorch.compile(lambda x: Scaled.apply(x * x).sum())
    for _ in range(4):
        x = funtorch.tensor([1.0, 2.0], requires_grad=True)
        compiled(x).backward()
        assert x.grad.tolist() == [6.0, 12.0]
    assert compiled.counts["compiled"] >= 2


class Kept(funtorch.autograd.Function):
    """x e^x, with e^x kept on ctx in one way or another."""

    way = "attribute"

    @classmethod
    def put(cls, ctx, x, e):
        ctx.save_for_backward(x, *([e] if cls.way == "saved" else []))
        ctx.kept = {"attribute": e, "list": [1, (e,)], "dict": {"e": e}, "saved": None}[cls.way]

    @classmethod
    def get(cls, ctx):
        return {
            "attribute": lambda k: k,
            "list": lambda k: k[1][0],
            "dict": lambda k: k["e"],
            "saved": lambda k: ctx.saved_tensors[1],
        }[cls.way](ctx.kept)

    @staticmethod
    def forward(ctx, x):
        e = x.exp()
        Kept.put(ctx, x, e)
        return x * e

    @staticmethod
    def backward(ctx, g):
        e = Kept.get(ctx)
        return g * (e + ctx.saved_tensors[0] * e)


@pytest.mark.parametrize("way", ["attribute", "list", "dict", "saved"])
def test_higher_derivatives_go_through_what_forward_kept(way, monkeypatch):
    monkeypatch.setattr(Kept, "way", way)
    x = funtorch.tensor(0.5, dtype=funtorch.float64, requires_grad=True)
    y, expected = Kept.apply(x), []
    for order in range(1, 4):
        (y,) = funtorch.autograd.grad(y, x, create_graph=True)
        expected.append((order + 0.5) * math.exp(0.5))
        assert y.item() == pytest.approx(expected[-1])
    lanes = func.vmap(func.grad(func.grad(Kept.apply)))(funtorch.tensor([0.5, 0.5], dtype=funtorch.float64))
    assert lanes.tolist() == pytest.approx([expected[1]] * 2)


def test_random_numbers_that_forward_kept_stay_as_they_are():
    class Drop(funtorch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.mask = (funtorch.rand(4) > 0.5).double()
            ctx.save_for_backward(x)
            return x**3 * ctx.mask

        @staticmethod
        def backward(ctx, g):
            return 3 * ctx.saved_tensors[0] ** 2 * g * ctx.mask

    funtorch.manual_seed(0)
    x = funtorch.ones(4, dtype=funtorch.float64, requires_grad=True)
    y = Drop.apply(x)
    (g,) = funtorch.autograd.grad(y.sum(), x, create_graph=True)
    after = funtorch.rand(1)
    (h,) = funtorch.autograd.grad(g.sum(), x)
    assert h.tolist() == (6 * y.detach()).tolist()
    funtorch.manual_seed(0)
    funtorch.rand(4)
    assert funtorch.rand(1).item() == after.item()


def test_a_saved_value_is_that_of_the_call():
    class Square(funtorch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            ctx.save_for_backward(x)
            return x * x

        @staticmethod
        def backward(ctx, g):
            return 2 * g * ctx.saved_tensors[0]

    x = funtorch.tensor([1.0, 2.0], requires_grad=True)
    h = x * 1
    y = Square.apply(h)
    h.mul_(100)
    assert funtorch.autograd.grad(y.sum(), x)[0].tolist() == [2.0, 4.0]


def test_needs_input_grad_holds_for_outer_levels():
    class Product(funtorch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(x, w)
            return x * w

        @staticmethod
        def backward(ctx, g):
            x, w = ctx.saved_tensors
            return g * w if ctx.needs_input_grad[0] else None, g * x if ctx.needs_input_grad[1] else None

    xs = funtorch.tensor([[1.0, 2.0], [3.0, 4.0]])
    g = func.grad(lambda w: func.vmap(lambda x: Product.apply(x, w).sum())(xs).sum())(funtorch.ones(2))
    assert g.tolist() == [4.0, 6.0]


def test_inputs_and_results_are_not_kept_alive():
    class Linear(funtorch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            y = x * 2
            ctx.save_for_backward(y)
            return y

        @staticmethod
        def backward(ctx, g):
            return 2 * g + 0 * ctx.saved_tensors[0]

    gc.collect()
    gc.disable()
    try:
        x = funtorch.ones(3, requires_grad=True)
        h = x * 1
        y = Linear.apply(h)
        node, given = weakref.ref(y.grad_fn), weakref.ref(h)
        del h
        assert given() is None, "the argument outlives its name though nothing saved it"
        del y
        assert node() is None, "a node that saves its own result is a cycle"
    finally:
        gc.enable()


def test_forward_sees_lanes():
    class Shape(funtorch.autograd.Function):
        @staticmethod
        def forward(ctx, x):
            assert tuple(x.shape) == (3,)
            return x.sum()

        @staticmethod
        def backward(ctx, g):
            return g.expand(3)

    out = func.vmap(func.grad(Shape.apply))(funtorch.zeros(2, 3))
    np.testing.assert_array_equal(out.numpy(), np.ones((2, 3)))
