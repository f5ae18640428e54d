"""What distributions share, beside PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import funtorch
from funtorch.distributions import utils

CASES: dict[str, Any] = {
    "numbers": lambda u, lib: u.broadcast_all(1, 2.0),
    "number and tensor": lambda u, lib: u.broadcast_all(1, lib.zeros(2, 1, dtype=lib.float64)),
    "tensors": lambda u, lib: u.broadcast_all(lib.zeros(3), lib.zeros(2, 1), True),
    "integers": lambda u, lib: u.broadcast_all(lib.arange(3), 2.5),
    "neither": lambda u, lib: u.broadcast_all("a", 1),
    "shapes": lambda u, lib: u.broadcast_all(lib.zeros(3), lib.zeros(2)),
    "logits": lambda u, lib: u.probs_to_logits(lib.tensor([0.0, 0.3, 1.0])),
    "binary logits": lambda u, lib: u.probs_to_logits(lib.tensor([0.0, 0.3, 1.0], dtype=lib.float64), is_binary=True),
    "probs": lambda u, lib: u.logits_to_probs(lib.tensor([0.0, 0.3, 1.0])),
    "binary probs": lambda u, lib: u.logits_to_probs(lib.tensor([0.0, 0.3, 1.0]), is_binary=True),
    "clamped": lambda u, lib: u.clamp_probs(lib.tensor([0.0, 0.3, 1.0])),
    "sum": lambda u, lib: [u._sum_rightmost(lib.ones(2, 3, 4), n) for n in range(4)],
    "triangle": lambda u, lib: [u.tril_matrix_to_vec(lib.arange(9.0).reshape(3, 3), n) for n in (-2, -1, 0, 1, 2)],
    "no diagonal": lambda u, lib: u.tril_matrix_to_vec(lib.zeros(3, 3), 3),
    "matrix": lambda u, lib: [u.vec_to_tril_matrix(lib.arange(1.0, 7.0).expand(2, 6), n) for n in (-2, -1, 0)],
    "no triangle": lambda u, lib: u.vec_to_tril_matrix(lib.zeros(5)),
    "constant": lambda u, lib: u.euler_constant,
}


@pytest.mark.parametrize("name", CASES)
def test_helpers(name: str, same: Any):
    def run(lib: Any) -> Any:
        found = CASES[name](lib.distributions.utils, lib)
        return list(found) if isinstance(found, tuple) else found

    same(run, 1e-6)


@pytest.mark.parametrize("diag", [-2, -1, 0, 1, 2])
@pytest.mark.parametrize("n", [3, 4, 6])
def test_triangles_round_trip(n: int, diag: int):
    matrix = funtorch.rand(2, n, n).tril(diag)
    assert utils.vec_to_tril_matrix(utils.tril_matrix_to_vec(matrix, diag), diag).equal(matrix)


def test_gradient_through_a_triangle():
    vec = funtorch.arange(3.0, requires_grad=True)
    (utils.vec_to_tril_matrix(vec) ** 2).sum().backward()
    np.testing.assert_allclose(vec.grad.numpy(), [0, 2, 4])
