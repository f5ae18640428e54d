"""autograd.Function in both styles, as torch has it: every feature of ctx, second derivatives, misuse."""

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
def modules_on_ctx(m):
    """Checkpointing and reversible blocks by hand: `backward` runs the module, whose own parameters get the gradients."""

    class Again(m.autograd.Function):
        @staticmethod
        def forward(ctx, run, x):
            ctx.run, ctx.blocks = run, {"all": [run]}
            ctx.save_for_backward(x)
            with m.no_grad():
                return run(x)

        @staticmethod
        def backward(ctx, g):
            (x,) = ctx.saved_tensors
            x = x.detach().requires_grad_()
            with m.enable_grad():
                y = ctx.blocks["all"][0](x)
            m.autograd.backward(y, g)
            return None, x.grad

    class Counted(m.nn.Linear):
        calls = 0

        def forward(self, x):
            self.calls += 1
            return super().forward(x).sigmoid()

    net = Counted(2, 2).double()
    with m.no_grad():
        net.weight.copy_(m.tensor([[0.3, -0.2], [0.5, 0.1]]))
        net.bias.fill_(0.1)
    x = leaf(m, 1.0, 2.0)
    for _ in range(2):
        Again.apply(net, x).sum().backward()
    return net.calls, x.grad, net.weight.grad, net.bias.grad


@program
def containers_on_ctx(m):
    """A list or a dict stays the user's own; what stands in it as a Tensor keeps its values."""

    class Noted(m.autograd.Function):
        @staticmethod
        def forward(ctx, x, log, counts):
            ctx.log, ctx.both, ctx.held = log, (log, counts), [x * 2, {"x": x}]
            return x * x

        @staticmethod
        def backward(ctx, g):
            ctx.log.append(g.sum().item())
            ctx.both[1]["n"] = ctx.both[1].get("n", 0) + 1
            return g * ctx.held[0] + 0 * ctx.held[1]["x"], None, None

    x, log, counts = leaf(m, 1.0, 2.0), [], {}
    for _ in range(3):
        Noted.apply(x, log, counts).sum().backward()
    return x.grad, log, counts


@program
def a_leaf_on_ctx_is_itself(m):
    """Fused gradient accumulation, as large models have it: the gradient goes to an attribute of the saved Parameter."""

    class Fused(m.autograd.Function):
        @staticmethod
        def forward(ctx, x, weight, bias):
            ctx.save_for_backward(x, weight)
            ctx.bias = bias
            return x @ weight.t() + bias

        @staticmethod
        def backward(ctx, g):
            x, weight = ctx.saved_tensors
            found.append((weight is w, ctx.bias is b, isinstance(weight, m.nn.Parameter)))
            weight.main_grad.add_(g.t() @ x)
            return g @ weight, None, None

    found = []
    w, b, x = m.nn.Parameter(leaf(m, 0.5, 2.0).detach()[None]), m.nn.Parameter(leaf(m, 0.1)), leaf(m, 1.0, 2.0)
    w.main_grad = m.zeros(1, 2, dtype=m.float64)
    for _ in range(2):
        Fused.apply(x[None] * 1, w, b).sum().backward()
        with m.no_grad():
            w.sub_(0.1 * w.main_grad)
    return found, w.main_grad, x.grad, w


@program
def attributes_are_the_same_objects(m):
    class Keeps(m.autograd.Function):
        @staticmethod
        def forward(ctx, a, b):
            ctx.things, ctx.table, ctx.b, ctx.made = things, table, b, [a * 2]
            ctx.again = ctx.made
            return a * b

        @staticmethod
        def backward(ctx, g):
            seen.append((ctx.things is things, ctx.table is table, ctx.b is h, ctx.made is ctx.again, ctx.things[1] is h))
            ctx.things.append(len(seen))
            return g * ctx.b + 0 * ctx.made[0], g * ctx.things[0]

    x, constant, seen = leaf(m, 1.0, 2.0), m.ones(2, dtype=m.float64), []
    for _ in range(2):
        h = x * 2
        things, table = [constant, h, (x, {"a": constant})], {"x": x}
        z = Keeps.apply(x, h).sum()
        z.backward()
    return seen, things[3:], x.grad


def test_an_attribute_that_was_written_since_is_as_it_was():
    class Keeps(funtorch.autograd.Function):
        @staticmethod
        def forward(ctx, a):
            ctx.things = things
            return a * 1

        @staticmethod
        def backward(ctx, g):
            return g * ctx.things[0]

    things, x = [funtorch.full((2,), 3.0)], funtorch.ones(2, requires_grad=True)
    z = Keeps.apply(x).sum()
    things[0].zero_()
    z.backward()
    assert x.grad.tolist() == [3.0, 3.0]


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


def test_a_leaf_that_was_written_since_is_given_as_it_was():
    class Times(funtorch.autograd.Function):
        @staticmethod
        def forward(ctx, x, w):
            ctx.save_for_backward(w)
            return x * w

        @staticmethod
        def backward(ctx, g):
            return g * ctx.saved_tensors[0], None

    x, w = funtorch.ones(2, requires_grad=True), funtorch.nn.Parameter(funtorch.full((2,), 3.0))
    y = Times.apply(x, w)
    with funtorch.no_grad():
        w.fill_(100.0)
    y.sum().backward()
    assert x.grad.tolist() == [3.0, 3.0]
