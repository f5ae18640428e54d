"""assert_close against PyTorch's: what passes, what fails, and the message."""

from __future__ import annotations

import math
import re

import numpy as np
import pytest
import torch

import funtorch

SAME = {
    "equal": lambda t: (t.ones(3), t.ones(3)),
    "float32": lambda t: (t.ones(3), t.ones(3) * (1 + 1e-6)),
    "float64": lambda t: (t.ones(3).double(), t.ones(3).double() * (1 + 1e-7)),
    "half": lambda t: (t.ones(3).half(), t.ones(3).half() * 1.0009765625),
    "complex": lambda t: (t.tensor([1 + 2j]), t.tensor([1 + 2j]) * (1 + 1e-6)),
    "bool": lambda t: (t.tensor([True]), t.tensor([True])),
    "nested": lambda t: ({"a": [t.ones(2), 1.0]}, {"a": (t.ones(2), 1.0 + 1e-9)}),
    "none": lambda t: ([None], [None]),
    "numpy": lambda t: (np.ones(3), np.ones(3) + 1e-9),
    "numbers": lambda t: (3, 3),
    "infinite": lambda t: (t.tensor([math.inf]), t.tensor([math.inf])),
    "empty": lambda t: (t.ones(0), t.ones(0)),
}
DIFFERENT = {
    "far": lambda t: (t.tensor([1.0, 2.0, 3.0]), t.tensor([1.0, 2.5, 3.0])),
    "ints": lambda t: (t.tensor([[1, 2], [3, 4]]), t.tensor([[1, 2], [5, 4]])),
    "just too far": lambda t: (t.ones(3), t.ones(3) * (1 + 2e-5)),
    "nan": lambda t: (t.tensor([math.nan]), t.tensor([math.nan])),
    "dtype": lambda t: (t.ones(2), t.ones(2).double()),
    "shape": lambda t: (t.ones(2), t.ones(2, 1)),
    "numbers": lambda t: (1.0, 1.5),
    "int and float": lambda t: (1, 1.0),
    "length": lambda t: ([1, 2], [1]),
    "keys": lambda t: ({"a": 1}, {"b": 1}),
    "none": lambda t: (None, 1),
    "nested": lambda t: ({"a": [t.ones(2), 1.0]}, {"a": [t.ones(2), 2.0]}),
    "scalar": lambda t: (t.tensor(1.0), t.tensor(2.0)),
    "sign": lambda t: (t.tensor([math.inf]), t.tensor([-math.inf])),
}
LIKE_TORCH = ("far", "ints", "just too far", "dtype", "scalar", "numbers")


@pytest.mark.parametrize("t", [torch, funtorch], ids=["torch", "funtorch"])
@pytest.mark.parametrize("name", SAME)
def test_what_is_close(t, name):
    t.testing.assert_close(*SAME[name](t))


@pytest.mark.parametrize("t", [torch, funtorch], ids=["torch", "funtorch"])
@pytest.mark.parametrize("name", DIFFERENT)
def test_what_is_not(t, name):
    with pytest.raises(AssertionError):
        t.testing.assert_close(*DIFFERENT[name](t))


def rounded(text: str) -> str:
    return re.sub(r"\d+\.\d+(e-?\d+)?", lambda m: f"{float(m.group()):.3g}", text)


@pytest.mark.parametrize("name", LIKE_TORCH)
def test_messages_are_those_of_torch(name):
    texts = []
    for t in (torch, funtorch):
        with pytest.raises(AssertionError) as error:
            t.testing.assert_close(*DIFFERENT[name](t))
        texts.append(rounded(str(error.value)))
    assert texts[1] == texts[0]


def test_the_place_of_a_nested_difference():
    with pytest.raises(AssertionError, match=r"occurred for item \['a'\]\[1\]"):
        funtorch.testing.assert_close(*DIFFERENT["nested"](funtorch))


@pytest.mark.parametrize("t", [torch, funtorch], ids=["torch", "funtorch"])
def test_options(t):
    check = t.testing.assert_close
    check(t.ones(2), t.ones(2).double(), check_dtype=False)
    check(t.ones(2), t.ones(2) * 1.05, rtol=0.1, atol=0)
    check(t.tensor([math.nan, 1.0]), t.tensor([math.nan, 1.0]), equal_nan=True)
    check(t.ones(2, 3).T, t.ones(3, 2))
    check(t.ones(2).requires_grad_(), t.ones(2))
    with pytest.raises(AssertionError, match="stride"):
        check(t.ones(2, 3).T, t.ones(3, 2), check_stride=True)
    with pytest.raises(AssertionError, match="^mine$"):
        check(1.0, 2.0, msg="mine")
    with pytest.raises(AssertionError, match="^mine: Scalars"):
        check(1.0, 2.0, msg=lambda text: f"mine: {text}")
    with pytest.raises(ValueError):
        check(1.0, 2.0, rtol=0.1)
    with pytest.raises(TypeError):
        check(t.ones(1), [1.0])
    with pytest.raises(TypeError):
        check("a", "a")


def test_the_older_name():
    with pytest.warns(FutureWarning):
        funtorch.testing.assert_allclose([1.0, 2.0], funtorch.tensor([1.0, 2.0]).double())
    with pytest.warns(FutureWarning), pytest.raises(AssertionError):
        funtorch.testing.assert_allclose(1.0, 1.1)
