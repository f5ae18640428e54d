"""Random numbers as they are asked for: ``out=``, dtypes, generators, bounds; with PyTorch's numbers, state and errors."""

import numpy as np
import pytest
import torch

import funtorch

NARROW = "uint16 uint32 uint64 complex64 complex128".split()

DRAWS = {
    "randn into doubles": lambda t: t.randn(20, out=t.empty(20, dtype=t.float64)),
    "randn into a transpose": lambda t: t.randn(4, 5, out=t.empty(5, 4).t()),
    "randn into every other": lambda t: t.randn(20, out=t.empty(40)[::2]),
    "randn into another size": lambda t: t.randn(20, out=t.empty(3)),
    "rand into a transpose": lambda t: t.rand(4, 5, out=t.empty(5, 4).t()),
    "rand into complex": lambda t: t.rand(3, out=t.empty(3, dtype=t.complex64)),
    "randint into a transpose": lambda t: t.randint(9, (4, 5), out=t.empty(5, 4).t()),
    "randint into bools": lambda t: t.randint(0, 2, (6,), out=t.empty(6, dtype=t.bool)),
    "randperm into floats": lambda t: t.randperm(10, out=t.empty(10)),
    "normal of numbers into a transpose": lambda t: t.normal(1.0, 2.0, (4, 5), out=t.empty(5, 4).t()),
    "normal of means into a transpose": lambda t: t.normal(t.arange(20.0).reshape(4, 5), 1.0, out=t.empty(5, 4).t()),
    "normal, std of doubles": lambda t: t.normal(t.zeros(3), t.ones(3, dtype=t.float64)),
    "normal, means of halves": lambda t: t.normal(t.zeros(3).half(), t.ones(3)),
    "bernoulli into counts": lambda t: t.bernoulli(t.full((9,), 0.5), out=t.empty(9, dtype=t.int64)),
    "bernoulli into a transpose": lambda t: t.bernoulli(t.full((4, 5), 0.5), out=t.empty(5, 4).t()),
    "bernoulli_ of fewer chances": lambda t: t.ones(2, 3).bernoulli_(t.tensor([0.1, 0.5, 0.9])),
    "dropout of halves": lambda t: t.nn.functional.dropout(t.ones(20).half(), 0.3),
    "dropout of bfloat16": lambda t: t.nn.functional.dropout(t.ones(20).bfloat16(), 0.3),
    "rand of float": lambda t: t.rand(3, dtype=float),
    "randn of complex": lambda t: t.randn(3, dtype=complex),
    "randn, 20 and 15": lambda t: t.cat([t.randn(20), t.randn(15), t.randn(20)]),
    "a generator without a device": lambda t: t.rand(3, generator=t.Generator(None).manual_seed(3)),
    "fork_rng on meta keeps nothing": lambda t: _after_a_fork(t),
    "no generator of threads": lambda t: t.rand(3, generator=t.random.thread_safe_generator()),
}


def _after_a_fork(t):
    with t.random.fork_rng(device_type="meta"):
        t.rand(3)
    return t.rand(2)


@pytest.mark.parametrize("name", DRAWS)
def test_numbers_and_state_are_torchs(name):
    results, states = [], []
    for lib in (torch, funtorch):
        lib.manual_seed(3)
        found = DRAWS[name](lib)
        results.append(found)
        states.append(lib.get_rng_state().numpy())
    assert str(results[1].dtype) == str(results[0].dtype)
    assert results[1].stride() == results[0].stride()
    wide = "double" if not results[0].is_complex() else "resolve_conj"
    np.testing.assert_allclose(*(getattr(r, wide)().numpy() for r in results[::-1]), rtol=1e-6)
    np.testing.assert_array_equal(*states)


REFUSED = {
    "a generator of another kind": lambda t: t.rand(3, generator=3),
    "a generator of NumPy": lambda t: t.ones(3).normal_(generator=np.random.default_rng()),
    "no generator but its class": lambda t: t.multinomial(t.ones(3), 1, generator=t.Generator),
    "a dtype beside out": lambda t: t.randn(20, dtype=t.float64, out=t.empty(20)),
    "out of whole numbers": lambda t: t.randn(20, out=t.empty(20, dtype=t.int64)),
    "out that requires grad": lambda t: t.rand(3, out=t.empty(3, requires_grad=True)),
    "out that is no Tensor": lambda t: t.rand(3, out=[1, 2]),
    "rand of whole numbers": lambda t: t.rand(3, dtype=t.int64),
    "randn of bools": lambda t: t.randn(3, dtype=t.bool),
    "randint of floats": lambda t: t.randint(5.5, (3,)),
    "randint below a bool": lambda t: t.randint(True, (3,)),
    "randint past 64 bits": lambda t: t.randint(0, 2**63, (3,)),
    "randint of a bare size": lambda t: t.randint(0, 5, 3),
    "randperm of a bool": lambda t: t.randperm(True),
    "random_ of a float": lambda t: t.ones(3).random_(2.5),
    "uniform_ by another name": lambda t: t.ones(3).uniform_(a=2),
    "normal of shapes that don't fit": lambda t: t.normal(t.zeros(3), t.ones(2)),
    "normal with a size too many": lambda t: t.normal(t.zeros(3), t.ones(3), (3,)),
    "normal of complex std": lambda t: t.normal(0.0, t.ones(3, dtype=t.complex64)),
    "normal of a bare size": lambda t: t.normal(0.0, 1.0, 3),
    "normal_ of one place": lambda t: t.ones(1).expand(3).normal_(),
    "random_ of one place": lambda t: t.ones(1).expand(3).random_(),
    "bernoulli_ of one place": lambda t: t.ones(3).expand(2, 3).bernoulli_(0.5),
    "bernoulli of whole numbers": lambda t: t.bernoulli(t.ones(3, dtype=t.int64)),
    "bernoulli of a list": lambda t: t.bernoulli([0.2, 0.4]),
    "bernoulli_ of whole chances": lambda t: t.ones(3).bernoulli_(t.tensor([1, 0, 1])),
    "bernoulli_ of chances that don't fit": lambda t: t.ones(3).bernoulli_(t.tensor([0.1, 0.5])),
    "geometric_ of bools": lambda t: t.empty(3, dtype=t.bool).geometric_(0.3),
    "cauchy_ of whole numbers": lambda t: t.empty(3, dtype=t.int64).cauchy_(),
    "binomial of whole numbers": lambda t: t.binomial(t.ones(3, dtype=t.int64), t.ones(3, dtype=t.int64)),
    "rand_like of a number": lambda t: t.rand_like(3),
    "a seed that is a float": lambda t: t.Generator().manual_seed(1.5),
    "a state of floats": lambda t: t.Generator().set_state(t.zeros(5056)),
    "a state that is no Tensor": lambda t: t.Generator().set_state(np.zeros(5056, np.uint8)),
    "an offset": lambda t: t.Generator().get_offset(),
    "a state for graphs": lambda t: t.Generator().graphsafe_get_state(),
    "fork_rng of no device": lambda t: t.random.fork_rng(device_type="nope").__enter__(),
    **{f"bernoulli_ of {kind}": lambda t, kind=kind: t.empty(3, dtype=getattr(t, kind)).bernoulli_() for kind in NARROW},
    **{f"geometric_ of {kind}": lambda t, kind=kind: t.empty(3, dtype=getattr(t, kind)).geometric_(0.4) for kind in NARROW},
}


@pytest.mark.parametrize("name", REFUSED)
def test_refused_as_torch_does(name, refuse):
    refuse(REFUSED[name], words=False)


def test_python_types_are_the_wide_ones():
    for kind, name in ((float, "float64"), (complex, "complex128"), (int, "int64"), (bool, "bool")):
        for make in (
            lambda t, kind=kind: t.zeros(2, dtype=kind),
            lambda t, kind=kind: t.ones(2, dtype=t.bool).to(kind),
            lambda t, kind=kind: t.tensor([1], dtype=kind),
            lambda t, kind=kind: t.ones(2, dtype=t.bool).sum(dtype=kind) if kind is not bool else t.zeros(1, dtype=kind),
        ):
            assert [str(make(t).dtype) for t in (torch, funtorch)] == [f"torch.{name}"] * 2
    assert funtorch.promote_types(float, funtorch.int32) is funtorch.float64
    assert not funtorch.can_cast(float, int)
    assert funtorch.nn.Linear(2, 2).to(float).weight.dtype is funtorch.float64
