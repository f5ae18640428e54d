"""A Tensor as a Python number: the value, or the class of what is raised, as in PyTorch."""

import math
import operator

import pytest
import torch

import funtorch

ASKED = {
    "float": float, "int": int, "complex": complex, "bool": bool, "index": operator.index, "item": lambda t: t.item(),
    "isfinite": math.isfinite,
}  # fmt: skip
MADE = {
    "one": lambda t: t.tensor([2]), "float": lambda t: t.tensor(2.5), "truth": lambda t: t.tensor(True),
    "several": lambda t: t.ones(3), "none": lambda t: t.ones(0), "integers": lambda t: t.arange(4).reshape(2, 2),
    "imaginary": lambda t: t.tensor(1j), "real": lambda t: t.tensor(2 + 0j),
}  # fmt: skip


def told(lib, asked, made):
    try:
        return ASKED[asked](MADE[made](lib))
    except (RuntimeError, TypeError, ValueError) as error:
        return next(c for c in type(error).__mro__ if c.__module__ == "builtins")


@pytest.mark.parametrize("asked", ASKED)
@pytest.mark.parametrize("made", MADE)
def test_as_pytorch(asked, made):
    assert told(funtorch, asked, made) == told(torch, asked, made)
