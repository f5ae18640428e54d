"""backward and grad: what they accumulate, keep, free and refuse, as torch does."""

import gc
import weakref
from collections import OrderedDict

import pytest
from same import caught, check

import funtorch

PROGRAMS = []


def program(fn):
    PROGRAMS.append(fn)
    return fn


def leaf(m, *values):
    return m.tensor(values if len(values) > 1 else values[0], dtype=m.float64, requires_grad=True)


@program
def accumulates(m):
    x = leaf(m, 1.0, 2.0)
    (x * x).sum().backward()
    first = x.grad
    (x * x * x).sum().backward()
    return x.grad, first, x.grad is first


@program
def grad_changed_in_place_by_accumulation(m):
    x = leaf(m, 1.0, 2.0)
    x.grad = given = m.ones(2, dtype=m.float64)
    (3 * x).sum().backward()
    return given, x.grad is given


@program
def accumulates_with_create_graph(m):
    x = leaf(m, 1.0, 2.0)
    (x**3).sum().backward(create_graph=True)
    first = x.grad
    (x**3).sum().backward(create_graph=True)
    return x.grad is first, x.grad, first, x.grad.requires_grad, m.autograd.grad(x.grad.sum(), x)


@program
def create_graph_then_penalty(m):
    x = leaf(m, 1.0, 2.0)
    (x**3).sum().backward(create_graph=True)
    g = x.grad
    x.grad = None
    (g**2).sum().backward()
    return x.grad


@program
def second_walk(m):
    x = leaf(m, 1.0, 2.0)
    y = (x * x).sum()
    y.backward()
    return caught(y.backward)


@program
def second_walk_of_what_saves_nothing(m):
    x = leaf(m, 1.0, 2.0)
    y = (x + 2).sum()
    y.backward()
    y.backward()
    return x.grad


@program
def retained(m):
    x = leaf(m, 1.0, 2.0)
    y = (x * x).sum()
    y.backward(retain_graph=True)
    y.backward()
    return x.grad, caught(y.backward)


@program
def shared_part_freed(m):
    x = leaf(m, 1.0, 2.0)
    h = x.exp()
    a, b = (h * 2).sum(), (h * h).sum()
    a.backward()
    return caught(b.backward)


@program
def grad_frees(m):
    x = leaf(m, 1.0, 2.0)
    y = x.exp().sum()
    first = m.autograd.grad(y, x)
    return first, caught(lambda: m.autograd.grad(y, x)), x.grad


@program
def not_scalar(m):
    x = leaf(m, 1.0, 2.0)
    return caught((x * 2).backward), caught(lambda: m.autograd.grad(x * 2, x))


@program
def with_cotangent(m):
    x = leaf(m, 1.0, 2.0)
    (x * x).backward(m.tensor([1.0, -1.0], dtype=m.float64))
    return (
        x.grad,
        caught(lambda: (x * x).backward(m.ones(3, dtype=m.float64)), 3),
        caught(lambda: (x * x).backward([1.0, 2.0]), 0),
    )


@program
def nothing_required(m):
    x = m.ones(2)
    return caught(x.sum().backward), caught(lambda: m.autograd.grad(x.sum(), x))


@program
def input_not_required(m):
    x, y = leaf(m, 1.0), m.tensor(2.0)
    return caught(lambda: m.autograd.grad(x * y, y))


@program
def unused(m):
    x, y = leaf(m, 1.0), leaf(m, 2.0)
    return (
        caught(lambda: m.autograd.grad(x * 2, [x, y])),
        m.autograd.grad(x * 2, [x, y], allow_unused=True),
        m.autograd.grad(x * 2, [x, y], materialize_grads=True),
        caught(lambda: m.autograd.grad(x * 2, [x, y], materialize_grads=True, allow_unused=False), 3),
    )


@program
def no_inputs(m):
    x = leaf(m, 1.0)
    return caught(lambda: m.autograd.grad(x * 2, []), 4), caught(lambda: (x * 2).backward(inputs=[]), 4)


@program
def several_roots(m):
    x, y = leaf(m, 1.0, 2.0), leaf(m, 3.0)
    m.autograd.backward([(x * y).sum(), x * y], [None, m.tensor([1.0, 2.0], dtype=m.float64)])
    return x.grad, y.grad, m.autograd.grad([x.sum() * y, y * y], [x, y])


@program
def the_same_root_twice(m):
    x = leaf(m, 1.0, 2.0)
    y = (x * x).sum()
    return m.autograd.grad([y, y], x)


@program
def root_is_the_input(m):
    x = leaf(m, 1.0)
    y = x * 2
    return m.autograd.grad(x, x), m.autograd.grad(y, y), m.autograd.grad(y, [y, x])


@program
def backward_of_a_leaf(m):
    x = leaf(m, 1.0)
    x.backward()
    return x.grad


@program
def only_some_inputs(m):
    x, y = leaf(m, 1.0, 2.0), leaf(m, 3.0, 4.0)
    h = x * y
    (h * h).sum().backward(inputs=[x])
    return x.grad, y.grad, h.grad


@program
def inputs_in_the_middle(m):
    x = leaf(m, 1.0, 2.0)
    h = x * 3
    (h * h).sum().backward(inputs=[h])
    return h.grad, x.grad


@program
def batched_cotangents(m):
    x, y = leaf(m, 1.0, 2.0), leaf(m, 3.0, 4.0)
    rows = m.eye(2, dtype=m.float64)
    return (
        m.autograd.grad(x**2 * y, [x, y], rows, is_grads_batched=True),
        m.autograd.grad(x**2, [x, y], rows, is_grads_batched=True, allow_unused=True),
        m.autograd.grad(x**2, [x, y], rows, is_grads_batched=True, materialize_grads=True)[0],
    )


@program
def diamonds(m):
    x = leaf(m, 0.5)
    y = x
    for _ in range(6):
        y = y * y.sin() + y
    return m.autograd.grad(y, x)


@program
def two_outputs_one_used(m):
    x = leaf(m, 3.0, 1.0, 2.0)
    values, places = x.sort()
    top, _ = x.topk(2)
    a, b, c = x.unbind()
    (values * m.arange(3)).sum().backward()
    return x.grad, places, m.autograd.grad(top[0] * b, x), places.requires_grad


@program
def accumulates_in_a_dtype(m):
    x = m.ones(2, dtype=m.float32, requires_grad=True)
    (x.double() * 2).sum().backward()
    (x.to(m.float32) * 3).sum().backward()
    return x.grad


@program
def assigned_grads(m):
    x = leaf(m, 1.0, 2.0)

    def put(value):
        x.grad = value

    return (
        caught(lambda: put(m.ones(3, dtype=m.float64)), 3), caught(lambda: put(1.0), 3),
        caught(lambda: put(m.ones(2)), 0), put(m.ones(2, dtype=m.float64)), x.grad,
    )  # fmt: skip


@program
def complex_gradients(m):
    z = m.tensor([1 + 2j, 0.5 - 1j], dtype=m.complex128, requires_grad=True)
    out = (z * z.conj()).real.sum() + (z**2).imag.sum() + z.abs().sum()
    (g,) = m.autograd.grad(out, z, create_graph=True)
    return g, m.autograd.grad((g * g.conj()).real.sum(), z), caught(lambda: (z * 1).sum().backward(), 4)


@program
def integers(m):
    x = m.arange(3)
    return caught(lambda: x.requires_grad_(), 4), caught(lambda: m.tensor([1], requires_grad=True), 0)


@program
def third_order(m):
    x = leaf(m, 0.7)
    y = x.sin() * x.exp()
    orders = []
    for _ in range(4):
        (y,) = m.autograd.grad(y, x, create_graph=True)
        orders.append(y)
    return orders


@program
def long_chain(m):
    x = leaf(m, 0.1)
    y = x
    for _ in range(3000):
        y = y + 1e-4 * x
    y.backward()
    return x.grad


@program
def anything_that_gives_tensors_one_after_another(m):
    """A module's ``parameters()``, a dict's values, a set, an iterator: what meta-learning scripts hand to `grad`."""
    weights = m.nn.ParameterDict({"a": m.nn.Parameter(leaf(m, 2.0)), "b": m.nn.Parameter(leaf(m, 3.0))})
    ways = (weights.parameters, weights.values, lambda: iter([weights["a"], weights["b"]]), lambda: {weights["b"]})
    found = []
    for way in ways:
        a, b = weights["a"], weights["b"]
        found.append(m.autograd.grad(a * b, way()))
        found.append(m.autograd.grad(iter([a * b, a]), way(), iter([m.ones_like(a), None]), allow_unused=True))
        (a * b * b).backward(inputs=way())
        m.autograd.backward(iter([a * a, b]), iter([None, m.ones_like(b)]))
        found.append([a.grad, b.grad])
    return found


@program
def what_is_no_sequence_of_tensors(m):
    x = leaf(m, 2.0)
    wrong = [3, None, ["a"], [None], [x, 1.0], iter(())]
    asked = [caught(lambda w=w: m.autograd.grad(x * x, w), 6) for w in wrong]
    written = [caught(lambda w=w: (x * x).backward(inputs=w), 6) for w in wrong[:1] + wrong[2:]]
    return asked, written, x.grad, caught(lambda: m.autograd.backward(3), 4)


@program
def dicts_of_tensors(m):
    a, b = leaf(m, 2.0), leaf(m, 3.0)
    named, y = {"a": a, "b": b}, a * b * b
    slopes = m.autograd.grad(y, named, create_graph=True)
    curves = m.autograd.grad(slopes["b"], named, retain_graph=True, allow_unused=True, materialize_grads=True)
    lanes = m.autograd.grad(slopes["b"], named, m.eye(2, dtype=m.float64)[0], is_grads_batched=True)
    (a * b * b).backward(inputs={"b": b})
    other = OrderedDict(named)
    refused = [caught(lambda: m.autograd.grad(a * b, other), 8), caught(lambda: (a * b).backward(inputs=other), 8)]
    return type(slopes) is dict, slopes, curves, lanes, a.grad, b.grad, refused, caught(lambda: m.autograd.grad(a * b, {}), 6)


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_as_torch(program):
    check(program)


def test_the_graph_goes_away_without_the_collector():
    gc.collect()
    gc.disable()
    try:
        x = funtorch.ones(3, requires_grad=True)
        h = (x * x).exp()
        node, (g,) = weakref.ref(h.grad_fn), funtorch.autograd.grad(h.sum(), x, create_graph=True)
        slope = weakref.ref(g.grad_fn)
        del h, g
        assert node() is None and slope() is None
    finally:
        gc.enable()


def test_a_structure_that_comes_back_gives_the_same_gradients():
    x = funtorch.tensor([0.3, 0.4], dtype=funtorch.float64, requires_grad=True)
    found = []
    for _ in range(4):  # the first walk runs node by node, later ones as one program
        x.grad = None
        ((x.sin() * x).sum() + x.prod()).backward()
        found.append(x.grad.tolist())
    assert all(abs(a - b) < 1e-15 for row in found for a, b in zip(row, found[0], strict=True))
