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
    lambda x, n: x.select(-1, n % x.shape[-1]) if x.dim() and x.shape[-1] else None,
    lambda x, n: x.movedim(0, -1).flatten(0, 0) if x.dim() > 1 else None,
    lambda x, n: x.as_strided((2, 2), (n + 2, 1), x.storage_offset()) if x.is_contiguous() and x.numel() > 5 else None,
    lambda x, n: x.detach(),
    lambda x, n: x.view(x.numel()) if x.is_contiguous() else None,
    lambda x, n: x.unbind(0)[-1] if x.dim() and len(x) else None,
    lambda x, n: x.split(1, -1)[0] if x.dim() and x.shape[-1] else None,
    lambda x, n: x.chunk(2)[-1] if x.dim() and len(x) else None,
]
PLAIN_VIEWS = [
    *VIEWS,
    lambda x, n: x.data,
    lambda x, n: x.real if x.is_complex() else x[None],
    lambda x, n: x.imag if x.is_complex() else x[None],
    lambda x, n: torch_of(x).view_as_real(x) if x.is_complex() and not x.is_conj() else None,
    lambda x, n: x.conj() if x.is_complex() else x.t() if x.dim() == 2 else None,
]


def torch_of(x):
    return torch if isinstance(x, torch.Tensor) else funtorch


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


def steps_of(views, writes):
    return st.lists(
        st.one_of(
            st.tuples(st.just("view"), st.integers(0, 9), st.integers(0, len(views) - 1), st.integers(0, 2)),
            st.tuples(st.just("write"), st.integers(0, 9), st.integers(0, writes - 1), st.just(0)),
            st.tuples(st.just("read"), st.integers(0, 9), st.just(0), st.just(0)),
        ),
        min_size=2,
        max_size=9,
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
@given(steps_of(VIEWS, len(WRITES)))
def test_chains(steps):
    theirs, ours = Run(torch), Run(funtorch)
    for step in steps:
        if theirs.step(*step):
            return  # what torch refuses is not defined
        assert not ours.step(*step), step
        assert [x._version for x in ours.pool] == [x._version for x in theirs.pool], step
    for a, b in zip(theirs.pool, ours.pool, strict=True):
        assert a.tolist() == b.tolist()
        assert (a.stride(), a.storage_offset()) == (b.stride(), b.storage_offset())
        assert a.requires_grad == b.requires_grad
    try:
        wanted = theirs.grads()
    except RuntimeError:  # torch refuses to read one of several views of a Tensor that was written since
        return
    for a, b in zip(wanted, ours.grads(), strict=True):
        np.testing.assert_allclose(b, a, rtol=1e-12)


class PlainRun:
    """The same without gradients: every write is allowed, and values are read after each step."""

    def __init__(self, module, complex_root):
        start = ROOT + 1j * ROOT[::-1] if complex_root else ROOT
        self.pool = [module.tensor(start)]
        self.value = module.tensor(NEW)

    def step(self, kind, which, choice, number):
        x = self.pool[which % len(self.pool)]
        try:
            if kind == "view":
                made = PLAIN_VIEWS[choice](x, number)
                self.pool += [] if made is None else [made]
            elif kind == "write":
                WRITES[choice](x, self.value)
        except RuntimeError:
            return True
        return False

    def state(self):
        return [(x.tolist(), x.stride(), x.storage_offset(), x._version) for x in self.pool]


@settings(max_examples=60, deadline=None, derandomize=True, database=None)
@given(st.booleans(), steps_of(PLAIN_VIEWS, len(WRITES) - 1))
def test_chains_without_gradients(complex_root, steps):
    theirs, ours = PlainRun(torch, complex_root), PlainRun(funtorch, complex_root)
    for step in steps:
        if theirs.step(*step):
            return
        assert not ours.step(*step), step
        assert ours.state() == theirs.state(), step


def test_writes_through_a_detached_expansion_reach_the_base():
    for module in (torch, funtorch):
        x = module.zeros(2)
        v = x.expand(3, 2).detach()
        v[0] += 1
        assert x.tolist() == [1, 1] and v.tolist() == [[1, 1]] * 3 and x._version == v._version == 2


def test_data_has_a_version_of_its_own():
    for module in (torch, funtorch):
        x = module.zeros(3)
        x.add_(1)
        d, w = x.data, x.detach()
        d[1:].mul_(2)
        assert (x._version, w._version, d._version, d[1:]._version) == (1, 1, 1, 1)
        w.add_(1)
        assert (x._version, w._version, d._version) == (2, 2, 1)
        assert x.tolist() == d.tolist() == [2, 3, 3]


def test_versions_through_changes_of_what_a_tensor_is():
    seen = []
    for module in (torch, funtorch):
        x = module.zeros(2, 2)
        changes = [x.t_, lambda: x.unsqueeze_(0), x.squeeze_, lambda: x.resize_(4), x.requires_grad_, x.detach_]  # noqa: B023
        versions = []
        for change in changes:
            change()
            versions.append(x._version)
        x.data = module.ones(2)
        versions.append(x._version)
        x.set_(module.ones(3))
        seen.append([*versions, x._version])
    assert seen[0] == seen[1]
