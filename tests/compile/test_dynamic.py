"""compile(dynamic=True): one program for many sizes, what is filled up never shows; or it says why that can't be."""

import re
import warnings

import numpy as np
import pytest
from harness import net, parameter

import funtorch
from funtorch import compiler, nn

SIZES = (3, 3, 5, 6, 7, 8, 5, 3, 4, 3, 9, 16, 13, 12, 11, 5)  # in buckets of 4, 8 and 16


def inputs(n, *rest):
    return funtorch.tensor(np.random.RandomState(n).randn(n, *rest))


SHARED = {
    "elementwise": lambda x: x.sin() * 2 + 1,
    "mean": lambda x: x.mean(),
    "exp of zeros": lambda x: x.exp().sum(0),
    "division by what is filled up": lambda x: (1 / x).sum(),
    "logarithms": lambda x: x.abs().log().mean(0),
    "largest": lambda x: (x.max(), x.amax(0), x.argmax(0), x.argmin()),
    "smallest": lambda x: (x.min(), x.amin(0)),
    "product": lambda x: x.prod(0),
    "all and any": lambda x: ((x > -9).all(), (x > 9).any(), (x == 0).any()),
    "variance": lambda x: (x.var(), x.std(0), x.var(0, correction=0)),
    "gram": lambda x: x.T @ x,
    "rows": lambda x: x @ funtorch.ones(3, 2),
    "softmax over features": lambda x: x.softmax(-1),
    "normalised over the batch": lambda x: (x - x.mean(0)) / (x.std(0) + 1e-3),
    "reshaped": lambda x: (x.reshape(-1, 1) * 2).sum(1),
    "turned": lambda x: x.T * 1,
    "two sums": lambda x: x.sum(1).sum() / x.numel() + x.shape[0],
    "ones": lambda x: funtorch.ones(x.shape[0]).sum() * x.sum(),
    "counted": lambda x: (funtorch.arange(x.shape[0]) * x.sum(1)).sum(),
    "joined": lambda x: funtorch.cat([x, x * 2], 1),
    "cumulated": lambda x: x.cumsum(0),
    "sorted rows": lambda x: x.sort(-1)[0],
}


@pytest.mark.parametrize("name", SHARED)
def test_sizes_share_a_program(name):
    run = funtorch.compile(SHARED[name], dynamic=True)
    for n in SIZES:
        x = inputs(n, 3)
        ours, plain = run(x), SHARED[name](x)
        for a, b in zip(*(p if isinstance(p, tuple) else (p,) for p in (ours, plain)), strict=True):
            assert a.shape == b.shape and a.dtype == b.dtype and funtorch.allclose(a, b, rtol=1e-10), (n, a, b)
    assert run.counts["programs"] == 3, compiler.explain(run)
    assert run.counts["compiled"] == len(SIZES) - 6


REFUSED = {
    "one row": (lambda x: x[0] * 2, "dynamic_slice|takes a part|no rule"),
    "sorted batch": (lambda x: x.sort(0)[0], "works along"),
    "flipped": (lambda x: x.flip(0) * 1, "turns it round"),
    "draws": (lambda x: x + funtorch.rand(x.shape[0], 1), "random numbers"),
    "a view": (lambda x: x.T, "a view"),
    "a number": (lambda x: (x * 2, x.shape[0]), "number that depends on the size"),
    "a loop": (lambda x: sum(x[i] * i for i in range(x.shape[0])), "another path|no rule|takes a part"),
    "half of it": (lambda x: x * (x.shape[0] // 2), "number that depends on the size"),
    "at least four": (lambda x: x * max(x.shape[0], 4), "number that depends on the size"),
    "a constant of its own": (lambda x: x * funtorch.arange(x.shape[0], 0, -1)[:, None], "constant that depends|no rule"),
    "its square": (lambda x: x * float(x.shape[0]) ** 2, "number that depends on the size"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_why_it_cannot_be(name):
    function, why = REFUSED[name]
    run = funtorch.compile(function, dynamic=True)
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        for n in SIZES:
            funtorch.manual_seed(n)
            ours = run(inputs(n, 3))
            funtorch.manual_seed(n)
            plain = function(inputs(n, 3))
            for a, b in zip(*(p if isinstance(p, tuple) else (p,) for p in (ours, plain)), strict=True):
                assert a == b if isinstance(b, int) else funtorch.allclose(a, b, rtol=1e-10)
    (text,) = [str(w.message) for w in said]
    assert "dynamic=True: it compiles for each size" in text
    assert re.search(why, text), text


def test_a_training_step_on_batches_of_any_size():
    def train(wrap):
        model = net()
        opt = funtorch.optim.Adam(model.parameters(), lr=0.01)

        def step(x, y):
            opt.zero_grad()
            loss = nn.functional.cross_entropy(model(x), y)
            loss.backward()
            opt.step()
            return loss

        run = wrap(step)
        found = [run(inputs(n, 3), funtorch.arange(n) % 2).item() for n in SIZES]
        return found, [p.detach().numpy() for p in model.parameters()], run

    expected, parameters, _ = train(lambda f: f)
    found, ours, run = train(lambda f: funtorch.compile(f, dynamic=True))
    np.testing.assert_allclose(found, expected, rtol=1e-9)
    for a, b in zip(ours, parameters, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-7, atol=1e-9)
    assert run.counts["programs"] == 3 and run.counts["compiled"] >= len(SIZES) - 7, compiler.explain(run)


def test_marked_dimensions():
    run = funtorch.compile(lambda x: (x * 2).sum(1), dynamic=True)
    for n in SIZES:
        x = inputs(3, n)
        compiler.mark_dynamic(x, 1)
        assert funtorch.allclose(run(x), (x * 2).sum(1))
    assert run.counts["programs"] == 3
    with pytest.raises(IndexError, match="dimension 2 is out of range"):
        compiler.mark_dynamic(x, 2)
    with pytest.raises(TypeError, match="expected a Tensor"):
        compiler.mark_dynamic(3, 0)


def test_sizes_of_one_and_none_have_programs_of_their_own():
    run = funtorch.compile(lambda x: x.squeeze(0).sum(), dynamic=True)
    for n in (1, 1, 1, 5, 5, 6, 0, 0, 0):
        x = inputs(n, 3)
        assert funtorch.allclose(run(x), x.sum())
    assert run.counts["programs"] == 3


def test_differentiated_outside():
    w = parameter(3)
    run = funtorch.compile(lambda x: (x * w).sum(), dynamic=True)
    with pytest.warns(UserWarning, match="differentiated outside"):
        for n in (5, 6, 5, 6, 5):
            w.grad = None
            run(inputs(n, 3)).backward()
            assert funtorch.allclose(w.grad, inputs(n, 3).sum(0))
