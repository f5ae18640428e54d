"""SparseAdam's options, and the gradients that it refuses (see tests/sparse for the steps)."""

from __future__ import annotations

import pytest

import funtorch

REFUSED = [{"lr": 0.0}, {"lr": -1.0}, {"eps": 0.0}, {"betas": (1.0, 0.5)}, {"betas": (0.5, -0.1)}]


@pytest.mark.parametrize("options", REFUSED, ids=str)
def test_refused(options, same_error):
    same_error("SparseAdam", options)


def test_complex_parameters(same_error):
    same_error("SparseAdam", {}, params=lambda lib: [lib.nn.Parameter(lib.zeros(3, dtype=lib.complex64))])


def test_dense_gradients():
    p = funtorch.ones(2, requires_grad=True)
    optimizer = funtorch.optim.SparseAdam([p])
    optimizer.step()  # nothing to do yet
    p.grad = funtorch.ones(2)
    with pytest.raises(RuntimeError, match="SparseAdam does not support dense gradients, please consider Adam instead"):
        optimizer.step()
    assert p.tolist() == [1.0, 1.0]
