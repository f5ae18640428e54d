"""Hooks on the steps of all optimisers, and optimisers that wrap another without calling ``__init__``."""

from __future__ import annotations

import importlib

import pytest
import torch

import funtorch

BOTH = pytest.mark.parametrize("t", [torch, funtorch], ids=["torch", "funtorch"])


@BOTH
def test_hooks_of_all_optimisers(t):
    seen = []
    first, second = t.nn.Linear(1, 1), t.nn.Linear(1, 1)
    optimizers = [t.optim.SGD(first.parameters(), lr=0.1), t.optim.Adam(second.parameters())]
    optimizers[0].register_step_pre_hook(lambda o, args, kwargs: seen.append("own before"))
    optimizers[0].register_step_post_hook(lambda o, args, kwargs: seen.append("own after"))
    of_all = importlib.import_module(f"{t.__name__}.optim.optimizer")
    before = of_all.register_optimizer_step_pre_hook(lambda o, args, kwargs: seen.append(f"before {type(o).__name__}"))
    after = of_all.register_optimizer_step_post_hook(lambda o, args, kwargs: seen.append(f"after {type(o).__name__}"))
    try:
        for optimizer in optimizers:
            optimizer.step()
    finally:
        before.remove()
        after.remove()
    optimizers[1].step()
    assert seen == ["before SGD", "own before", "own after", "after SGD", "before Adam", "after Adam"]


@BOTH
def test_a_wrapper_that_never_calls_init(t):
    class Twice(t.optim.Optimizer):
        def __init__(self, inner):
            self.inner, self.param_groups, self.state = inner, inner.param_groups, inner.state

        def step(self, closure=None):
            self.inner.step()
            return self.inner.step(closure)

    p = t.nn.Parameter(t.tensor([1.0]))
    p.grad = t.tensor([1.0])
    Twice(t.optim.SGD([p], lr=0.25)).step()
    assert p.item() == 0.5
