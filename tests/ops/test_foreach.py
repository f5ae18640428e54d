"""Ops on lists of Tensors beside PyTorch's, apart and in place."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import funtorch
from funtorch.ops import foreach

LIBS = (torch, funtorch)


def lists(lib, low=0.1, high=0.9):
    rng = np.random.default_rng(0)
    return [[lib.tensor(rng.uniform(low, high, shape)) for shape in ((2, 2), (3,), ())] for _ in range(3)]


def both(name, args_of):
    """The results apart and in place, in both libraries."""
    for form in (name, f"{name}_"):
        if not hasattr(torch, f"_foreach_{form}"):
            continue
        seen = []
        for lib in LIBS:
            first, *rest = lists(lib)
            args, named = args_of(lib, *rest)
            result = getattr(lib, f"_foreach_{form}")(first, *args, **named)
            seen.append(([x.numpy() for x in result], [x.numpy() for x in first], type(result)))
        for mine, theirs in zip(seen[1][0] + seen[1][1], seen[0][0] + seen[0][1], strict=True):
            assert mine.dtype == theirs.dtype
            np.testing.assert_allclose(mine, theirs, rtol=1e-12)
        assert seen[1][2] is seen[0][2]


@pytest.mark.parametrize("name", foreach._UNARY)
def test_of_one_list(name):
    both(name, lambda lib, a, b: ((), {}))


@pytest.mark.parametrize("name", foreach._BINARY)
def test_with_an_operand(name):
    both(name, lambda lib, a, b: ((a,), {}))
    both(name, lambda lib, a, b: ((0.5,), {}))
    both(name, lambda lib, a, b: (([0.5, 2.0, 1.5],), {}))
    if name in ("add", "sub"):
        both(name, lambda lib, a, b: ((a,), {"alpha": 3}))


@pytest.mark.parametrize("name", ["addcmul", "addcdiv"])
def test_products(name):
    for value in (lambda lib: 1, lambda lib: 0.5, lambda lib: [1.0, 2.0, 3.0], lambda lib: lib.tensor([1.0, 2.0, 3.0])):
        both(name, lambda lib, a, b, value=value: ((a, b, value(lib)), {}))


def test_others():
    both("lerp", lambda lib, a, b: ((a, 0.3), {}))
    both("lerp", lambda lib, a, b: ((a, b), {}))
    both("clone", lambda lib, a, b: ((), {}))
    both("zero", lambda lib, a, b: ((), {}))
    both("copy", lambda lib, a, b: ((a,), {}))
    both("norm", lambda lib, a, b: ((1,), {}))
    matrices = [[lib.ones(2, 3)] for lib in LIBS], [[lib.ones(3, 1)] for lib in LIBS]
    assert [x.tolist() for x in funtorch._foreach_mm(matrices[0][1], matrices[1][1])] == [
        x.tolist() for x in torch._foreach_mm(matrices[0][0], matrices[1][0])
    ]


@pytest.mark.parametrize(
    "call",
    [
        lambda lib, xs: lib._foreach_max(xs), lambda lib, xs: lib._foreach_powsum(xs), lambda lib, xs: lib._foreach_powsum(xs, 3),
        lambda lib, xs: lib._foreach_powsum([lib.ones(2)], 1, dtype=lib.float64), lambda lib, xs: lib._foreach_pow(2.0, xs),
        lambda lib, xs: lib._foreach_norm([lib.ones(2)], dtype=lib.float64), lambda lib, xs: lib._foreach_norm(xs, 1),
    ],
)  # fmt: skip
def test_reductions_and_powers_of_one_number(call):
    mine, theirs = (call(lib, lists(lib)[0]) for lib in (funtorch, torch))
    assert type(mine) is type(theirs)
    for a, b in zip(mine, theirs, strict=True):
        assert str(a.dtype) == str(b.dtype)
        np.testing.assert_allclose(a.numpy(), b.numpy(), rtol=1e-12)


def test_errors_and_gradients():
    for lib in LIBS:
        with pytest.raises(RuntimeError, match="same number of tensors, got 2 and 1"):
            lib._foreach_add([lib.ones(1)] * 2, [lib.ones(1)])
        with pytest.raises(RuntimeError, match="at least one tensor"):
            lib._foreach_abs([])
    x = funtorch.tensor([2.0], requires_grad=True)
    funtorch._foreach_mul([x, x], [3.0, 4.0])[1].backward()
    assert x.grad.item() == 4
    with pytest.raises(RuntimeError, match="leaf Variable"):
        funtorch._foreach_add_([x], 1)


def test_a_shape_as_a_tensor():
    mine, theirs = (lib._shape_as_tensor(lib.zeros(2, 3)) for lib in LIBS)
    assert mine.tolist() == theirs.tolist()
    assert str(mine.dtype) == str(theirs.dtype)
