"""make_tensor draws what PyTorch's draws from the same seed."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import funtorch

KINDS = ["float32", "float64", "float16", "bfloat16", "complex64", "int64", "int8", "uint8", "bool"]
OPTIONS = {
    "plain": {},
    "bounds": {"low": 0, "high": 5},
    "apart": {"noncontiguous": True},
    "without zero": {"exclude_zero": True, "low": -1, "high": 2},
}


@pytest.mark.parametrize("name", OPTIONS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_same_values(kind, name):
    made = []
    for t in (torch, funtorch):
        t.manual_seed(3)
        made.append(t.testing.make_tensor((3, 20), dtype=getattr(t, kind), device="cpu", **OPTIONS[name]))
    expected, got = made
    assert got.stride() == expected.stride() and str(got.dtype) == str(expected.dtype)
    np.testing.assert_array_equal(got.to(funtorch.complex128).numpy(), expected.to(torch.complex128).numpy())


def test_shapes_and_gradients():
    make = funtorch.testing.make_tensor
    assert make(2, 3, dtype=funtorch.float32, device="cpu").shape == (2, 3)
    x = make((), dtype=funtorch.float64, device="cpu", requires_grad=True)
    assert x.shape == () and x.requires_grad and x.is_leaf


@pytest.mark.parametrize(
    "options",
    [{"low": 3, "high": 2}, {"low": float("nan")}, {"noncontiguous": True, "memory_format": funtorch.contiguous_format}],
)
def test_wrong_options(options):
    with pytest.raises(ValueError, match="make_tensor"):
        funtorch.testing.make_tensor(3, dtype=funtorch.float32, device="cpu", **options)
    with pytest.raises(ValueError, match="requires_grad"):
        funtorch.testing.make_tensor(3, dtype=funtorch.int64, device="cpu", requires_grad=True)
