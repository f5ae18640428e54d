"""Other parameters and states in an optimiser for a while, beside PyTorch's."""

from __future__ import annotations

import copy

import numpy as np
import pytest
import torch

import funtorch

LIBS = (torch, funtorch)


def made(lib):
    p = [lib.nn.Parameter(lib.ones(2, dtype=lib.float64)), lib.nn.Parameter(lib.ones(1, dtype=lib.float64))]
    optimizer = lib.optim.Adam([{"params": p[:1]}, {"params": p[1:], "lr": 0.5}], lr=0.1)
    for each in p:
        each.grad = lib.ones_like(each)
    optimizer.step()
    others = {name: lib.zeros_like(each).requires_grad_() for name, each in zip("ab", p, strict=True)}
    for each in others.values():
        each.grad = lib.ones_like(each)
    return p, optimizer, others, copy.deepcopy(optimizer.state_dict())


def test_a_step_moves_the_others():
    ends = []
    for lib in LIBS:
        p, optimizer, others, state = made(lib)
        state["param_groups"][0]["lr"] = 0.3
        groups, held = optimizer.param_groups, optimizer.state
        before = [each.detach().clone() for each in p]
        with lib.optim.swap_in_optimizer_params_and_state(optimizer, others, state) as nothing:
            assert nothing is None
            assert [g["params"][0] is each for g, each in zip(optimizer.param_groups, others.values(), strict=True)] == [
                True,
                True,
            ]
            optimizer.step()
            optimizer.state[others["a"]]["more"] = 1
        assert optimizer.param_groups is groups
        assert optimizer.state is held
        assert all((a == b).all() for a, b in zip(p, before, strict=True))
        assert "more" not in state["state"][0]
        ends.append(
            [each.detach().numpy() for each in (*others.values(), state["state"][0]["exp_avg"], state["state"][1]["step"])]
        )
    for ours, theirs in zip(ends[1], ends[0], strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-9)


def test_its_own_come_back_after_an_error():
    _, optimizer, others, state = made(funtorch)
    groups = optimizer.param_groups
    with pytest.raises(KeyError), funtorch.optim.swap_in_optimizer_params_and_state(optimizer, others, state):
        raise KeyError
    assert optimizer.param_groups is groups


@pytest.mark.parametrize("fault", ["new", "fewer", "groups"])
def test_what_is_refused(fault):
    for lib in LIBS:
        _, optimizer, others, state = made(lib)
        if fault == "new":
            optimizer.state.clear()
        elif fault == "fewer":
            others.pop("b")
        else:
            state["param_groups"] *= 2
        with pytest.raises(RuntimeError), lib.optim.swap_in_optimizer_params_and_state(optimizer, others, state):
            pass
