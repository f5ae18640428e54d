"""NAdam beside PyTorch's, option by option."""

from __future__ import annotations

import pytest

OPTIONS = [
    {}, {"lr": 0.1, "betas": (0.5, 0.9)}, {"eps": 1e-3}, {"weight_decay": 0.2}, {"momentum_decay": 0.1}, {"maximize": True},
    {"weight_decay": 0.2, "decoupled_weight_decay": True}, {"foreach": True},
]  # fmt: skip
REFUSED = [
    {"lr": -1},
    {"betas": (1.0, 0.5)},
    {"betas": (0.5, -0.1)},
    {"eps": -1.0},
    {"weight_decay": -0.1},
    {"momentum_decay": -0.1},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_twenty_steps(options, same_steps):
    same_steps("NAdam", options)


def test_complex_parameters_are_pairs(same_steps):
    same_steps("NAdam", {"weight_decay": 0.1}, dtype="complex128")


def test_single_precision(same_steps):
    same_steps("NAdam", {}, dtype="float32", tolerance=2e-6)


def test_a_rate_that_is_a_tensor(same_steps):  # with which PyTorch reckons in single precision
    same_steps("NAdam", lambda lib: {"lr": lib.tensor(0.25)}, tolerance=1e-6)


def test_states_of_either_library_go_on_in_the_other(crossing):
    crossing("NAdam", {"weight_decay": 0.1})


def test_derivatives_through_a_step(same_derivatives):
    same_derivatives("NAdam", {"lr": 0.1})


@pytest.mark.parametrize("options", REFUSED, ids=str)
def test_refused(options, same_error):
    same_error("NAdam", options)
