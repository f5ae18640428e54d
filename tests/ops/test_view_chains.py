"""Random chains of views with writes through any of them: values, versions and gradients as in torch."""

import numpy as np
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

import funtorch

ROOT = np.arange(12.0).reshape(2, 3, 2) / 4
NEW = np.array([5.0, -3.0])

# Each takes a Tensor and a small number, and gives a view, or None where it does not apply.
VIEWS = [
    lambda x, n: x[n % len(x)] if x.dim() and len(x) else None,
    lambda x, n: x[n % 2 :] if x.dim() else None,
    lambda x, n: x[..., :: n % 2 + 1] if x.dim() else None,
    lambda x, n: x.transpose(0, -1) if x.dim() else None,
    lambda x, n: x.permute(*range(1, x.dim()), 0) if x.dim() else None,
    lambda x, n: x.unsqueeze(n % (x.dim() + 1)),
    lambda x, n: x.squeeze(),
    lambda x, n: x.reshape(-1),
    lambda x, n: x.expand(2, *x.shape),
    lambda x, n: x.diagonal() if x.dim() > 1 else None,
    lambda x, n: x.unfold(0, 1, 1) if x.dim() and len(x) else None,
    lambda x, n: x.unflatten(-1, (1, -1)) if x.numel() and x.dim() else None,
    lambda x, n: x.narrow(-1, 0, 1) if x.dim() and x.shape[-1] else None,
]


def double(x, v):
    x.mul_(2)


def shift(x, v):
    x.add_(1.5)


def fill(x, v):
    x.fill_(v[0])


def copy(x, v):
    x.copy_(v[1])


def first(x, v):
    if x.dim() and len(x):
        x[0] = v[0] * 2


def negative(x, v):
    x[x < 0] = 3.0


WRITES = [double, shift, fill, copy, first, negative]
STEP = st.one_of(
    st.tuples(st.just("view"), st.integers(0, 9), st.integers(0, len(VIEWS) - 1), st.integers(0, 2)),
    st.tuples(st.just("write"), st.integers(0, 9), st.integers(0, len(WRITES) - 1), st.just(0)),
    st.tuples(st.just("read"), st.integers(0, 9), st.just(0), st.just(0)),
)


class Run:
    """The Tensors that a sequence of steps makes under one module."""

    def __init__(self, module):
        self.module = module
        self.root = module.tensor(ROOT, requires_grad=True)
        self.value = module.tensor(NEW, requires_grad=True)
        self.base = self.root * 1
        self.pool = [self.base]
        self.total = 0.0

    def step(self, kind, which, choice, number):
        """Take a step; whether it was refused."""
        x = self.pool[which % len(self.pool)]
        try:
            if kind == "view":
                made = VIEWS[choice](x, number)
                self.pool += [] if made is None else [made]
            elif kind == "write":
                WRITES[choice](x, self.value)
            else:
                self.total = self.total + (x * (which + 1)).sum()
        except RuntimeError:
            return True
        return False

    def grads(self):
        total = self.total + sum((x * (i + 1)).sum() for i, x in enumerate(self.pool))
        inputs = [self.root, self.value]
        grads = self.module.autograd.grad(total, inputs, allow_unused=True)
        return [np.zeros(x.shape) if g is None else g.numpy() for g, x in zip(grads, inputs, strict=True)]


@settings(max_examples=40, deadline=None, derandomize=True, database=None)
@given(st.lists(STEP, min_size=2, max_size=9))
def test_chains(steps):
    theirs, ours = Run(torch), Run(funtorch)
    for step in steps:
        if theirs.step(*step):
            return  # what torch refuses is not defined
        assert not ours.step(*step), step
        assert ours.base._version == theirs.base._version, step
    for a, b in zip(theirs.pool, ours.pool, strict=True):
        assert a.tolist() == b.tolist()
        assert (a.stride(), a.storage_offset()) == (b.stride(), b.storage_offset())
        assert a.requires_grad == b.requires_grad
    for a, b in zip(theirs.grads(), ours.grads(), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-12)
