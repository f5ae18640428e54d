"""Parameters, buffers, and both before their shapes are known."""

from __future__ import annotations

import copy
import pickle

import jax
import pytest

import funtorch as ft
from funtorch.nn.parameter import Buffer, Parameter, UninitializedBuffer, UninitializedParameter, is_lazy

MADE = {
    "values": lambda k: k.P(k.tensor([1.0, 2.0])),
    "no grad": lambda k: k.P(k.tensor([1.0, 2.0]), requires_grad=False),
    "nothing": lambda k: k.P(),
    "integers": lambda k: k.P(k.tensor([1, 2]), requires_grad=False),
    "of a parameter": lambda k: k.P(k.P(k.tensor([1.0])), False),
    "of a result": lambda k: (lambda p: (p, p.is_leaf))(k.P(k.tensor([1.0], requires_grad=True) * 2)),
    "printed": lambda k: repr(k.P(k.tensor([1.0, 2.0]))),
    "printed without grad": lambda k: repr(k.P(k.tensor([[1, 2]]), False)),
    "printed in a list": lambda k: str([k.P(k.tensor(1.0))]),
    "buffer printed": lambda k: repr(k.nn.Buffer(k.tensor([1.0]))),
    "data": lambda k: k.P(k.tensor([1.0])).data,
    "detached": lambda k: k.P(k.tensor([1.0])).detach(),
    "computed with": lambda k: k.P(k.tensor([1.0])) * 2,
}


@pytest.mark.parametrize("name", MADE)
def test_parameters_are_as_in_torch(alike, name):
    alike(MADE[name])


def test_integers_can_not_require_grad(alike):
    alike(lambda k: k.P(k.tensor([1])), text=False)


@pytest.mark.parametrize("copied", [copy.deepcopy, lambda p: pickle.loads(pickle.dumps(p))], ids=["copy", "pickle"])
def test_copies(copied):
    p = Parameter(ft.tensor([1.0, 2.0]), requires_grad=False)
    p.requires_grad = True
    q = copied(p)
    assert type(q) is Parameter and q.requires_grad and q.tolist() == [1.0, 2.0] and q.grad is None
    with ft.no_grad():
        q.zero_()
    assert p.tolist() == [1.0, 2.0]
    b = copied(Buffer(ft.tensor([3]), persistent=False))
    assert type(b) is Buffer and not b.persistent and b.tolist() == [3]
    u = copied(UninitializedParameter(requires_grad=False, dtype=ft.float64))
    assert type(u) is UninitializedParameter and not u.requires_grad and u.dtype == ft.float64
    v = copied(UninitializedBuffer(persistent=False))
    assert type(v) is UninitializedBuffer and not v.persistent


def test_a_shallow_copy_is_a_parameter_of_its_own():
    p = Parameter(ft.tensor([1.0]))
    q = copy.copy(p)
    assert q is not p and type(q) is Parameter and q.is_leaf and q.requires_grad and q.tolist() == [1.0]


def test_pickles_keep_attributes(alike):
    def build(k):
        p = k.P(k.tensor([1.0]))
        p.note = "kept"
        return pickle.loads(pickle.dumps(p)).note, hasattr(copy.deepcopy(p), "note")

    alike(build)


def test_ties_survive_a_copy():
    p = Parameter(ft.tensor([1.0]))
    a, b = copy.deepcopy([p, p])
    assert a is b and a is not p


def test_pytrees_keep_the_kind():
    for value in (Parameter(ft.tensor([1.0])), Buffer(ft.tensor([1.0]))):
        doubled = jax.tree.map(lambda leaf: leaf * 2, value)
        assert type(doubled) is type(value) and doubled.tolist() == [2.0]
        assert doubled.requires_grad == value.requires_grad


def test_a_subclass_is_a_pytree_too():
    class Special(Parameter):
        pass

    assert type(jax.tree.map(lambda leaf: leaf, Special(ft.tensor([1.0])))) is Special


def test_uninitialized_becomes_a_parameter_that_trains():
    u = UninitializedParameter()
    assert is_lazy(u) and isinstance(u, Parameter) and u.requires_grad and u.is_leaf and u.grad_fn is None
    assert repr(u) == "<UninitializedParameter>"
    u.materialize((2, 3))
    assert type(u) is Parameter and not is_lazy(u) and u.shape == (2, 3) and u.dtype == ft.float32
    with ft.no_grad():
        u.copy_(ft.ones(2, 3))
    (u * 2).sum().backward()
    assert u.grad.tolist() == [[2.0] * 3] * 2


def test_uninitialized_buffer():
    b = UninitializedBuffer(dtype=ft.float64)
    assert isinstance(b, Buffer) and not b.requires_grad and repr(b) == "<UninitializedBuffer>"
    b.materialize([2], dtype=ft.int64)
    assert type(b) is Buffer and b.shape == (2,) and b.dtype == ft.int64


@pytest.mark.parametrize(
    ("use", "error", "words"),
    [
        (lambda u: u.shape, RuntimeError, "Can't access the shape of an uninitialized parameter"),
        (lambda u: u + 1, ValueError, "Attempted to use an uninitialized parameter"),
        (lambda u: ft.add(1, u), ValueError, "Attempted to use an uninitialized parameter"),
        (lambda u: u.sum(), ValueError, "materialize"),
        (lambda u: u.tolist(), ValueError, "materialize"),
        (lambda u: len(u), ValueError, "materialize"),
        (lambda u: u.share_memory_(), RuntimeError, "Can't share memory on an uninitialized parameter"),
    ],
)
def test_uninitialized_refuses_use(use, error, words):
    with pytest.raises(error, match=words):
        use(UninitializedParameter())


def test_modules_with_uninitialized_members_can_be_moved_and_saved():
    m = ft.nn.Module()
    m.weight, m.total = UninitializedParameter(), UninitializedBuffer()
    weight = m.weight
    m.double().to("cpu")
    assert m.weight is weight and is_lazy(weight) and weight.dtype == ft.float64
    weight.materialize((1,))
    assert weight.dtype == ft.float64


def test_a_parameter_can_not_become_integers():
    import torch as theirs

    import funtorch as mine

    for t in (mine, theirs):
        p = t.nn.Parameter(t.ones(2))
        with pytest.raises(
            RuntimeError, match="data set to a tensor that requires gradients must be floating point or complex dtype"
        ):
            p.data = t.ones(2, dtype=t.int64)
        with pytest.raises(RuntimeError, match="must be floating point"):
            t.nn.Linear(2, 2).type(t.int8)
        assert p.tolist() == [1.0, 1.0]
