"""Warnings come where PyTorch's do: of the same category, as often, and at the line of the caller's."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
import torch

import funtorch
from funtorch import cautions


def checkpointed(t, x, use_reentrant):
    return t.utils.checkpoint.checkpoint(lambda y: y * 2, x, use_reentrant=use_reentrant)


def sgd(t):
    return t.optim.SGD([t.ones(1, requires_grad=True)], lr=0.1)


def stepped(t):
    optimizer = sgd(t)
    schedule = t.optim.lr_scheduler.StepLR(optimizer, 1)
    optimizer.step()
    return schedule


# Each is done twice: PyTorch gives some warnings once in a process.
USES = {
    "T of three dimensions": lambda t: t.ones(2, 3, 4).T,
    "T of a matrix": lambda t: t.ones(2, 3).T,
    "T of a number": lambda t: t.tensor(1.0).T,
    "mT of a number": lambda t: t.tensor(1.0).mT,
    "H of a number": lambda t: t.tensor(1.0).H,
    "mH of a number": lambda t: t.tensor(1.0).mH,
    "cross": lambda t: t.cross(t.ones(2, 3), t.ones(2, 3)),
    "cross with dim": lambda t: t.cross(t.ones(2, 3), t.ones(2, 3), dim=1),
    "meshgrid": lambda t: t.meshgrid(t.arange(2), t.arange(3)),
    "meshgrid with indexing": lambda t: t.meshgrid(t.arange(2), t.arange(3), indexing="xy"),
    "range": lambda t: t.range(0, 3),
    "lu": lambda t: t.eye(2).lu(),
    "qr": lambda t: t.qr(t.eye(2)),
    "cholesky": lambda t: t.eye(2).cholesky(),
    "triangular_solve": lambda t: t.triangular_solve(t.eye(2), t.eye(2)),
    "lu_solve": lambda t: t.lu_solve(t.ones(2, 1), *t.linalg.lu_factor(t.eye(2))),
    "chain_matmul": lambda t: t.chain_matmul(t.eye(2), t.eye(2)),
    "stft": lambda t: t.stft(t.ones(100), 16, return_complex=True),
    "stft with a window": lambda t: t.stft(t.ones(100), 16, window=t.ones(16), return_complex=True),
    "stft of real parts": lambda t: t.stft(t.ones(100), 16, window=t.ones(16), return_complex=False),
    "index by bytes": lambda t: t.ones(3)[t.tensor([1, 0, 1], dtype=t.uint8)],
    "where of bytes": lambda t: t.where(t.tensor([1, 0], dtype=t.uint8), t.ones(2), t.zeros(2)),
    "scatter with reduce": lambda t: t.ones(2).scatter(0, t.tensor([0]), t.ones(1), reduce="add"),
    "index_reduce": lambda t: t.ones(3).index_reduce_(0, t.tensor([0]), t.ones(1), "mean"),
    "std of one": lambda t: t.ones(1).std(),
    "std of one, by n": lambda t: t.ones(1).std(unbiased=False),
    "var along one": lambda t: t.ones(3, 1).var(1),
    "var_mean": lambda t: t.var_mean(t.ones(2), correction=3),
    "cov": lambda t: t.cov(t.ones(3, 1)),
    "corrcoef": lambda t: t.corrcoef(t.ones(3, 1)),
    "out of another size": lambda t: t.add(t.ones(3), 1, out=t.empty(2)),
    "out without elements": lambda t: t.add(t.ones(3), 1, out=t.empty(0)),
    "two outs": lambda t: t.max(t.ones(3, 2), 0, out=(t.empty(3), t.empty(3, dtype=t.int64))),
    "zeros into another size": lambda t: t.zeros(3, out=t.empty(2)),
    "rand into another size": lambda t: t.rand(3, out=t.empty(2)),
    "arange into another size": lambda t: t.arange(3, out=t.empty(2)),
    "multinomial into another size": lambda t: t.multinomial(t.ones(3), 2, out=t.empty(3, dtype=t.int64)),
    "tensor of a Tensor": lambda t: t.tensor(t.ones(2)),
    "new_tensor of a Tensor": lambda t: t.ones(2).new_tensor(t.ones(2)),
    "tensor of arrays": lambda t: t.tensor([np.ones(2), np.ones(2)]),
    "grad of no leaf": lambda t: (t.ones(2, requires_grad=True) * 2).grad,
    "grad of a leaf": lambda t: t.ones(2, requires_grad=True).grad,
    "float of a result": lambda t: float(t.ones((), requires_grad=True) * 2),
    "int of a result": lambda t: int(t.ones((), requires_grad=True) * 2),
    "complex to real": lambda t: t.ones(2, dtype=t.complex64).float(),
    "complex to bool": lambda t: t.ones(2, dtype=t.complex64).bool(),
    "addmm, older order": lambda t: t.ones(2, 2).addmm(2, t.eye(2), t.eye(2)),
    "add, older order": lambda t: t.ones(2).add(2, t.ones(2)),
    "grid_sample": lambda t: t.nn.functional.grid_sample(t.ones(1, 1, 4, 4), t.zeros(1, 2, 2, 2)),
    "affine_grid": lambda t: t.nn.functional.affine_grid(t.ones(1, 2, 3), (1, 1, 2, 2)),
    "affine_grid of one place": lambda t: t.nn.functional.affine_grid(t.ones(1, 2, 3), (1, 1, 1, 1), align_corners=True),
    "conv2d, an even kernel": lambda t: t.nn.functional.conv2d(t.ones(1, 1, 4, 4), t.ones(1, 1, 2, 2), padding="same"),
    "default type": lambda t: t.set_default_tensor_type(t.FloatTensor),
    "storage": lambda t: t.ones(3).storage(),
    "volatile": lambda t: t.autograd.Variable(t.ones(2), volatile=True),
    "volatile of a Tensor": lambda t: t.ones(2).volatile,
    "resize_as": lambda t: t.ones(2).resize_as(t.zeros(2)),
    "a list as an index": lambda t: t.ones(2, 2)[[[0], [1]]],
    "numbers as an index": lambda t: t.ones(2, 2)[[0, 1]],
    "is_autocast_cpu_enabled": lambda t: t.is_autocast_cpu_enabled(),
    "get_autocast_gpu_dtype": lambda t: t.get_autocast_gpu_dtype(),
    "set_autocast_xla_enabled": lambda t: t.set_autocast_xla_enabled(False),
    "set_autocast_cpu_dtype": lambda t: t.set_autocast_cpu_dtype(t.bfloat16),
    "is_autocast_enabled": lambda t: t.is_autocast_enabled("cpu"),
    "memory_cached": lambda t: t.cuda.memory_cached(),
    "max_memory_cached": lambda t: t.cuda.max_memory_cached(),
    "has_cuda": lambda t: t.has_cuda,
    "has_mps": lambda t: t.has_mps,
    "has_lapack": lambda t: t.has_lapack,
    "grad_variables": lambda t: t.autograd.backward(t.ones(1, requires_grad=True) * 2, grad_variables=t.ones(1)),
    "workers": lambda t: t.utils.data.DataLoader([1], num_workers=999),
    "no workers": lambda t: t.utils.data.DataLoader([1]),
    "an instance of a Function": lambda t: type("Made", (t.autograd.Function,), {})(),
    "checkpoint without gradient": lambda t: checkpointed(t, t.ones(2), True),
    "checkpoint without gradient, not reentrant": lambda t: checkpointed(t, t.ones(2), False),
    "checkpoint with gradient": lambda t: checkpointed(t, t.ones(2, requires_grad=True), True),
    "sparse type of sizes": lambda t: t.sparse.FloatTensor(2, 3),
    "sparse type": lambda t: t.sparse.FloatTensor(t.tensor([[0], [1]]), t.ones(1), t.Size((2, 2))),
    "softmax without dim": lambda t: t.nn.functional.softmax(t.ones(2)),
    "size_average": lambda t: t.nn.functional.mse_loss(t.ones(2), t.ones(2), size_average=True),
    "sizes of a loss": lambda t: t.nn.functional.l1_loss(t.ones(2), t.ones(2, 1)),
    "kl_div by mean": lambda t: t.nn.functional.kl_div(t.ones(2), t.ones(2)),
    "gumbel_softmax with eps": lambda t: t.nn.functional.gumbel_softmax(t.ones(2), eps=1),
    "schedule before optimiser": lambda t: t.optim.lr_scheduler.StepLR(sgd(t), 1).step(),
    "schedule of an epoch": lambda t: stepped(t).step(3),
    "a parameter twice": lambda t: t.optim.SGD([t.ones(1, requires_grad=True)] * 2, lr=0.1),
    "whole numbers of bfloat16": lambda t: t.zeros(3, dtype=t.bfloat16).random_(0, 1000),
}


def given(module, use) -> list:
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        use(module)
    return [(w.category, w.filename == __file__) for w in found]


@pytest.fixture
def afresh(monkeypatch):
    monkeypatch.setattr(cautions, "_given", set())


def anew(module, use) -> list:
    """What is given where each warning may be given again."""
    module.set_warn_always(True)
    try:
        return given(module, use)
    finally:
        module.set_warn_always(False)


ONCE = ["tensor of arrays", "default type", "storage"]  # and not given anew by torch, or more often


@pytest.mark.parametrize("name", [name for name in USES if name not in ONCE and "conv" not in name])
def test_the_same_as_torch(name, afresh):
    theirs, ours = anew(torch, USES[name]), anew(funtorch, USES[name])
    assert [category for category, _ in ours] == [category for category, _ in theirs]
    assert all(here for _, here in ours)


@pytest.mark.parametrize("name", USES)
def test_as_often_as_torch(name, afresh):
    given(torch, USES[name])
    again = given(torch, USES[name])
    given(funtorch, USES[name])
    assert len(given(funtorch, USES[name])) == len(again)


@pytest.mark.parametrize("name", ONCE)
def test_given_once(name, afresh):
    assert [category for category, here in given(funtorch, USES[name]) if here] == [UserWarning]


def test_of_what_a_program_is_made_for(afresh):
    """The op itself warns, while JAX looks at it: at the line of the caller's nevertheless."""
    found = given(funtorch, lambda t: t.nn.functional.conv2d(t.ones(1, 1, 5, 7), t.ones(1, 1, 2, 4), padding="same"))
    assert found == [(UserWarning, True)]


def test_set_warn_always(afresh):
    assert not funtorch.is_warn_always_enabled()
    funtorch.set_warn_always(True)
    try:
        assert funtorch.is_warn_always_enabled()
        assert [len(given(funtorch, USES["meshgrid"])) for _ in range(2)] == [1, 1]
    finally:
        funtorch.set_warn_always(False)


def test_inside_nobody_is_warned(afresh):
    """What the package itself reads of `.grad` is no use of the caller's."""
    x = funtorch.ones(2, requires_grad=True)
    y = x * 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        optimizer = funtorch.optim.SGD([x], lr=0.1)
        y.sum().backward()
        optimizer.step()
        funtorch.autograd.grad((x * 2).sum(), x)


@pytest.mark.parametrize("name", ["symeig", "eig", "solve", "lstsq", "matrix_rank"])
def test_removed_functions_say_what_to_use(name):
    with pytest.raises(RuntimeError) as theirs:
        getattr(torch, name)(torch.eye(2), torch.eye(2)) if name in ("solve", "lstsq") else getattr(torch, name)(torch.eye(2))
    with pytest.raises(RuntimeError, match="torch.linalg") as ours:
        getattr(funtorch, name)(funtorch.eye(2))
    assert "now removed" in str(theirs.value) and "now removed" in str(ours.value)


def test_functions_that_warn_are_still_themselves():
    import pickle

    assert pickle.loads(pickle.dumps(funtorch.qr)) is funtorch.qr
    assert funtorch.qr.__name__ == "qr" and "linalg.qr" in funtorch.qr.__doc__
