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
