"""Adagrad beside PyTorch's, option by option."""

from __future__ import annotations

import pytest

OPTIONS = [
    {}, {"lr": 0.1, "lr_decay": 0.3}, {"eps": 1e-3}, {"weight_decay": 0.2}, {"initial_accumulator_value": 0.5}, {"maximize": True},
    {"foreach": True}, {"fused": True},
]  # fmt: skip
REFUSED = [
    {"lr": -1},
    {"lr_decay": -1.0},
    {"weight_decay": -0.1},
    {"initial_accumulator_value": -0.1},
    {"eps": -1.0},
    {"fused": True, "differentiable": True},
    {"fused": True, "foreach": True},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_twenty_steps(options, same_steps):
    same_steps("Adagrad", options)


def test_complex_parameters_are_pairs(same_steps):
    same_steps("Adagrad", {"initial_accumulator_value": 0.5}, dtype="complex128")


def test_single_precision(same_steps):
    same_steps("Adagrad", {}, dtype="float32", tolerance=2e-6)


def test_a_rate_that_is_a_tensor(same_steps):
    same_steps("Adagrad", lambda lib: {"lr": lib.tensor(0.25)})


def test_states_of_either_library_go_on_in_the_other(crossing):
    crossing("Adagrad", {"initial_accumulator_value": 0.5})


def test_derivatives_through_a_step(same_derivatives):
    same_derivatives("Adagrad", {"lr": 0.1, "lr_decay": 0.1})


@pytest.mark.parametrize("options", REFUSED, ids=str)
def test_refused(options, same_error):
    same_error("Adagrad", options)
