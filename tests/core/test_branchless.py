"""Choices by bits against NumPy's `where`: the same bits, for every type, shape and mask."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest

import funtorch
from funtorch.core.branchless import FEW, chosen, without

TYPES = [np.float32, np.float64, np.float16, ml_dtypes.bfloat16, np.int64, np.uint8, np.bool_, np.complex64, np.complex128]
SHAPES = [(0,), (3,), (FEW,), (FEW + 1,), (40, 50), (3, 4, 500)]


def values(shape: tuple, dtype: type, seed: int) -> np.ndarray:
    drawn = np.random.default_rng(seed).integers(-100, 100, shape).astype(np.float32)
    found = drawn.astype(dtype)
    if found.size > 4 and np.dtype(dtype).kind in "fcV":
        found.reshape(-1)[:4] = np.array([np.nan, np.inf, -np.inf, -0.0], np.float32).astype(dtype)
    return found


def mask_of(shape: tuple) -> np.ndarray:
    return np.random.default_rng(9).random(shape) < 0.5


@pytest.mark.parametrize("dtype", TYPES, ids=lambda dtype: np.dtype(dtype).name)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_choices_are_those_of_where(shape: tuple, dtype: type) -> None:
    mask, x, y = mask_of(shape), values(shape, dtype, 0), values(shape, dtype, 1)
    expected = np.where(mask, x, y)
    got = chosen(mask, x, y)
    assert got.dtype == expected.dtype
    assert got.tobytes() == expected.tobytes()
    assert without(mask, x).tobytes() == np.where(mask, np.zeros((), dtype), x).tobytes()


def test_arguments_that_broadcast_or_lie_otherwise_in_memory() -> None:
    mask, x, y = mask_of((40, 50)), values((40, 50), np.float32, 0), values((50,), np.float32, 1)
    zero = np.zeros((), np.float32)
    for arguments in ((mask, x, y), (mask, zero, x), (mask.T, x.T, zero), (mask, zero, zero), (mask[:, :1], x, zero)):
        got, expected = chosen(*arguments), np.where(*arguments)
        assert got.shape == expected.shape
        np.testing.assert_array_equal(got, expected)
    np.testing.assert_array_equal(without(mask.T, x.T), np.where(mask.T, zero, x.T))


@pytest.mark.parametrize("engine", ["host", "kernel"])
def test_the_gradient_of_relu_at_special_values(engine: str) -> None:
    x = np.resize(np.array([np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0, 1.0, -1.0], np.float32), 1000)
    cotangent = np.resize(np.array([np.nan, np.inf, -2.0], np.float32), 1000)
    with funtorch.set_engine(engine):
        z = funtorch.tensor(x, requires_grad=True)
        funtorch.relu(z).backward(funtorch.tensor(cotangent))
        np.testing.assert_array_equal(z.grad.numpy(), np.where(x <= 0, np.float32(0), cotangent))
