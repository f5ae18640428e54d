"""autograd.Function under transforms and compile, and what it keeps of its inputs and results."""

import gc
import math
import weakref

import numpy as np
import pytest

import funtorch


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
