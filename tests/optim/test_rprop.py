"""Rprop beside PyTorch's, option by option."""

from __future__ import annotations

import pytest

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


@pytest.mark.parametrize("options", REFUSED, ids=str)
def test_refused(options, same_error):
    same_error("Rprop", options)
