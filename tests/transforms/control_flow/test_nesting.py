"""A loop with a branch inside, under pairs of transforms in any order, against torch.func and the plain function."""

import itertools
import warnings

import numpy as np
import pytest
import torch as reference
from composing import OURS, REFERENCE, W, X

import funtorch
from funtorch.func import cond, fori_loop, scan


def looped(m, w):
    def f(x):
        def step(c, row):
            c = cond((c * row).sum() > 0, lambda c: (c + row).tanh(), lambda c: c * row.cos() - x, (c,))
            return c, c * x[0]

        c, ys = scan(step, x, w)
        return fori_loop(0, 2, lambda i, v: v.sin() + w[0], c) + ys.sum(0)

    def plain(x):
        c, total = x, 0
        for row in w:
            c = m.where((c * row).sum() > 0, (c + row).tanh(), c * row.cos() - x)
            total = total + c * x[0]
        return (c.sin() + w[0]).sin() + w[0] + total

    return f if m is funtorch else plain


@pytest.mark.parametrize("names", list(itertools.product(OURS, repeat=2)), ids="-".join)
def test_pair(names):
    results = []
    for m, table in ((reference, REFERENCE), (funtorch, OURS)):
        w = m.tensor(W, requires_grad=True)
        f = looped(m, w)
        for name in reversed(names):
            f = table[name](m, f)
        with warnings.catch_warnings():
            if m is reference:
                warnings.simplefilter("ignore")  # of what torch deprecates
            for _ in range(3 if m is funtorch and names[0] == "compile" else 1):
                y = f(m.tensor(X))
            slope = m.autograd.grad(y.sum(), w, allow_unused=True)[0]
        results.append((y.detach().numpy(), slope.numpy()))
    np.testing.assert_allclose(results[1][0], results[0][0], rtol=1e-8, atol=1e-9)
    np.testing.assert_allclose(results[1][1], results[0][1], rtol=1e-8, atol=1e-9)
