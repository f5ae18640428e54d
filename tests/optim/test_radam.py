"""RAdam beside PyTorch's, option by option."""

from __future__ import annotations

import pytest

import funtorch

OPTIONS = [
    {}, {"lr": 0.1, "betas": (0.5, 0.9)}, {"eps": 1e-3}, {"weight_decay": 0.2}, {"maximize": True}, {"betas": (0.9, 0.7)},
    {"weight_decay": 0.2, "decoupled_weight_decay": True}, {"foreach": True},
]  # fmt: skip
REFUSED = [{"lr": -1}, {"betas": (1.0, 0.5)}, {"betas": (0.5, -0.1)}, {"eps": -1.0}, {"weight_decay": -0.1}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_twenty_steps(options, same_steps):
    same_steps("RAdam", options)


def test_complex_parameters_are_pairs(same_steps):
    same_steps("RAdam", {"weight_decay": 0.1}, dtype="complex128")


def test_single_precision(same_steps):
    same_steps("RAdam", {}, dtype="float32", tolerance=2e-6)


def test_a_rate_that_is_a_tensor(same_steps):
    same_steps("RAdam", lambda lib: {"lr": lib.tensor(0.25)})


def test_states_of_either_library_go_on_in_the_other(crossing):
    crossing("RAdam", {"weight_decay": 0.1})


def test_derivatives_through_a_step(same_derivatives):
    same_derivatives("RAdam", {"lr": 0.1})


@pytest.mark.parametrize("options", REFUSED, ids=str)
def test_refused(options, same_error):
    same_error("RAdam", options)


@pytest.mark.parametrize("second", [0.5, 0.6, 0.7, 0.9])
def test_derivatives_are_finite_where_too_few_squares_are_ever_known(second):
    x = funtorch.ones(3, dtype=funtorch.float64, requires_grad=True)
    p = x.clone()
    optimizer = funtorch.optim.RAdam([p], lr=0.1, betas=(0.5, second), differentiable=True)
    for factor in (-1.0, 0.0, 1.0):
        (p.grad,) = funtorch.autograd.grad((factor * p**2).sum(), p, create_graph=True)
        optimizer.step()
    p.sum().backward()
    assert x.grad.isfinite().all() and (x.grad != 0).all()
