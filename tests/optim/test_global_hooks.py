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


@BOTH
def test_hooks_get_the_optimiser_among_the_arguments_and_may_replace_them(t):
    p = t.nn.Parameter(t.tensor([1.0]))
    optimizer = t.optim.SGD([p], lr=0.25)
    seen = []
    handles = [
        optimizer.register_step_pre_hook(lambda o, args, kwargs: ((o, lambda: t.tensor(5.0)), {})),
        optimizer.register_step_post_hook(lambda o, args, kwargs: seen.append((args[0] is o, len(args), kwargs))),
    ]
    assert optimizer.step().item() == 5.0 and seen == [(True, 2, {})]
    for handle in handles:
        handle.remove()
    optimizer.register_step_pre_hook(lambda o, args, kwargs: 3)
    with pytest.raises(RuntimeError, match="must return None or a tuple of"):
        optimizer.step()


@BOTH
def test_an_optimiser_with_the_helpers_of_torchs_own(t):
    helpers = importlib.import_module(f"{t.__name__}.optim.optimizer")

    class Descent(t.optim.Optimizer):
        def __init__(self, params, lr, differentiable=False):
            super().__init__(params, {"lr": lr, "differentiable": differentiable})

        @helpers._use_grad_for_differentiable
        def step(self, closure=None):
            self._accelerator_graph_capture_health_check()
            for group in self.param_groups:
                params = group["params"]
                parts = self._group_tensors_by_device_and_dtype([params, [p.grad for p in params]])
                for (some, grads), _ in parts.values():
                    for p, g in zip(some, grads, strict=True):
                        p.add_(g, alpha=-helpers._get_value(t.tensor(group["lr"])))
            return t.is_grad_enabled()

    p = t.nn.Parameter(t.tensor([1.0]))
    p.grad = t.tensor([2.0])
    assert Descent([p], 0.25).step() is False and p.item() == 0.5
    x = t.ones(1, requires_grad=True)
    w = x.clone()
    w.grad = 3 * x
    assert Descent([w], 0.25, differentiable=True).step() is True
    w.sum().backward()
    assert x.grad.item() == 0.25
    assert helpers._default_to_fused_or_foreach([p], False) == (False, False)
    assert Descent.step.hooked if t is funtorch else True


def test_steps_and_zeroing_have_names_in_a_profile():
    p = funtorch.nn.Parameter(funtorch.ones(1))
    optimizer = funtorch.optim.SGD([p])
    with funtorch.profiler.profile() as profile:
        optimizer.step()
        optimizer.zero_grad()
    names = {event.key for event in profile.key_averages() if event.key.startswith("Optimizer.")}
    assert names == {"Optimizer.step#SGD.step", "Optimizer.zero_grad#SGD.zero_grad"}
