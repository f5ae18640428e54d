"""Ops whose result's size depends on values: right eagerly and compiled; traced or batched, the error names a sized alternative."""

import re
import warnings

import numpy as np
import pytest
import torch

import funtorch
from funtorch import transforms
from funtorch.errors import TracedValueError

X = [1.0, 0.0, 2.0, 0.0, 2.0]
I = [3, 1, 1, 0, 2]  # noqa: E741

STATIC, WHERE = "nonzero_static\\(x, size=n\\)", "nonzero_static\\(mask, size=n\\)"
FREE = {
    "nonzero": (lambda m, x, i: m.nonzero(x), STATIC),
    "nonzero as a tuple": (lambda m, x, i: x.nonzero(as_tuple=True)[0], STATIC),
    "where": (lambda m, x, i: m.where(x > 0)[0], STATIC),
    "argwhere": (lambda m, x, i: m.argwhere(x), STATIC),
    "masked_select": (lambda m, x, i: m.masked_select(x, x > 0), WHERE),
    "mask": (lambda m, x, i: x[x > 0], WHERE),
    "unique": (lambda m, x, i: m.unique(i), "unique\\(x, size=n\\)"),
    "unique along a dimension": (lambda m, x, i: i[:, None].unique(dim=0), "unique\\(x, size=n\\)"),
    "unique_consecutive": (lambda m, x, i: m.unique_consecutive(x), "unique_consecutive\\(x, size=n\\)"),
    "bincount": (lambda m, x, i: m.bincount(i), "bincount\\(x, size=n\\)"),
    "weighted bincount": (lambda m, x, i: i.bincount(x, minlength=9), "bincount\\(x, size=n\\)"),
    "repeat_interleave": (lambda m, x, i: x.repeat_interleave(i), "output_size=n"),
    "repeat_interleave of counts": (lambda m, x, i: m.repeat_interleave(i), "output_size=n"),
    "one_hot": (lambda m, x, i: m.nn.functional.one_hot(i), "give num_classes"),
}
# The same with a size, and what torch gives for it without.
SIZED = {
    "nonzero_static": (lambda x, i: funtorch.nonzero_static(x, size=5, fill_value=-1), [[0], [2], [4], [-1], [-1]]),
    "nonzero_static, fewer": (lambda x, i: x.nonzero_static(size=2), [[0], [2]]),
    "unique": (lambda x, i: i.unique(size=6), [0, 1, 2, 3, 0, 0]),
    "unique, filled": (lambda x, i: i.unique(size=6, fill_value=9), [0, 1, 2, 3, 9, 9]),
    "unique, counts": (lambda x, i: i.unique(return_counts=True, size=5)[1], [1, 2, 1, 1, 0]),
    "unique, inverse": (lambda x, i: i.unique(return_inverse=True, size=5)[1], [3, 1, 1, 0, 2]),
    "unique along a dimension": (lambda x, i: i[:, None].unique(dim=0, size=4), [[0], [1], [2], [3]]),
    "unique_consecutive": (lambda x, i: i.unique_consecutive(size=5, fill_value=-1), [3, 1, 0, 2, -1]),
    "unique_consecutive, inverse": (lambda x, i: i.unique_consecutive(True, size=4)[1], [0, 1, 1, 2, 3]),
    "unique_consecutive, counts": (lambda x, i: i.unique_consecutive(False, True, size=3)[1], [1, 2, 1]),
    "unique_consecutive along": (lambda x, i: i[:, None].unique_consecutive(dim=0, size=4), [[3], [1], [0], [2]]),
    "bincount": (lambda x, i: i.bincount(size=6), [1, 2, 1, 1, 0, 0]),
    "bincount, fewer": (lambda x, i: i.bincount(size=2), [1, 2]),
    "weighted bincount": (lambda x, i: i.bincount(x, size=4), [0, 2, 2, 1]),
    "repeat_interleave": (lambda x, i: x.repeat_interleave(i, output_size=7), [1, 1, 1, 0, 2, 2, 2]),
    "repeat_interleave of rows": (
        lambda x, i: x[:, None].repeat_interleave(i, 0, output_size=7),
        [[1], [1], [1], [0], [2], [2], [2]],
    ),
    "repeat_interleave of counts": (lambda x, i: funtorch.repeat_interleave(i, output_size=7), [0, 0, 0, 1, 2, 4, 4]),
    "one_hot": (lambda x, i: funtorch.nn.functional.one_hot(i, 4)[0], [0, 0, 0, 1]),
}


def arguments(module):
    return module.tensor(X), module.tensor(I)


# Where the number of places alone is decided on the host, a program is made; these run eagerly, and say so.
STAY_EAGER = ("unique", "repeat_interleave", "one_hot")


@pytest.mark.parametrize("name", FREE)
def test_eager_and_compiled_give_torch_s_results(name):
    f, alternative = FREE[name]
    want = f(torch, *arguments(torch))
    compiled = funtorch.compile(lambda x, i: f(funtorch, x, i))
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        for _ in range(4):
            for got in (f(funtorch, *arguments(funtorch)), compiled(*arguments(funtorch))):
                assert got.tolist() == want.tolist() and str(got.dtype) == str(want.dtype)
    eager = [w for w in caught if "stays eager" in str(w.message)]
    assert len(eager) == name.startswith(STAY_EAGER)
    assert all(re.search(alternative, str(w.message)) for w in eager)


@pytest.mark.parametrize("name", FREE)
def test_traced_and_batched_name_the_alternative(name):
    f, alternative = FREE[name]
    with pytest.raises(TracedValueError, match=alternative):
        transforms.jit(lambda x, i: f(funtorch, x, i))(*arguments(funtorch))
    with pytest.raises(TracedValueError, match=alternative):
        funtorch.vmap(lambda x, i: f(funtorch, x, i))(*(t[None] for t in arguments(funtorch)))


@pytest.mark.parametrize("name", SIZED)
def test_alternatives(name):
    f, want = SIZED[name]
    x, i = arguments(funtorch)
    assert f(x, i).tolist() == want
    assert transforms.jit(f)(x, i).tolist() == want
    assert funtorch.vmap(f)(x[None], i[None])[0].tolist() == want


def test_lanes_with_sizes_of_their_own():
    x = funtorch.tensor([[1, 1, 2], [3, 3, 3]])
    assert funtorch.vmap(lambda r: r.unique(size=2, fill_value=-1))(x).tolist() == [[1, 2], [3, -1]]
    assert funtorch.vmap(lambda r: r.bincount(size=4))(x).tolist() == [[0, 2, 1, 0], [0, 0, 0, 3]]


def test_gradients_pass_through_the_sized_forms():
    x, i = funtorch.tensor(X, dtype=funtorch.float64, requires_grad=True), funtorch.tensor(I)
    weights = funtorch.arange(7.0, dtype=funtorch.float64)
    (grad,) = funtorch.autograd.grad((x.repeat_interleave(i, output_size=7) * weights).sum(), x)
    assert grad.tolist() == [0 + 1 + 2, 3, 4, 0, 5 + 6]
    (grad,) = funtorch.autograd.grad((i.bincount(x, size=4) * weights[:4]).sum(), x)
    np.testing.assert_array_equal(grad.numpy(), I)


def test_output_size_must_fit_where_the_repeats_are_known():
    for module in (torch, funtorch):
        x, i = arguments(module)
        with pytest.raises(RuntimeError, match="does not match required size"):
            x.repeat_interleave(i, output_size=6)
