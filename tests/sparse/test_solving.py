"""Linear systems with a sparse matrix, and the checks of what it is made of."""

from __future__ import annotations

import numpy as np
import pytest

import funtorch


def system():
    rng = np.random.default_rng(0)
    a = np.where(rng.random((6, 6)) < 0.4, rng.random((6, 6)), 0) + 3 * np.eye(6)
    return a, rng.random((6, 2))


@pytest.mark.parametrize("columns", [slice(None), 0])
def test_a_solution_and_its_gradients_are_those_of_the_dense_matrix(columns):
    a, b = system()
    found = {}
    for solve, convert in ((funtorch.sparse.spsolve, lambda x: x.to_sparse_csr()), (funtorch.linalg.solve, lambda x: x)):
        matrix = funtorch.tensor(a, requires_grad=True)
        right = funtorch.tensor(b[:, columns], requires_grad=True)
        x = solve(convert(matrix), right)
        x.pow(2).sum().backward()
        found[solve] = (x.detach().numpy(), np.where(a, matrix.grad.numpy(), 0), right.grad.numpy())
    for ours, wanted in zip(*found.values(), strict=True):
        np.testing.assert_allclose(ours, wanted, atol=1e-12)


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda s, b: (s.to_sparse_coo(), b), "layout torch.sparse_csr"),
        (lambda s, b: (s, b[:3]), "expected sizes"),
        (lambda s, b: (s, b.float()), "float32 or of float64"),
    ],
)
def test_what_does_not_fit_is_refused(make, text):
    a, b = system()
    with pytest.raises(RuntimeError, match=text):
        funtorch.sparse.spsolve(*make(funtorch.tensor(a).to_sparse_csr(), funtorch.tensor(b)))


def test_checks_are_switched_off_and_on():
    invariants = funtorch.sparse.check_sparse_tensor_invariants

    def outside():
        return funtorch.sparse_coo_tensor([[9]], [1.0], (2,))

    assert invariants.is_enabled()
    with invariants(False):
        assert not invariants.is_enabled()
        assert outside()._nnz() == 1
        with pytest.raises(RuntimeError, match="found index 9"):
            invariants()(outside)()
    with pytest.raises(RuntimeError, match="found index 9"):
        outside()
    invariants.disable()
    assert funtorch.sparse_csr_tensor([0, 1], [9], [1.0], (1, 2))._nnz() == 1
    invariants.enable()
    with pytest.raises(RuntimeError, match="is not satisfied"):
        funtorch.sparse_csr_tensor([0, 1], [9], [1.0], (1, 2))
