"""Dimensions rearranged by a pattern: PyTorch's results and errors."""

import numpy as np
import pytest
import torch
from torch.func import rearrange as theirs

import funtorch
from funtorch.func import rearrange

FITTING = [
    ("a b c -> c b a", {}), ("a b c -> a (b c)", {}), ("a b (c d) -> a b c d", {"c": 2}), ("a b (c d) -> (a c) b d", {"d": 2}),
    ("... c -> c ...", {}), ("a ... -> ... a", {}), ("a b c -> a 1 b c", {}), ("a b c -> a b c ()", {}), ("a b c->c a b", {}),
    ("... -> ...", {}), ("a b c -> (a b c)", {}), ("(a b) c d -> a b c d", {"a": 1, "b": 2}), ("a ... -> a (...)", {}),
    ("... (h w) -> w ... h", {"h": 2}),
]  # fmt: skip
OTHERS = [
    ("a b c -> a b", "only on one side"), ("a b -> b a", "must be equal to the number of dimensions"), ("a a c -> a c", "duplicate dimension 'a'"),
    ("a (b d) c -> a b d c", "cannot infer"), ("a b c -> (...) a", "only on one side"), ("a _ c -> a c", "Invalid axis identifier: _"),
    ("a b c", "single '->'"), ("a (b c -> a b c", "brackets"), ("a (...) -> a ...", "parentheses in the left side"),
]  # fmt: skip


@pytest.mark.parametrize("pattern, sizes", FITTING)
def test_as_torch(pattern, sizes):
    x = np.arange(24.0).reshape(2, 3, 4)
    np.testing.assert_array_equal(
        rearrange(funtorch.tensor(x), pattern, **sizes).numpy(), theirs(torch.tensor(x), pattern, **sizes).numpy()
    )


@pytest.mark.parametrize("pattern, words", OTHERS)
def test_patterns_that_do_not_fit(pattern, words):
    with pytest.raises(ValueError, match=words.replace("(", r"\(")):
        rearrange(funtorch.ones(2, 3, 4), pattern)
    with pytest.raises(Exception, match="."):
        theirs(torch.ones(2, 3, 4), pattern)


def test_sizes_that_do_not_fit():
    with pytest.raises(ValueError, match="does not evenly fit"):
        rearrange(funtorch.ones(2, 3), "a (b c) -> a b c", b=2)
    with pytest.raises(ValueError, match="h is not in the pattern"):
        rearrange(funtorch.ones(2, 3), "a b -> b a", h=2)


def test_gradients_and_transforms():
    x = funtorch.arange(6.0).reshape(2, 3).requires_grad_()
    (rearrange(x, "a b -> b a") * funtorch.arange(6.0).reshape(3, 2)).sum().backward()
    assert x.grad.tolist() == [[0, 2, 4], [1, 3, 5]]
    assert funtorch.vmap(lambda y: rearrange(y, "(a b) -> b a", a=3))(funtorch.ones(5, 6)).shape == (5, 2, 3)
    assert rearrange([x, x], "n a b -> a (n b)").shape == (2, 6)
