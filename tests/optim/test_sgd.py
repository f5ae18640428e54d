"""SGD beside PyTorch's, option by option."""

from __future__ import annotations

import pytest

OPTIONS = [
    {}, {"lr": 0.1}, {"momentum": 0.9}, {"momentum": 0.9, "dampening": 0.5}, {"momentum": 0.9, "nesterov": True}, {"weight_decay": 0.2},
    {"momentum": 0.5, "weight_decay": 0.1, "maximize": True}, {"foreach": True}, {"fused": True}, {"lr": 0.1, "momentum": 0.9, "nesterov": True, "weight_decay": 0.1},
]  # fmt: skip
REFUSED = [
    {"lr": -0.5},
    {"momentum": -0.5},
    {"weight_decay": -0.5},
    {"nesterov": True},
    {"nesterov": True, "momentum": 0.9, "dampening": 0.5},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_twenty_steps(options, same_steps):
    same_steps("SGD", options)


def test_complex_parameters(same_steps):
    same_steps("SGD", {"momentum": 0.9, "weight_decay": 0.1}, dtype="complex128")


def test_single_precision(same_steps):
    same_steps("SGD", {"momentum": 0.9}, dtype="float32", tolerance=2e-6)


def test_a_rate_that_is_a_tensor(same_steps):
    same_steps("SGD", lambda lib: {"lr": lib.tensor(0.25), "momentum": 0.9})


def test_states_of_either_library_go_on_in_the_other(crossing):
    crossing("SGD", {"momentum": 0.9, "dampening": 0.3})


@pytest.mark.parametrize(
    "options",
    [{"lr": 0.1}, {"lr": 0.1, "momentum": 0.9, "nesterov": True}, {"lr": 0.1, "momentum": 0.9, "weight_decay": 0.1}],
    ids=str,
)
def test_derivatives_through_a_step(options, same_derivatives):
    same_derivatives("SGD", options)


@pytest.mark.parametrize("options", REFUSED, ids=str)
def test_refused(options, same_error):
    same_error("SGD", options)


def test_rates_of_several_elements(same_error):
    same_error("SGD", lambda lib: {"lr": lib.tensor([0.1, 0.2])})
