"""Rprop beside PyTorch's, option by option."""

from __future__ import annotations

import pytest

import funtorch

OPTIONS = [
    {}, {"lr": 0.1}, {"etas": (0.3, 2.0)}, {"step_sizes": (0.005, 0.02)}, {"maximize": True}, {"foreach": True},
]  # fmt: skip
REFUSED = [{"lr": -1}, {"etas": (1.5, 2.0)}, {"etas": (0.5, 0.9)}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_twenty_steps(options, same_steps):
    same_steps("Rprop", options)


def test_complex_parameters_are_pairs(same_steps):
    same_steps("Rprop", {"etas": (0.3, 2.0)}, dtype="complex128")


def test_single_precision(same_steps):
    same_steps("Rprop", {}, dtype="float32", tolerance=2e-6)


def test_a_rate_that_is_a_tensor(same_steps):
    same_steps("Rprop", lambda lib: {"lr": lib.tensor(0.25)})


def test_states_of_either_library_go_on_in_the_other(crossing):
    crossing("Rprop", {"etas": (0.3, 2.0)})


def test_derivatives_through_a_step(same_derivatives):
    same_derivatives("Rprop", {"lr": 0.1})


@pytest.mark.parametrize("lr", [0.01, funtorch.tensor(0.01)])
def test_a_schedule_does_not_keep_it_from_being_compiled(lr):
    weight = funtorch.nn.Parameter(funtorch.tensor([1.0, -2.0]))
    optimizer = funtorch.optim.Rprop([weight], lr=lr)
    schedule = funtorch.optim.lr_scheduler.ExponentialLR(optimizer, 0.5)

    @funtorch.compile
    def step():
        optimizer.zero_grad()
        (weight**2).sum().backward()
        optimizer.step()

    for _ in range(6):
        step()
        schedule.step()
    assert "3 compiled" in funtorch.compiler.explain(step).splitlines()[0]


@pytest.mark.parametrize("options", REFUSED, ids=str)
def test_refused(options, same_error):
    same_error("Rprop", options)
