"""Adam and AdamW beside PyTorch's, option by option."""

from __future__ import annotations

import pytest

import funtorch

OPTIONS = [
    {}, {"lr": 0.1, "betas": (0.5, 0.9)}, {"eps": 1e-3}, {"weight_decay": 0.2}, {"amsgrad": True}, {"maximize": True},
    {"amsgrad": True, "maximize": True, "weight_decay": 0.3}, {"foreach": True}, {"fused": True}, {"weight_decay": 0},
]  # fmt: skip
REFUSED = [{"lr": -1}, {"betas": (1.0, 0.5)}, {"betas": (0.5, -0.1)}, {"eps": -1.0}, {"weight_decay": -0.1}]
pytestmark = pytest.mark.parametrize("name", ["Adam", "AdamW"])


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_twenty_steps(name, options, same_steps):
    same_steps(name, options)


def test_decoupled_decay(name, same_steps):
    if name == "Adam":
        same_steps(name, {"weight_decay": 0.2, "decoupled_weight_decay": True})
    else:
        same_steps(name, {"weight_decay": 0.5, "lr": 0.2})


def test_complex_parameters_are_pairs(name, same_steps):
    same_steps(name, {"amsgrad": True, "weight_decay": 0.1}, dtype="complex128")


def test_single_precision(name, same_steps):
    same_steps(name, {}, dtype="float32", tolerance=2e-6)


def test_a_rate_that_is_a_tensor(name, same_steps):
    same_steps(name, lambda lib: {"lr": lib.tensor(0.25)}, tolerance=1e-7)


def test_states_of_either_library_go_on_in_the_other(name, crossing):
    crossing(name, {"amsgrad": True, "lr": 0.1})


@pytest.mark.parametrize("options", [{"lr": 0.1}, {"lr": 0.1, "amsgrad": True, "weight_decay": 0.1}], ids=str)
def test_derivatives_through_a_step(name, options, same_derivatives):
    same_derivatives(name, options)


@pytest.mark.parametrize("options", REFUSED, ids=str)
def test_refused(name, options, same_error):
    same_error(name, options)


def test_tensors_among_the_options(name, same_error):
    same_error(name, lambda lib: {"lr": lib.tensor([0.1, 0.2])})
    same_error(name, lambda lib: {"lr": lib.tensor(0.1), "foreach": True})
    same_error(name, lambda lib: {"betas": (lib.tensor(0.9), 0.99)})
    with pytest.raises(ValueError, match=r"betas\[0\] must be 1-element, got 2"):
        getattr(funtorch.optim, name)([funtorch.zeros(1)], betas=(funtorch.tensor([0.9, 0.8]), funtorch.tensor(0.99)))
