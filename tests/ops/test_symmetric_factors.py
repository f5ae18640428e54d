"""LDL factors and solutions from them, and a few eigenpairs of large symmetric matrices."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
import torch as oracle

import funtorch

KINDS = ["float32", "float64", "complex64", "complex128"]
CLOSE = {"float32": 1e-4, "complex64": 1e-4, "float64": 1e-10, "complex128": 1e-10}


def matrices(kind, shape=(2, 5, 5), hermitian=False):
    rng = np.random.default_rng(1)
    a = rng.standard_normal(shape)
    if kind.startswith("complex"):
        a = a + 1j * rng.standard_normal(shape)
    turned = np.swapaxes(a, -1, -2)
    return (a + (turned.conj() if hermitian else turned)).astype(kind)


@pytest.mark.parametrize("hermitian", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_factors_and_solutions_are_pytorchs(kind, hermitian):
    a, b = matrices(kind, hermitian=hermitian), matrices(kind)[:, :, :3]
    found = funtorch.linalg.ldl_factor_ex(funtorch.tensor(a), hermitian=hermitian)
    wanted = oracle.linalg.ldl_factor_ex(oracle.tensor(a), hermitian=hermitian)
    np.testing.assert_allclose(found.LD.numpy(), wanted.LD.numpy(), rtol=CLOSE[kind], atol=CLOSE[kind])
    assert found.pivots.tolist() == wanted.pivots.tolist()
    assert found.info.tolist() == [0, 0]
    x = funtorch.linalg.ldl_solve(found.LD, found.pivots, funtorch.tensor(b), hermitian=hermitian)
    np.testing.assert_allclose(a @ x.numpy(), b, atol=100 * CLOSE[kind])


def test_a_matrix_with_a_zero_diagonal_has_a_block_of_two():
    found = funtorch.linalg.ldl_factor(funtorch.tensor([[0.0, 1.0], [1.0, 0.0]]))
    assert found.LD.tolist() == [[0.0, 0.0], [1.0, 0.0]]
    assert found.pivots.tolist() == [-2, -2]
    assert found.pivots.dtype is funtorch.int32


def test_it_is_mapped_compiled_and_broadcast():
    a, b = funtorch.tensor(matrices("float64")), funtorch.tensor(matrices("float64")[0])

    def solution(m):
        return funtorch.linalg.ldl_solve(*funtorch.linalg.ldl_factor(m), b)

    wanted = np.linalg.solve(a.numpy(), b.numpy())
    np.testing.assert_allclose(solution(a).numpy(), wanted, atol=1e-12)
    np.testing.assert_allclose(funtorch.vmap(solution)(a).numpy(), wanted, atol=1e-12)
    compiled = funtorch.compile(solution)
    for _ in range(3):
        np.testing.assert_allclose(compiled(a).numpy(), wanted, atol=1e-12)


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: funtorch.linalg.ldl_factor(funtorch.zeros(2, 3)), "must be batches of square matrices"),
        (lambda: funtorch.linalg.ldl_factor(funtorch.zeros(2, 2, dtype=funtorch.int64)), "Expected a floating point"),
        (lambda: funtorch.linalg.ldl_factor(funtorch.zeros(2, 2)), "the matrix is singular"),
        (lambda: funtorch.linalg.ldl_factor(funtorch.eye(2, requires_grad=True)), "derivative for 'linalg_ldl_factor_ex' is not"),
        (lambda: solve(pivots=[1]), "LD.shape"),
        (lambda: solve(pivots=[1.0, 2.0]), "pivots to be integers"),
        (lambda: solve(b=funtorch.ones(3, 1)), "Incompatible matrix sizes"),
        (lambda: solve(b=funtorch.ones(2, 1).double()), "does not match b dtype"),
        (lambda: solve(b=funtorch.ones(2)), "at least 2 dimensions"),
    ],
)
def test_what_does_not_fit_is_refused(call, text):
    with pytest.raises(RuntimeError, match=text):
        call()


def solve(pivots=(1, 2), b=None):
    return funtorch.linalg.ldl_solve(funtorch.eye(2), funtorch.tensor(pivots), funtorch.ones(2, 1) if b is None else b)


def positive(n=40):
    a = np.random.default_rng(0).standard_normal((n, n))
    return a @ a.T + n * np.eye(n)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("form", ["dense", "sparse", "differentiated"])
def test_lobpcg_finds_the_extreme_pairs(form, largest):
    a = positive()
    given = funtorch.tensor(a, requires_grad=form == "differentiated")
    values, vectors = funtorch.lobpcg(given.to_sparse() if form == "sparse" else given, k=3, largest=largest)
    wanted = np.linalg.eigvalsh(a)
    np.testing.assert_allclose(values.detach().numpy(), wanted[::-1][:3] if largest else wanted[:3], rtol=1e-9)
    x = vectors.detach().numpy()
    np.testing.assert_allclose(a @ x, x * values.detach().numpy(), atol=1e-4)
    if form == "differentiated":
        values.sum().backward()
        np.testing.assert_allclose(given.grad.numpy(), x @ x.T, atol=1e-9)


def test_lobpcg_solves_the_generalised_problem_from_a_start_with_a_preconditioner():
    a, b = positive(), np.diag(np.random.default_rng(2).random(40) + 1)
    start = funtorch.tensor(np.random.default_rng(3).standard_normal((40, 4)))
    inverse = funtorch.tensor(np.linalg.inv(a))
    values, vectors = funtorch.lobpcg(funtorch.tensor(a), k=2, B=funtorch.tensor(b), X=start, iK=inverse, largest=False)
    np.testing.assert_allclose(values.numpy(), scipy.linalg.eigh(a, b)[0][:2], rtol=1e-9)
    assert vectors.shape == (40, 2)


def test_lobpcg_refuses_what_it_cannot_do():
    with pytest.raises(ValueError, match="at least 3 times"):
        funtorch.lobpcg(funtorch.eye(5), k=2)
    with pytest.raises(RuntimeError, match="square"):
        funtorch.lobpcg(funtorch.ones(5, 6))
    with pytest.raises(NotImplementedError, match="gradients of a sparse matrix"):
        funtorch.lobpcg(funtorch.eye(9).to_sparse().requires_grad_())
    with pytest.raises(ValueError, match="'basic' or 'ortho'"):
        funtorch.lobpcg(funtorch.eye(9), method="other")
