"""``vmap(..., mode="loop")``: what batched lanes can't do, and otherwise what they do."""

import numpy as np
import pytest

import funtorch
from funtorch.func import grad, jvp, vmap

X = np.random.default_rng(3).normal(size=(4, 3))


def by_item(x):
    return x.sin() * x[0].item()


def by_branch(x):
    return x.exp() if x.sum() > 0 else x**2


def by_shape(x):
    return x[x > 0].sum() * x.nonzero().shape[0]


def by_steps(x):
    while x.norm() < 10:
        x = x * 2
    return x


FUNCTIONS = [by_item, by_branch, by_shape, by_steps]


def lanes(f, xs):
    return funtorch.stack([f(x) for x in xs])


@pytest.mark.parametrize("f", FUNCTIONS)
def test_values_and_derivatives(f):
    x = funtorch.tensor(X)
    looped = vmap(f, mode="loop")
    assert funtorch.equal(looped(x), lanes(f, x))
    total, each = lambda x: looped(x).sum(), lambda x: lanes(f, x).sum()
    np.testing.assert_allclose(grad(total)(x), grad(each)(x), rtol=1e-12)
    second = [grad(lambda x, f=f: (grad(f)(x) * x.cos()).sum())(x) for f in (total, each)]
    np.testing.assert_allclose(second[0], second[1], rtol=1e-12)
    for mine, plain in zip(jvp(looped, (x,), (x,)), jvp(lambda x: lanes(f, x), (x,), (x,)), strict=True):
        np.testing.assert_allclose(mine, plain, rtol=1e-12)
    leaf = x.clone().requires_grad_()
    looped(leaf).sum().backward()
    np.testing.assert_allclose(leaf.grad, grad(each)(x), rtol=1e-12)


@pytest.mark.parametrize("f", FUNCTIONS)
def test_compiled(f):
    compiled = funtorch.compile(vmap(f, mode="loop"))
    for sign in (1, 1, 1, -1, 1):
        np.testing.assert_allclose(compiled(funtorch.tensor(X * sign)), lanes(f, funtorch.tensor(X * sign)), rtol=1e-12)


@pytest.mark.parametrize(("in_dims", "out_dims"), [(0, 0), (1, 1), (-1, -1), ((0, None), 1), ((None, 1), 0), ((1, 0), (0, 1))])
def test_dims_as_in_batched_lanes(in_dims, out_dims):
    def f(x, y):
        pair = isinstance(out_dims, tuple)
        return ((x * 2).sum(-1, keepdim=True) + x, y.flip(0)) if pair else x.sum() * y + y

    x, y = funtorch.tensor(X[:3]), funtorch.tensor(X[:3] * 2)
    for mine, batched in zip(vmap(f, in_dims, out_dims, mode="loop")(x, y), vmap(f, in_dims, out_dims)(x, y), strict=True):
        np.testing.assert_allclose(mine, batched, rtol=1e-12)


def test_pytrees_and_keywords():
    f = lambda tree, *, scale: {"a": tree["u"] * scale, "b": (tree["v"][0] + 1,)}  # noqa: E731
    x = funtorch.tensor(X)
    found = vmap(f, in_dims=({"u": 0, "v": 1},), mode="loop")({"u": x, "v": [x.t()]}, scale=3)
    assert funtorch.equal(found["a"], x * 3) and funtorch.equal(found["b"][0], x + 1)


def test_nested_with_batched_lanes():
    x = funtorch.tensor(X[:2])
    inner = lambda x: vmap(lambda v: v * 2)(x).sum() if x[0].item() > 0 else x.prod()  # noqa: E731
    np.testing.assert_allclose(vmap(inner, mode="loop")(x), [inner(v).item() for v in x])
    outer = vmap(lambda x: vmap(funtorch.exp, mode="loop")(x))
    np.testing.assert_allclose(outer(x), x.exp())


def test_random_numbers():
    x = funtorch.zeros(3, 5)
    noisy = lambda x: x + funtorch.rand(5) + funtorch.randn(2).sum()  # noqa: E731
    with pytest.raises(RuntimeError, match="randomness error mode"):
        vmap(noisy, mode="loop")(x)
    funtorch.manual_seed(0)
    alike = vmap(noisy, randomness="same", mode="loop")(x)
    after = funtorch.rand(1)
    funtorch.manual_seed(0)
    first = noisy(x[0])
    assert all(funtorch.equal(lane, first) for lane in alike) and funtorch.equal(after, funtorch.rand(1))
    funtorch.manual_seed(0)
    apart = vmap(noisy, randomness="different", mode="loop")(x)
    funtorch.manual_seed(0)
    assert funtorch.equal(apart, lanes(noisy, x))


@pytest.mark.parametrize(
    "law", [lambda: funtorch.poisson(funtorch.ones(5) * 4), lambda: funtorch.multinomial(funtorch.ones(9), 5)]
)
def test_random_numbers_whose_law_depends_on_values(law):
    x = funtorch.zeros(3, 5)
    funtorch.manual_seed(0)
    alike, after = vmap(lambda x: x + law() + funtorch.rand(5), randomness="same", mode="loop")(x), funtorch.rand(1)
    funtorch.manual_seed(0)
    first = law() + funtorch.rand(5)
    assert all(funtorch.equal(lane, first) for lane in alike) and funtorch.equal(after, funtorch.rand(1))
    with pytest.raises(RuntimeError, match="poisson with randomness='same' on a mapped input"):
        vmap(funtorch.poisson, randomness="same", mode="loop")(funtorch.tensor([[1.0], [2.0]]))


def test_random_numbers_by_values():
    p = funtorch.ones(3, 4)
    state = funtorch.get_rng_state()
    with pytest.raises(RuntimeError, match="randomness error mode"):
        vmap(lambda p: funtorch.multinomial(p, 1), mode="loop")(p)
    assert funtorch.equal(state, funtorch.get_rng_state())
    assert vmap(lambda p: funtorch.multinomial(p, 2), randomness="different", mode="loop")(p).shape == (3, 2)


def test_writes_reach_arguments_and_outer_tensors():
    x, total = funtorch.tensor(X), funtorch.zeros((), dtype=funtorch.float64)

    def f(x):
        x.mul_(2)
        total.add_(x.sum())
        return x.sum()

    sums = vmap(f, mode="loop")(x)
    np.testing.assert_allclose(x, X * 2)
    np.testing.assert_allclose(total, sums.sum())


REFUSED = {
    "mode": (lambda: vmap(by_item, mode="lanes"), ValueError, "'batch' or 'loop', got 'lanes'"),
    "chunk": (lambda: vmap(by_item, mode="loop", chunk_size=2), ValueError, "chunk_size and buffers"),
    "buffers": (lambda: vmap(by_item, mode="loop", buffers="mean"), ValueError, "chunk_size and buffers"),
    "empty": (lambda: vmap(by_item, mode="loop")(funtorch.zeros(0, 3)), ValueError, "no lane"),
    "ragged": (lambda: vmap(lambda x: x[x > 0], mode="loop")(funtorch.tensor([[1.0, 2], [1, -1]])), RuntimeError, r"\[2\], \[1\]"),
    "result": (lambda: vmap(lambda x: x.sum().item(), mode="loop")(funtorch.ones(2, 3)), ValueError, "must only return Tensors"),
    "structure": (
        lambda: vmap(lambda x: x if x[0] > 1 else (x, x), mode="loop")(funtorch.tensor([[1.0], [2.0]])), ValueError, "same structure",
    ),
    "out_dims": (lambda: vmap(lambda x: x, out_dims=(0, 1), mode="loop")(funtorch.ones(2, 3)), ValueError, "out_dims"),
    "out_dim": (lambda: vmap(lambda x: x, out_dims=3, mode="loop")(funtorch.ones(2, 3)), IndexError, "out_dim 3"),
    "unmapped": (lambda: vmap(lambda x: x * 1, out_dims=None, mode="loop")(funtorch.ones(2, 3)), ValueError, "is None for a result"),
    "sizes": (lambda: vmap(lambda x, y: x, mode="loop")(funtorch.ones(2), funtorch.ones(3)), ValueError, "same size"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_refused(name):
    run, kind, message = REFUSED[name]
    with pytest.raises(kind, match=message):
        run()


def test_a_result_that_no_lane_changes():
    w = funtorch.ones(2)
    assert vmap(lambda x: (x, w), out_dims=(0, None), mode="loop")(funtorch.ones(3, 2))[1] is w
