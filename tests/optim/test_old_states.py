"""States that an older version saved, or that a subclass completes; and groups that are the user's own dicts."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

import funtorch

LIBS = (torch, funtorch)
LATER = (
    "amsgrad",
    "capturable",
    "centered",
    "decoupled_weight_decay",
    "differentiable",
    "foreach",
    "fused",
    "maximize",
    "nesterov",
)
NAMES = ["SGD", "Adam", "AdamW", "Adadelta", "Adagrad", "Adamax", "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop"]


def made(lib, name, **options):
    p = lib.nn.Parameter(lib.tensor([1.0, 2.0], dtype=lib.float64))
    return p, getattr(lib.optim, name)([p], lr=0.1, **options)


def walk(lib, p, optimizer, steps=3):
    for step in range(steps):
        p.grad = lib.tensor([0.5, -1.0], dtype=lib.float64) * (step + 1)
        optimizer.step()


@pytest.mark.parametrize("name", NAMES)
def test_options_that_are_missing_and_counters_that_are_numbers(name):
    ends = []
    for lib in LIBS:
        p, optimizer = made(lib, name, maximize=True)
        walk(lib, p, optimizer)
        saved = copy.deepcopy(optimizer.state_dict())
        for key in LATER:
            saved["param_groups"][0].pop(key, None)
        for state in saved["state"].values():
            if "step" in state:
                state["step"] = int(state["step"].item())
        q, other = made(lib, name, maximize=True)
        other.load_state_dict(saved)
        walk(lib, q, other)
        group = {key: value or None for key, value in other.param_groups[0].items() if key != "params"}
        ends.append((group, [float(s["step"]) for s in other.state.values() if "step" in s], q.detach().numpy()))
    assert ends[1][:2] == ends[0][:2]
    np.testing.assert_allclose(ends[1][2], ends[0][2], rtol=1e-8)


def test_a_subclass_completes_what_it_loads():
    for lib in LIBS:

        class Descent(lib.optim.Optimizer):
            def __init__(self, params):
                super().__init__(params, {"lr": 0.1})

            def __setstate__(self, state):
                super().__setstate__(state)
                for group in self.param_groups:
                    group.setdefault("nesterov", False)

        optimizer = Descent([lib.ones(2)])
        optimizer.register_step_pre_hook(print)
        optimizer.load_state_dict(optimizer.state_dict())
        assert optimizer.param_groups[0]["nesterov"] is False
        assert len(optimizer._optimizer_step_pre_hooks) == 1  # which loading leaves as they are
        assert len(copy.deepcopy(optimizer)._optimizer_step_pre_hooks) == 0


def test_a_group_is_the_dict_that_was_given():
    for lib in LIBS:
        group = {"params": [lib.nn.Parameter(lib.ones(1))]}
        optimizer = lib.optim.SGD([group], lr=0.1)
        group["lr"] = 0.5
        assert optimizer.param_groups[0]["lr"] == 0.5
        with pytest.raises(TypeError, match="param_group must be a dict, but got <class "):
            lib.optim.SGD([{"params": []}, lib.ones(1)])
