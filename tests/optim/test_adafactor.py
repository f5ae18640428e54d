"""Adafactor beside PyTorch's, option by option."""

from __future__ import annotations

import pytest

import funtorch

OPTIONS = [
    {}, {"lr": 0.1}, {"beta2_decay": -0.3}, {"eps": (1e-6, 0.2)}, {"d": 2.0}, {"weight_decay": 0.3}, {"maximize": True}, {"foreach": False},
    {"lr": 5.0, "weight_decay": 0.01},
]  # fmt: skip
REFUSED = [{"lr": -1.0}, {"beta2_decay": 0.8}, {"eps": (-1e-6, 0.2)}, {"eps": (None, -0.2)}, {"d": 0.0}, {"weight_decay": -1.0}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_twenty_steps(options, same_steps):
    same_steps("Adafactor", options)


def test_matrices_in_a_batch(same_steps):
    same_steps("Adafactor", {}, shapes=((2, 3, 4), (1, 5), ()))


def test_single_precision(same_steps):
    same_steps("Adafactor", {}, dtype="float32", tolerance=2e-6)


def test_a_rate_that_is_a_tensor(same_steps):
    same_steps("Adafactor", lambda lib: {"lr": lib.tensor(0.25)})


def test_states_of_either_library_go_on_in_the_other(crossing):
    crossing("Adafactor", {"lr": 0.1})


def test_a_matrix_keeps_a_row_and_a_column():
    p = funtorch.zeros(3, 4, requires_grad=True)
    optimizer = funtorch.optim.Adafactor([p])
    p.grad = funtorch.ones(3, 4)
    optimizer.step()
    assert {k: tuple(v.shape) for k, v in optimizer.state[p].items()} == {"step": (), "row_var": (3, 1), "col_var": (1, 4)}


def test_complex_parameters_are_refused():
    p = funtorch.zeros(2, dtype=funtorch.complex64, requires_grad=True)
    optimizer = funtorch.optim.Adafactor([p])
    p.grad = funtorch.ones(2, dtype=funtorch.complex64)
    with pytest.raises(RuntimeError, match="Adafactor does not support complex parameters"):
        optimizer.step()


@pytest.mark.parametrize("options", REFUSED, ids=str)
def test_refused(options, same_error):
    same_error("Adafactor", options)
