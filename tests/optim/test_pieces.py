"""Small parameters computed together take the same steps as each by itself, which is PyTorch's."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import funtorch
from funtorch.optim.pieces import ENOUGH, SMALL, small_ones

SHAPES = [(3,), (2, 5), (1,), (4, 1, 3), (), (7, 2)] * 5 + [(130, 130)]  # the last one is large


def trained(framework, steps: int = 4, shapes=SHAPES, **options) -> tuple[list, object]:
    """Parameters after some steps of Adam, one of them without a gradient at first; and the optimiser."""
    rng = np.random.default_rng(0)
    params = [framework.nn.Parameter(framework.from_numpy(np.array(rng.normal(size=s)))) for s in shapes]
    optimizer = framework.optim.Adam(params, lr=0.1, **options)
    for step in range(steps):
        for number, p in enumerate(params):
            p.grad = None if not step and number == 2 else framework.from_numpy(np.array(rng.normal(size=tuple(p.shape))))
        optimizer.step()
    return params, optimizer


@pytest.mark.parametrize("options", [{}, {"amsgrad": True}, {"weight_decay": 0.1}, {"maximize": True, "betas": (0.5, 0.6)}])
def test_steps_are_pytorchs(options: dict) -> None:
    (ours, mine), (theirs, its) = trained(funtorch, **options), trained(torch, **options)
    for a, b in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(a.detach().numpy(), b.detach().numpy(), rtol=1e-9, atol=1e-12)
        for key, value in its.state[b].items():
            np.testing.assert_allclose(mine.state[a][key].numpy(), value.numpy(), rtol=1e-9, atol=1e-12)


def test_they_are_joined_where_there_are_enough() -> None:
    params, _ = trained(funtorch, steps=1)
    for p in params:
        p.grad = funtorch.zeros_like(p)
    grads = [p.grad for p in params]
    assert len(small_ones(params, grads)) == len(SHAPES) - 1 >= ENOUGH
    assert params[-1].numel() > SMALL
    assert small_ones(params[: ENOUGH - 1], grads[: ENOUGH - 1]) == []


def test_results_stay_apart() -> None:
    """A write to one parameter changes no other, and a step changes no values that were taken before it."""
    params, optimizer = trained(funtorch)
    before = [p.detach().numpy().copy() for p in params]
    with funtorch.no_grad():
        params[0].add_(1)
    for p, value in zip(params[1:], before[1:], strict=True):
        np.testing.assert_array_equal(p.detach().numpy(), value)
    taken, shown = params[3].detach().clone(), params[3].detach().numpy()
    optimizer.step()
    np.testing.assert_array_equal(taken.numpy(), before[3])
    assert not np.array_equal(shown, before[3])
    np.testing.assert_array_equal(shown, params[3].tolist())


def test_the_version_counts() -> None:
    params, optimizer = trained(funtorch)
    version = params[0]._version
    optimizer.step()
    assert params[0]._version == version + 1
