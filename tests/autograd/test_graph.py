"""autograd.graph, autograd.forward_ad, autograd.Variable."""

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
def nodes(m):
    x = leaf(m, 1.0, 2.0)
    y = x * 2
    node = y.grad_fn
    return (
        isinstance(node, m.autograd.graph.Node), node.name(), len(node.next_functions) >= 1, node.next_functions[0][0].variable is x,
        y.exp().grad_fn.next_functions[0][0] is node, x.grad_fn, (x + y).grad_fn.name(), y.sum().grad_fn.name(),
    )  # fmt: skip


NAMED = (
    "x.sum() x.sum(0) x.mean(1) x.max() x.max(0)[0] x.median(0)[0] x.clamp(0,1) x.clamp(x,x*2) x**2 x**x 2**x 1-x x-1 x.square() x@x "
    "x@x[0] x[0]@x[0] b@b F.linear(x,x) F.linear(x,x,x[0]) F.linear(b,x) F.linear(b,x,x[0]) F.pad(b,(1,1)) F.pad(b,(1,1),mode='reflect') "
    "F.conv1d(b,b[:,:,:1]) F.layer_norm(x,(4,)) F.cross_entropy(x,x.argmax(1)) F.l1_loss(x,x*2) F.dropout(x) F.max_pool2d(b,2) "
    "F.interpolate(b,2) F.interpolate(b[None],scale_factor=2,mode='bilinear') m.fft.fft(x) m.fft.fft(x+0j) m.linalg.inv(x) "
    "m.linalg.norm(x) x.split(2)[0] x[0] x.t() m.outer(x[0],x[0]) F.selu(x) x.relu()"
).split()


@program
def classes_of_nodes(m):
    x = m.eye(4, dtype=m.float64).add(0.1).requires_grad_()
    scope = {"m": m, "F": m.nn.functional, "x": x, "b": m.stack([x * 1, x * 2, x * 3, x * 4])}
    made = {text: eval(text, scope) for text in NAMED}
    y = x * 2
    assert type(y.grad_fn) is type((x * 3).grad_fn) and y.grad_fn is y.grad_fn
    assert all(type(z.grad_fn).__name__ == z.grad_fn.name() for z in made.values())
    at = y.grad_fn.next_functions[0][0]
    y.grad_fn.metadata["seen"] = 1
    return (
        {text: str(type(z.grad_fn)) for text, z in made.items()}, str(type(at)), repr(at)[:23], at.name(), y.grad_fn.metadata,
        [str(type(node)) for node, _ in (y + x.exp()).grad_fn.next_functions], type(m.autograd.graph.get_gradient_edge(y).node).__name__,
    )  # fmt: skip


@program
def a_graph_that_was_looked_at(m):
    x, found = leaf(m, 1.0, 2.0), []
    for looked in (False, True):
        y = (x.norm() * x).sum() + (x[:1] ** 2).sum()
        todo = [y.grad_fn] if looked else []
        while todo:
            todo += [node for node, _ in todo.pop().next_functions if node is not None]
        (g,) = m.autograd.grad(y, x, create_graph=True)
        found += [g, m.autograd.grad(g.sum(), x)]
    return found


@program
def what_a_function_node_shows(m):
    class Double(m.autograd.Function):
        @staticmethod
        def forward(ctx, x, factor):
            ctx.save_for_backward(x)
            ctx.factor = factor
            return x * factor

        @staticmethod
        def backward(ctx, g):
            return g * ctx.factor, None

    x = leaf(m, 1.0, 2.0)
    node = Double.apply(x, 2.0).grad_fn
    node.metadata["seen"] = 1
    return (
        type(node).__name__, node.name(), node.factor, node.needs_input_grad, node.saved_tensors[0] is x, node.metadata,
        caught(lambda: node.other, 0), [type(n).__name__ for n, _ in node.next_functions],
    )  # fmt: skip


@program
def hooks_of_accumulation(m):
    x, seen = leaf(m, 1.0, 2.0), []
    at = x.expand_as(x).grad_fn.next_functions[0][0]
    after = at.register_hook(lambda gi, go: seen.append(("after", gi, [g.clone() for g in go], x.grad.clone())))
    before = at.register_prehook(lambda go: (go[0] * 10,))
    y = x * 3
    first = y.grad_fn.register_prehook(lambda go: seen.append(("node", [g.clone() for g in go])))
    y.grad_fn.register_prehook(lambda go: (go[0] + 1,))
    y.register_hook(lambda g: seen.append(("tensor", g.clone())))
    y.sum().backward(retain_graph=True)
    for handle in (after, before, first):
        handle.remove()
    y.sum().backward()
    return seen, x.grad


@program
def edges(m):
    graph, x = m.autograd.graph, leaf(m, 1.0, 2.0)
    h = x * x
    edge, at_leaf = graph.get_gradient_edge(h), graph.get_gradient_edge(x)
    y = (h * h).sum()
    found = m.autograd.grad(y, [edge, at_leaf], retain_graph=True)
    del h
    y.backward(inputs=[at_leaf], retain_graph=True)
    return (
        found, x.grad, m.autograd.grad(edge, x, grad_outputs=m.ones(2, dtype=m.float64), retain_graph=True),
        edge.output_nr, caught(lambda: graph.get_gradient_edge(m.ones(1)), 4),
    )  # fmt: skip


@program
def saved_values_through_hooks(m):
    x, seen = leaf(m, 1.0, 2.0), []

    def pack(t):
        seen.append(("pack", t.shape == x.shape))
        return t * 1, "extra"

    def unpack(packed):
        assert packed[1] == "extra"
        seen.append("unpack")
        return packed[0]

    with m.autograd.graph.saved_tensors_hooks(pack, unpack):
        y = x.exp().sin()
    z = (y * x).sum()
    before = len([s for s in seen if s == "unpack"])
    g = m.autograd.grad(z, x, create_graph=True)[0]
    return before, "unpack" in seen, g, m.autograd.grad(g.sum(), x)


@program
def hooks_that_lie_and_hooks_refused(m):
    graph, x = m.autograd.graph, leaf(m, 1.0, 2.0)
    with graph.saved_tensors_hooks(lambda t: t, lambda t: 3):
        y = x.sin()
    with graph.save_on_cpu():
        z = x.exp() * x

    def refused():
        with graph.disable_saved_tensors_hooks("not here"), graph.saved_tensors_hooks(lambda t: t, lambda t: t):
            pass

    return caught(lambda: y.sum().backward(), 0), m.autograd.grad(z.sum(), x), caught(refused)


@program
def duals(m):
    ad = m.autograd.forward_ad
    x, v = m.tensor([0.3, 1.2], dtype=m.float64), m.tensor([1.0, -2.0], dtype=m.float64)
    with ad.dual_level():
        d = ad.make_dual(x, v)
        y = (d.sin() * d).sum()
        value, tangent = ad.unpack_dual(y)
        none = ad.unpack_dual(x).tangent
    after = ad.unpack_dual(y)
    return (
        value, tangent, none, after.primal, after.tangent, y * 2, d,
        caught(lambda: ad.make_dual(x, v), 5), caught(lambda: ad.exit_dual_level(), 0),
    )  # fmt: skip


@program
def duals_misused(m):
    ad, x = m.autograd.forward_ad, m.ones(2)

    def nested():
        with ad.dual_level(), ad.dual_level():
            pass

    with ad.dual_level():
        found = [
            caught(lambda: ad.make_dual(x, m.ones(3)), 4), caught(lambda: ad.make_dual(m.arange(2), m.arange(2)), 0),
        ]  # fmt: skip
    return found, caught(nested, 5)


@program
def gradients_of_duals(m):
    ad = m.autograd.forward_ad
    x, v = leaf(m, 0.3, 1.2), m.tensor([1.0, -2.0], dtype=m.float64)
    with ad.dual_level():
        d = ad.make_dual(x, v)
        y = (d**3).sum()
        (g,) = m.autograd.grad(y, d)
        return ad.unpack_dual(g)[0], ad.unpack_dual(g)[1]


@program
def variables(m):
    x = m.autograd.Variable(m.ones(2), requires_grad=True)
    (x * 3).sum().backward()
    return (
        x.grad,
        isinstance(m.ones(1), m.autograd.Variable),
        isinstance(3, m.autograd.Variable),
        m.autograd.Variable(x).requires_grad,
    )


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_as_torch(program):
    check(program)


def test_public_names_exist():
    modules = [funtorch.autograd, funtorch.autograd.functional, funtorch.autograd.graph, funtorch.autograd.forward_ad]
    for module in modules:
        assert all(hasattr(module, name) for name in module.__all__)
    assert funtorch.autograd.grad_mode.no_grad is funtorch.no_grad
