"""Gradients of convolutions as functions, against PyTorch's."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import funtorch

CASES = [
    (1, {}),
    (1, {"stride": 2, "padding": 1}),
    (2, {"padding": (1, 0), "dilation": 2}),
    (2, {"stride": 2, "groups": 2}),
    (3, {"padding": 1}),
]


@pytest.mark.parametrize(("dims", "options"), CASES)
def test_both_gradients(dims, options):
    rng = np.random.default_rng(0)
    x, w = rng.normal(size=(2, 4, *(7,) * dims)), rng.normal(size=(6, 4 // options.get("groups", 1), *(3,) * dims))
    y = getattr(torch.nn.functional, f"conv{dims}d")(torch.tensor(x), torch.tensor(w), **options)
    g = rng.normal(size=y.shape)
    found = []
    for t in (torch, funtorch):
        to_input, to_weight = (getattr(t.nn.grad, f"conv{dims}d_{name}") for name in ("input", "weight"))
        found.append(
            (to_input(x.shape, t.tensor(w), t.tensor(g), **options), to_weight(t.tensor(x), w.shape, t.tensor(g), **options))
        )
    for expected, got in zip(*found, strict=True):
        np.testing.assert_allclose(got.numpy(), expected.numpy(), rtol=1e-9, atol=1e-9)


def test_they_are_differentiable():
    found = []
    for t in (torch, funtorch):
        w, g = (t.tensor(each, requires_grad=True) for each in (np.ones((2, 1, 3)) * 0.5, np.arange(10.0).reshape(1, 2, 5)))
        t.nn.grad.conv1d_input((1, 1, 7), w, g).pow(2).sum().backward()
        found.append((w.grad.numpy(), g.grad.numpy()))
    for expected, got in zip(*found, strict=True):
        np.testing.assert_allclose(got, expected, rtol=1e-9)
