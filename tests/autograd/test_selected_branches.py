"""Elements that `where`, a mask or an index leaves out get gradient 0, whatever the derivative there; other zeros change nothing."""

import math
import random

import numpy as np
import pytest

import funtorch
from funtorch import func, transforms
from funtorch.core import backward as walks
from funtorch.core.selected import Traits
from funtorch.utils.checkpoint import checkpoint

INF, NAN = math.inf, math.nan
T = funtorch.tensor


def log(x):
    return funtorch.log(x)


def written(write):
    def f(x):
        y = log(x)
        write(x, y)
        return y

    return f


def _set(index, value=0.0):
    return written(lambda x, y: y.__setitem__(index(x) if callable(index) else index, value))


TAKEN = (
    [0.0, 2.0],
    [0, 0.5],
    [0, -0.25],
)  # a point, and the gradient and second derivatives of log where its last element is taken
# By name: a function, a point, the gradient of its sum, and the second derivatives (each element by itself).
CASES = {
    "root of negatives": (lambda x: funtorch.where(x > 0, x.sqrt(), x), [-2.0, 4.0], [1, 0.25], [0, -1 / 32]),
    "root at 0": (lambda x: funtorch.where(x > 0, x.sqrt(), 0.0), [0.0, 4.0], [0, 0.25], [0, -1 / 32]),
    "overflow": (lambda x: funtorch.where(x <= 0, x.exp(), 1 + x), [200.0, 0.0], [1, 1], [0, 1]),
    "division": (lambda x: funtorch.where(x != 0, 1 / x, 0.0), [0.0, 2.0], [0, -0.25], [0, 0.25]),
    "power": (lambda x: funtorch.where(x > 0, x**1.5, 0.0), [0.0, 4.0], [0, 3], [0, 0.375]),
    "entropy": (lambda x: funtorch.where(x > 0, x * log(x), 0.0), [0.0, 1.0], [0, 1], [0, 1]),
    "chain": (lambda x: funtorch.where(x > 0, log(x.sqrt()), 0.0), [0.0, 4.0], [0, 0.125], [0, -1 / 32]),
    "where in where": (
        lambda x: funtorch.where(x > 0, funtorch.where(x > 1, log(x - 1), x.sqrt()), 0.0),
        [0.0, 0.25, 2.0], [0, 1, 1], [0, -2, -1],
    ),
    "mask, mean": (lambda x: 2 * log(x).masked_fill(x <= 0, 0.0).mean(), *TAKEN),
    "masked_select": (lambda x: log(x).masked_select(x > 0), *TAKEN),
    "masked_scatter": (lambda x: log(x).masked_scatter(x <= 0, T([1.0, 1.0])), *TAKEN),
    "x[mask]": (lambda x: log(x)[T([False, True])], *TAKEN),
    "x[1:]": (lambda x: log(x)[1:], *TAKEN),
    "x[1]": (lambda x: log(x)[1], *TAKEN),
    "x[-1], negative step": (lambda x: log(x).flip(0)[::2], *TAKEN),
    "x[list]": (lambda x: log(x)[[1]], *TAKEN),
    "x[mask] = 0": (_set(lambda x: x <= 0), *TAKEN),
    "x[:1] = 0": (_set(slice(0, 1)), *TAKEN),
    "x[::2] = 0": (_set(slice(None, None, 2)), *TAKEN),
    "x[list] = 0": (_set([0]), *TAKEN),
    "masked_fill_": (written(lambda x, y: y.masked_fill_(x <= 0, 0.0)), *TAKEN),
    "index_select": (lambda x: log(x).index_select(0, T([1])), *TAKEN),
    "index_fill": (lambda x: log(x).index_fill(0, T([0]), 1.0), *TAKEN),
    "index_copy": (lambda x: log(x).index_copy(0, T([0]), T([1.0])), *TAKEN),
    "scatter": (lambda x: log(x).scatter(0, T([0]), 1.0), *TAKEN),
    "gather": (lambda x: log(x).gather(0, T([1])), *TAKEN),
    "take": (lambda x: log(x).take(T([1])), *TAKEN),
    "narrow": (lambda x: log(x).narrow(0, 1, 1), *TAKEN),
    "split": (lambda x: log(x).split(1)[1], *TAKEN),
    "unbind": (lambda x: log(x).unbind()[1], *TAKEN),
    "topk": (lambda x: log(x).topk(1)[0], *TAKEN),
    "tril": (lambda x: log(x).reshape(2, 2).tril(), [1.0, 0.0, 2.0, 4.0], [1, 0, 0.5, 0.25], [-1, 0, -0.25, -1 / 16]),
    "diagonal": (lambda x: log(x).reshape(2, 2).diagonal(), [1.0, 0.0, 0.0, 4.0], [1, 0, 0, 0.25], [-1, 0, 0, -1 / 16]),
    "nan_to_num": (lambda x: log(x).nan_to_num(), [-1.0, 2.0], [0, 0.5], [0, -0.25]),
    "nansum": (lambda x: log(x).nansum(), [-1.0, 2.0], [0, 0.5], [0, -0.25]),
    "moved about": (lambda x: funtorch.stack([log(x), log(x)]).roll(1, 1).t()[:1].reshape(1, 2, 1), [0.0, 2.0], [0, 1], [0, -0.5]),
    "joined": (lambda x: funtorch.cat([log(x)[1:], log(x)[1:]]), [0.0, 2.0], [0, 1], [0, -0.5]),
    "sums of rows": (lambda x: log(x).reshape(2, 2).sum(1)[1:], [0.0, 0.0, 2.0, 4.0], [0, 0, 0.5, 0.25], [0, 0, -0.25, -1 / 16]),
    "rows of a product": (lambda x: (x.reshape(2, 2) @ T([[1.0], [2.0]]))[1:], [NAN, 0.0, 2.0, 4.0], [0, 0, 1, 2], [0] * 4),
    "weights of a product": (lambda x: (T([[NAN, 0.0], [1.0, 2.0]]) @ x.reshape(2, 1))[1:], [3.0, 4.0], [1, 2], [0, 0]),
    "normalised rows": (lambda x: x.reshape(2, 2).softmax(1)[1:, :1], [NAN, 0.0, 0.0, 0.0], [0, 0, 0.25, -0.25], None),
    "wide condition": (lambda x: funtorch.where(T([[True, False]] * 2), log(x), 0.0), [2.0, 0.0], [1, 0], [-0.5, 0]),
    "condition of rows": (lambda x: funtorch.where(T([[True], [False]]), log(x), 0.0), [2.0, 4.0], [0.5, 0.25], [-0.25, -1 / 16]),
    "divisor for all": (lambda x: (T([NAN, 3.0]) / x)[1:], [2.0], [-0.75], [0.75]),
    "two broadcast": (
        lambda x: funtorch.where(T([[True, True], [True, False]]), x[:, None] ** T([1.0, 0.5]), 0.0),
        [4.0, -1.0], [1.25, 1], [-1 / 32, 0],
    ),
    "other types": (lambda x: funtorch.where(x > 0, log(x).double(), 0.0).float(), *TAKEN),
    "complex": (lambda x: funtorch.where(x > 0, funtorch.complex(log(x), x), 0j).real, *TAKEN),
    "condition of one": (lambda x: funtorch.where(x.sum() > 9, 1 / (x - x).sum(), x.sum()), [1.0, 2.0], [1, 1], [0, 0]),
    "also elsewhere": (lambda x: funtorch.where(x > 0, x.sqrt(), 0.0) + (x + 1).sqrt(), [0.0, 3.0], [0.5, math.sqrt(1 / 12) + 0.25], None),
    # Zeros of other kinds, and elements that are taken.
    "root, squared": (lambda x: x.sqrt() ** 2, [0.0, 4.0], [NAN, 1], None),
    "root, squared, of which one is taken": (lambda x: (x.sqrt() ** 2)[:1], [0.0, 4.0], [NAN, 0], None),
    "0 times a root": (lambda x: 0 * x.sqrt(), [0.0, 4.0], [NAN, 0], None),
    "x log x": (lambda x: x * log(x), [0.0, 1.0], [NAN, 1], None),
    "a root that is taken": (lambda x: funtorch.where(x >= 0, x.sqrt(), 0.0) ** 2, [0.0, 4.0], [NAN, 1], None),
    "unmasked elsewhere": (lambda x: funtorch.where(x > 0, x.sqrt(), 0.0) + x.sqrt(), [0.0, 4.0], [INF, 0.5], None),
    "factor of 0": (lambda x: (x > 0).float() * log(x), [0.0, 2.0], [NAN, 0.5], None),
    "relu": (lambda x: x.sqrt().relu(), [0.0, 4.0], [NAN, 0.25], None),
}  # fmt: skip
SOME = (
    "root of negatives",
    "chain",
    "where in where",
    "x[1:]",
    "x[list]",
    "sums of rows",
    "two broadcast",
    "a root that is taken",
)


def same(got, expected):
    np.testing.assert_allclose(np.asarray(got, float), np.asarray(expected, float), rtol=1e-5, atol=1e-6)


def variable(point):
    return T(point, requires_grad=True)


def summed(f):
    return lambda x: f(x).sum()


@pytest.mark.parametrize("name", CASES)
def test_gradient_and_second_derivatives(name):
    f, point, first, second = CASES[name]
    for _ in range(3):  # the structure is new, then known, then one program
        x = variable(point)
        f(x).sum().backward()
        same(x.grad, first)
    x = variable(point)
    (g,) = funtorch.autograd.grad(f(x).sum(), x, create_graph=True)
    same(g.detach(), first)
    if second is not None and g.requires_grad:
        (found,) = funtorch.autograd.grad(g.sum(), x, allow_unused=True)
        same(funtorch.zeros_like(x) if found is None else found, second)


@pytest.mark.parametrize("name", SOME)
def test_transforms(name):
    f, point, first, second = CASES[name]
    f, x = summed(f), T(point)
    same(func.grad(f)(x), first)
    same(func.jacrev(f)(x), first)
    same(func.vmap(func.grad(f))(funtorch.stack([x, x])), [first, first])
    same(func.grad(lambda x: func.vmap(f)(x).sum())(funtorch.stack([x, x])), [first, first])
    if second is not None:
        same(func.hessian(f)(x).diagonal(), second)
        same(func.jacrev(func.jacrev(f))(x).diagonal(), second)
        same(func.vmap(lambda x: func.hessian(f)(x).diagonal())(funtorch.stack([x, x])), [second, second])
        same([func.jvp(f, (x,), (row,))[1].item() for row in funtorch.eye(len(point))], first)


@pytest.mark.parametrize("name", SOME)
@pytest.mark.parametrize("mode", ["host", "kernel"])
def test_engines(name, mode):
    f, point, first, _ = CASES[name]
    with funtorch.set_engine(mode):
        for _ in range(2):
            x = variable(point)
            f(x).sum().backward()
            same(x.grad, first)


@pytest.mark.parametrize("name", ["chain", "x[1:]", "a root that is taken"])
def test_compiled(name):
    f, point, first, second = CASES[name]

    @funtorch.compile
    def step(x):
        x = x.detach().requires_grad_()
        f(x).sum().backward()
        return x.grad

    forward = funtorch.compile(summed(f))
    for _ in range(4):
        same(step(T(point)), first)
        x = variable(point)
        (g,) = funtorch.autograd.grad(forward(x), x, create_graph=True)
        same(g.detach(), first)
        if second is not None:
            same(funtorch.autograd.grad(g.sum(), x)[0], second)
    if name == "chain":
        same(func.grad(transforms.jit(summed(f)))(T(point)), first)


def test_hooks_see_zeros_and_may_change_them():
    seen = []
    x = variable([0.0, 2.0])
    y = x * 1
    y.retain_grad()
    z = log(y)
    z.register_hook(lambda g: seen.append(g.tolist()))
    funtorch.where(x > 0, z, 0.0).sum().backward()
    assert seen == [[0.0, 1.0]] and y.grad.tolist() == x.grad.tolist() == [0.0, 0.5]

    x = variable([0.0, 2.0])
    z = log(x)
    z.register_hook(lambda g: g + 1)  # what a hook puts there is no longer what was selected out
    funtorch.where(x > 0, z, 0.0).sum().backward()
    assert x.grad.tolist() == [INF, 1.0]


def test_gradients_of_both_operands_and_of_what_is_between():
    x, y = variable([1.0, 0.0, 3.0]), variable([0.0, 0.0, 2.0])
    z = x / y
    x_grad, y_grad, z_grad = funtorch.autograd.grad(funtorch.where(y != 0, z, x).sum(), [x, y, z])
    same(x_grad, [1, 1, 0.5])
    same(y_grad, [0, 0, -0.75])
    same(z_grad, [0, 0, 1])


def test_shared_parts_count_where_one_consumer_takes_them():
    x = variable([0.0, 1.0, 4.0])
    root = x.sqrt()
    (funtorch.where(x > 1, root, 0.0) + funtorch.where(x == 1, root, 0.0)).sum().backward()
    same(x.grad, [0, 0.5, 0.25])
    x = variable([0.0, 1.0, 4.0])
    root = x.sqrt()
    (root[1:].sum() + (0 * root).sum()).backward()
    same(x.grad, [NAN, 0.5, 0.25])


def test_gradients_add_to_those_that_are_there():
    x = variable([0.0, 2.0])
    for _ in range(3):
        funtorch.where(x > 0, log(x), 0.0).sum().backward()
    same(x.grad, [0, 1.5])


@pytest.mark.parametrize("reentrant", [False, True])
def test_checkpoints(reentrant):
    x = variable([0.0, 2.0])
    funtorch.where(x > 0, checkpoint(log, x, use_reentrant=reentrant), 0.0).sum().backward()
    same(x.grad, [0, 0.5])
    x = variable([0.0, 2.0])
    checkpoint(CASES["chain"][0], x, use_reentrant=reentrant).sum().backward()
    same(x.grad, [0, 0.25])


def test_within_loops_and_branches():
    def of_scan(x):
        def step(carry, each):
            return carry * funtorch.where(each > 0, each.sqrt(), 1.0) + x.sum(), carry * funtorch.where(each > 0, log(each), 0.0)

        last, made = transforms.scan(step, T(1.0), x)
        return last + made.sum()

    def by_hand(x):
        carry, total = T(1.0), T(0.0)
        for each in x:
            safe = funtorch.where(each > 0, each, 1.0)
            total = total + carry * log(safe)
            carry = carry * safe.sqrt() + x.sum()
        return carry + total

    def of_while(x):
        return transforms.while_loop(
            lambda i, c: i < 2, lambda i, c: (i + 1, c + CASES["chain"][0](x)), (T(0), 0 * x), max_steps=3
        )[1].sum()

    def of_cond(x):
        return transforms.cond(x.sum() > 0, CASES["chain"][0], lambda x: x, (x,)).sum()

    def derivatives(f, point):
        x = variable(point)
        (g,) = funtorch.autograd.grad(f(x), x, create_graph=True)
        return g.detach(), funtorch.autograd.grad(g.sum(), x)[0]

    _, point, first, second = CASES["chain"]
    for got, expected in zip(derivatives(of_scan, [0.0, 2.0, 3.0]), derivatives(by_hand, [0.0, 2.0, 3.0]), strict=True):
        same(got, expected)
    for got, once in zip(derivatives(of_cond, point), (first, second), strict=True):
        same(got, once)
    for got, once in zip(derivatives(of_while, point), (first, second), strict=True):
        same(got, 2 * np.array(once))


UNARY = {
    "sqrt": lambda x: x.sqrt(), "log": log, "reciprocal": lambda x: 1 / x, "rsqrt": lambda x: x.rsqrt(), "asin": lambda x: x.asin(),
    "power": lambda x: x**0.3, "log1p": lambda x: (x - 1).log1p(), "exp": lambda x: (1 / x).exp(), "atanh": lambda x: x.atanh(),
    "lgamma": lambda x: x.lgamma(), "sin": lambda x: (1 / x).sin(), "xlogy": lambda x: funtorch.xlogy(x, x),
}  # fmt: skip
MOVES = (lambda x: x, lambda x: x.t().contiguous().t(), lambda x: -x.flip(0).flip(0), lambda x: x + 0 * funtorch.ones(2, 1, 1)[0])


@pytest.mark.parametrize("seed", range(12))
def test_as_with_safe_values_put_in(seed):
    # The usual remedy, a harmless value put in before the function, is the reference.
    draw = random.Random(seed)
    first, second = (UNARY[draw.choice(list(UNARY))] for _ in range(2))
    move = draw.choice(MOVES)
    values = np.array([draw.choice([0.0, -3.0, 0.25, 0.5, 0.75, INF, NAN]) for _ in range(6)]).reshape(3, 2)
    inside = (values > 0) & (values < 1)

    def program(x):
        y = move(first(x)) * x
        if seed % 2:
            y = funtorch.where(T(inside), second(abs(y) / 9 + 0.01 * x), y)
        return y

    def gradients(safe):
        x = funtorch.tensor(values, requires_grad=True)
        given = funtorch.where(T(inside), x, 0.5) if safe else x
        z = funtorch.where(T(inside), program(given), x.detach().nan_to_num())
        (g,) = funtorch.autograd.grad(z.sum(), x, create_graph=True)
        return g.detach(), funtorch.autograd.grad((g * g).sum(), x)[0]

    for got, expected in zip(gradients(False), gradients(True), strict=True):
        assert expected.isfinite().all()
        np.testing.assert_allclose(got, expected, rtol=1e-10)


def test_only_walks_that_need_it_look_for_nan():
    def selective(loss):
        walks._plans.clear()
        loss.backward()
        (plan,) = walks._plans.values()
        return plan.selective

    layer = funtorch.nn.Linear(3, 4)
    assert not selective(funtorch.nn.functional.cross_entropy(layer(funtorch.ones(2, 3)).relu(), T([1, 2])))
    table = funtorch.nn.Embedding(5, 3)
    assert not selective(layer(table(T([1, 2]))).mean())
    assert not selective((variable([1.0, 2.0])[1:] * 2).sum())
    assert not selective(funtorch.nn.functional.max_pool1d(layer(funtorch.ones(1, 2, 3)).relu(), 2).sum())
    assert selective((variable([1.0, 2.0]) * 2)[1:].sum())


def test_traits_of_gradients():
    def traits(z):
        return z.grad_fn.recipe.traits

    x = variable([[1.0, 2.0], [3.0, 4.0]])
    selecting, moving, others = Traits(True, False), Traits(False, False), Traits(False, True)
    for z in (x[0], x[:, :1], x.unbind(1)[0], x.masked_fill(x > 1, 0.0), x.tril(), x.index_select(1, T([0]))):
        assert traits(z) == selecting
    for z in (x.sum(), x.mean(), x.t(), -x, x + x, x.clamp(0, 1), x.double(), x.flip(1)):
        assert traits(z) == moving
    for z in (x * x, x / 2, x.exp(), x @ x.t(), x.softmax(1)):
        assert traits(z) == others
