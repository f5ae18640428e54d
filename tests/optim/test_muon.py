"""Muon beside PyTorch's. Its iteration is in bfloat16, where the order of a sum can turn the last of 8 bits."""

from __future__ import annotations

import numpy as np
import pytest

import funtorch
from funtorch.optim._muon import orthogonal

SHAPES = ((3, 2), (2, 5), (4, 4))
OPTIONS = [
    {}, {"lr": 0.1}, {"weight_decay": 0.0}, {"momentum": 0.5}, {"nesterov": False}, {"ns_steps": 3}, {"adjust_lr_fn": "match_rms_adamw"},
    {"adjust_lr_fn": "original"}, {"ns_coefficients": (3.0, -4.0, 2.0)}, {"eps": 0.5},
]  # fmt: skip
REFUSED = [{"lr": -1.0}, {"momentum": -0.1}, {"weight_decay": -0.1}, {"adjust_lr_fn": "arbitrary"}]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_twenty_steps(options, same_steps):
    same_steps("Muon", options, shapes=SHAPES, tolerance=options.get("lr", 1e-3) * 0.02)


def test_a_rate_that_is_a_tensor(same_steps):
    same_steps("Muon", lambda lib: {"lr": lib.tensor(0.25)}, shapes=SHAPES, tolerance=5e-3)


def test_states_of_either_library_go_on_in_the_other(crossing):
    crossing("Muon", {}, shapes=SHAPES, tolerance=2e-5)


@pytest.mark.parametrize("shape", [(6, 4), (4, 6), (5, 5)])
def test_singular_values_come_near_one(shape):
    matrix = np.random.default_rng(0).standard_normal(shape)
    before, after = (
        np.linalg.svd(np.asarray(m, np.float64), compute_uv=False)
        for m in (matrix, orthogonal(matrix, (3.4445, -4.775, 2.0315), 5, 1e-7))
    )
    assert before.max() / before.min() > 2
    assert ((after > 0.6) & (after < 1.3)).all()


@pytest.mark.parametrize("options", REFUSED, ids=str)
def test_refused(options, same_error):
    same_error("Muon", options)


def test_only_matrices(same_error):
    same_error("Muon", {}, params=lambda lib: [lib.nn.Parameter(lib.zeros(3))])


def test_refused_when_it_steps():
    p = funtorch.zeros(2, 2, requires_grad=True)
    p.grad = funtorch.ones(2, 2)
    for options, text in (
        ({"ns_steps": 100}, "less than 100 .* 100"),
        ({"ns_coefficients": (1.0, 2.0)}, "exactly 3 values, got 2"),
    ):
        with pytest.raises(ValueError, match=text):
            funtorch.optim.Muon([p], **options).step()
    q = funtorch.zeros(2, 2, dtype=funtorch.complex64, requires_grad=True)
    q.grad = funtorch.ones(2, 2, dtype=funtorch.complex64)
    with pytest.raises(RuntimeError, match="Muon does not support complex parameters"):
        funtorch.optim.Muon([q]).step()
