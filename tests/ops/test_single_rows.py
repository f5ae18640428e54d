"""Products of a single row, mapped over: computed with a second row of zeros where the matrix is large."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import funtorch
from funtorch.ops.linear import OUTER

ROWS, INNER, OUTPUTS = 5, 300, 256


def gradients(framework, form: str) -> list[np.ndarray]:
    """Per-sample values and gradients of both operands, and second derivatives."""
    rng = np.random.default_rng(0)
    x, w = (framework.from_numpy(rng.normal(size=s)) for s in ((ROWS, INNER), (OUTPUTS, INNER)))
    product = {
        "linear": lambda x, w: framework.nn.functional.linear(x.unsqueeze(0), w),
        "vector": lambda x, w: framework.nn.functional.linear(x, w),
        "matmul": lambda x, w: x.view(1, -1) @ w.t(),
    }[form]

    def loss(w, x):
        return product(x, w).sin().sum()

    func = framework.func
    first = func.vmap(func.grad(loss, argnums=(0, 1)), in_dims=(None, 0))(w, x)
    second = func.vmap(func.grad(lambda x, w: func.grad(loss, argnums=1)(w, x).square().sum()), in_dims=(0, None))(x, w)
    return [z.numpy() for z in (func.vmap(loss, in_dims=(None, 0))(w, x), *first, second)]


@pytest.mark.parametrize("form", ["linear", "vector", "matmul"])
def test_values_and_derivatives(form: str) -> None:
    assert OUTPUTS * INNER >= OUTER
    for ours, theirs in zip(gradients(funtorch, form), gradients(torch, form), strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-10, atol=1e-10)
