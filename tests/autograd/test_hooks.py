"""Hooks on leaves, on results, on nodes, after accumulation; retain_grad."""

import pytest
from same import caught, check

PROGRAMS = []


def program(fn):
    PROGRAMS.append(fn)
    return fn


def leaf(m, *values):
    return m.tensor(values, dtype=m.float64, requires_grad=True)


@program
def on_a_leaf(m):
    x, seen = leaf(m, 1.0, 2.0), []
    x.register_hook(lambda g: seen.append(g.clone()))
    handle = x.register_hook(lambda g: g * 10)
    (x * x).sum().backward()
    handle.remove()
    (x * x).sum().backward()
    return x.grad, seen


@program
def on_a_leaf_with_grad(m):
    x = leaf(m, 1.0, 2.0)
    x.register_hook(lambda g: g * 10)
    return m.autograd.grad((x * x).sum(), x)


@program
def on_a_result(m):
    x, seen = leaf(m, 1.0, 2.0), []
    h = x * 3
    handle = h.register_hook(lambda g: seen.append(g))
    h.register_hook(lambda g: g + 1)
    y = (h * h).sum()
    y.backward(retain_graph=True)
    handle.remove()
    y.backward()
    return x.grad, seen


@program
def order_of_hooks(m):
    x, order = leaf(m, 1.0), []
    h = x * 3
    h.register_hook(lambda g: order.append("first"))
    h.register_hook(lambda g: order.append("second"))
    x.register_hook(lambda g: order.append("leaf"))
    x.register_post_accumulate_grad_hook(lambda p: order.append(("after", p.grad.clone())))
    (h * h).sum().backward()
    return order


@program
def after_accumulation(m):
    x, seen = leaf(m, 1.0, 2.0), []

    def step(p):
        seen.append(p.grad.clone())
        with m.no_grad():
            p.sub_(p.grad * 0.1)
        p.grad = None

    handle = x.register_post_accumulate_grad_hook(step)
    (x * x).sum().backward()
    (x * x).sum().backward()
    handle.remove()
    return x, x.grad, seen, caught(lambda: (x * 2).register_post_accumulate_grad_hook(step), 4)


@program
def retained_gradients(m):
    x = leaf(m, 1.0, 2.0)
    h = x * 3
    h.retain_grad()
    h.retain_grad()
    y = (h * h).sum()
    y.backward(retain_graph=True)
    first = h.grad.clone()
    y.backward()
    return first, h.grad, x.grad, h.retains_grad, x.retains_grad


@program
def retained_sees_what_hooks_change(m):
    x = leaf(m, 1.0, 2.0)
    h = x * 3
    h.retain_grad()
    h.register_hook(lambda g: g * 2)
    h.sum().backward()
    return h.grad, x.grad


@program
def retain_grad_needs_a_gradient(m):
    return caught(m.ones(1).retain_grad, 2), caught(lambda: m.ones(1).register_hook(print), 4)


@program
def on_a_node(m):
    x, seen = leaf(m, 1.0, 2.0), []
    h = x * 3
    h.grad_fn.register_hook(lambda gin, gout: seen.append((gin[0], gout[0])))
    h.grad_fn.register_hook(lambda gin, gout: (gin[0] * 2, *gin[1:]))
    (h * h).sum().backward()
    return x.grad, seen


@program
def hook_in_the_graph_of_a_gradient(m):
    x = leaf(m, 1.0, 2.0)
    h = x * x
    h.register_hook(lambda g: g * g)
    (g,) = m.autograd.grad((h * h).sum(), x, create_graph=True)
    return g, m.autograd.grad(g.sum(), x)


@program
def a_hook_may_not_change_the_shape(m):
    x = leaf(m, 1.0, 2.0)
    h = x * 3
    h.register_hook(lambda g: g.sum())
    return caught(h.sum().backward, 0)


@program
def what_a_hook_returns_is_a_gradient_like_the_one_it_got(m):
    found = []
    wrong = (lambda g: g[:1], lambda g: g.float(), lambda g: 3, lambda g: g.reshape(1, 2), lambda g: g.sum())
    for hook in wrong:
        for on_leaf in (True, False):
            x = leaf(m, 1.0, 2.0)
            h = x.tanh()
            (x if on_leaf else h).register_hook(hook)
            found.append(caught((h * 2).sum().backward, 40))
            assert x.grad is None
    for hook in (lambda gin, gout: (gin[0][:1],), lambda gin, gout: (gin[0], gin[0]), lambda gin, gout: (gin[0].float(),)):
        x = leaf(m, 1.0, 2.0)
        h = x.tanh()
        h.grad_fn.register_hook(hook)
        found.append(caught(h.sum().backward, 40))
    return found


@program
def an_exception_in_a_hook_passes_through(m):
    x = leaf(m, 1.0, 2.0)

    def refuse(g):
        raise KeyError("no")

    handle = x.register_hook(refuse)
    first = caught((x * x).sum().backward)
    handle.remove()
    (x * x).sum().backward()
    return first, x.grad


@program
def several_gradients(m):
    x, y, z, seen = leaf(m, 1.0), leaf(m, 2.0), leaf(m, 3.0), []
    register = m.autograd.graph.register_multi_grad_hook
    handle = register((x, y, z), lambda gs: seen.append(list(gs)))
    any_of = register((x, y), lambda g: seen.append("any"), mode="any")
    (x * y).sum().backward()
    any_of.remove()
    (x * y * z).sum().backward()
    handle.remove()
    (x * y * z).sum().backward()
    return seen, caught(lambda: register((x,), print, mode="some"), 0)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_as_torch(program):
    check(program)
