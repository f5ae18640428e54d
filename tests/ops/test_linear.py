"""Products of matrices and vectors, einsum and its kin: against PyTorch, errors too."""

import numpy as np
import pytest

import funtorch as torch

RNG = np.random.default_rng(0)


def draw(*shape):
    return RNG.standard_normal(shape)


A, B, U, V, W = draw(2, 3), draw(3, 4), draw(3), draw(3), draw(2)
S, T = draw(2, 2, 3), draw(2, 3, 4)

PRODUCTS = [
    (lambda t, x, y: (t.mm(x, y), x @ y, x.matmul(y)), A, B),
    (lambda t, x, y: (t.bmm(x, y), x @ y), S, T),
    (lambda t, x, y: (t.mv(x, y), x @ y), A, U),
    (lambda t, x, y: (t.dot(x, y), t.vdot(x, y), t.inner(x, y), x @ y), U, V),
    (lambda t, x, y: (x @ y, y.t() @ x.mT), S, B),
    (lambda t, x, y: x @ y, U, T),
    (lambda t, x, y: x[:, None] @ y, S, T),
    (lambda t, x, y: (t.outer(x, y), t.ger(x, y)), W, U),
    (lambda t, x, y: t.kron(x, y), A, T),
    (lambda t, x, y: (t.inner(x, y), t.inner(x, y.sum())), A, draw(5, 3)),
    (lambda t, x, y: (t.tensordot(x, y, 1), t.tensordot(x, y, ([0], [-2]))), A, T.transpose(1, 0, 2)),
    (lambda t, x, y: t.linalg.multi_dot([x, y, y.mT, x.mT[:, 0]]), A, B),
    (lambda t, x, y: t.nn.functional.linear(x, y.mT), S, B),
    (lambda t, x, y, b: t.nn.functional.linear(x, y.mT, b), S, B, draw(4)),
    (lambda t, x, y, w, b: t.nn.functional.bilinear(x, y, w, b), A, draw(2, 4), draw(5, 3, 4), draw(5)),
    (lambda t, x, y: (x.conj() @ y, t.vdot(x[0], y[:, 0])), A + 1j * draw(2, 3), B + 1j * draw(3, 4)),
]
ADDED = [
    (lambda t, b, x, y: (t.addmm(b, x, y), b.addmm(x, y, beta=2, alpha=0.5)), draw(2, 4), A, B),
    (lambda t, b, x, y: (t.addmv(b, x, y), b.addmv(x, y, beta=0)), W, A, U),
    (lambda t, b, x, y: t.addr(b, x, y, alpha=3), draw(2, 3), W, U),
    (lambda t, b, x, y: (t.baddbmm(b, x, y), t.addbmm(b, x, y, beta=0.5)), draw(2, 4), S, T),
]
EQUATIONS = [
    ("ij,jk->ik", A, B), ("ij,jk", A, B), ("ij->ji", A), ("ii->i", draw(3, 3)), ("ii", draw(3, 3)), ("ij->", A),
    ("bij,bjk->bik", S, T), ("...j,jk->...k", S, B), ("bij,jk,k->b", S, B, draw(4)), ("i,j->ji", U, W), (" ij , jk ", A, B),
    ("ij,ij->i", A, draw(2, 1)), ("b...,b...->...", S, S), ("Ab,bC->AC", A, B),
]  # fmt: skip


@pytest.mark.parametrize("case", PRODUCTS + ADDED, ids=lambda case: str(len(case)))
def test_products_agree(case, agree):
    agree(*case)


@pytest.mark.parametrize("equation", EQUATIONS, ids=lambda case: case[0])
def test_einsum_agrees(equation, agree):
    agree(lambda t, *xs: t.einsum(equation[0], *xs), *equation[1:])


def test_einsum_of_lists_of_numbers_agrees(agree):
    agree(lambda t, x, y: (t.einsum(x, [0, 1], y, [1, 2]), t.einsum(x, [0, 1], y, [1, 2], [2, 0])), A, B)


def test_integers_and_in_place_forms_agree(agree):
    whole = np.arange(6).reshape(2, 3)
    agree(lambda t, x: (x @ x.T, t.outer(x[0], x[1]), t.addmm(x @ x.T, x, x.T, alpha=2)), whole)
    agree(lambda t, x, y: t.zeros(2, 4, dtype=t.float64).addmm_(x, y).addmm_(x, y, beta=2), A, B, grad=False)


def test_a_beta_of_zero_does_not_read_the_input():
    spoiled = torch.full((2, 4), float("nan"), dtype=torch.float64)
    assert torch.addmm(spoiled, torch.tensor(A), torch.tensor(B), beta=0).isfinite().all().item()


def test_halves_are_added_up_in_float32():
    ones = torch.ones(1, 4096, dtype=torch.bfloat16)
    assert torch.mm(ones, ones.t()).item() == 4096  # stops at 256 if added up in bfloat16


def _x(t, *shape, kind="float32"):
    return t.zeros(*shape, dtype=getattr(t, kind))


REFUSED = [
    lambda t: t.mm(_x(t, 2, 3), _x(t, 4, 5)),
    lambda t: t.mm(_x(t, 3), _x(t, 4, 5)),
    lambda t: t.mm(_x(t, 3, 4), _x(t, 4)),
    lambda t: t.mm(_x(t, 2, 3), _x(t, 3, 5, kind="float64")),
    lambda t: t.mm(_x(t, 2, 3, kind="bool"), _x(t, 3, 5, kind="bool")),
    lambda t: t.matmul(t.tensor(1.0), _x(t, 4, 5)),
    lambda t: t.matmul(_x(t, 2, 3, 4), _x(t, 5, 6)),
    lambda t: t.matmul(_x(t, 2, 3, 4), _x(t, 5)),
    lambda t: t.matmul(_x(t, 2, 3, 4), _x(t, 2, 5, 6)),
    lambda t: t.matmul(_x(t, 2, 3, 4), _x(t, 3, 4, 6)),
    lambda t: t.bmm(_x(t, 2, 3, 4), _x(t, 2, 5, 6)),
    lambda t: t.bmm(_x(t, 3, 4), _x(t, 2, 5, 6)),
    lambda t: t.mv(_x(t, 2, 3), _x(t, 4)),
    lambda t: t.mv(_x(t, 2, 3), _x(t, 4, 2)),
    lambda t: t.dot(_x(t, 3), _x(t, 4)),
    lambda t: t.dot(_x(t, 3, 2), _x(t, 4)),
    lambda t: t.dot(_x(t, 3), _x(t, 3, kind="float64")),
    lambda t: t.outer(_x(t, 3, 2), _x(t, 4)),
    lambda t: t.inner(_x(t, 3, 2), _x(t, 4)),
    lambda t: t.addmm(_x(t, 2, 3), _x(t, 2, 3), _x(t, 4, 5)),
    lambda t: t.addmm(_x(t, 3, 3), _x(t, 2, 3), _x(t, 3, 5)),
    lambda t: t.addmm(_x(t, 2, 5), _x(t, 2, 3), _x(t, 3)),
    lambda t: t.addmv(_x(t, 3), _x(t, 2, 3), _x(t, 3)),
    lambda t: t.addr(_x(t, 3, 4), _x(t, 2), _x(t, 5)),
    lambda t: t.baddbmm(_x(t, 2, 4, 6), _x(t, 2, 3, 4), _x(t, 2, 4, 6)),
    lambda t: t.nn.functional.linear(_x(t, 2, 3), _x(t, 4, 5)),
    lambda t: t.nn.functional.linear(_x(t, 2, 3), _x(t, 4, 3), _x(t, 5)),
    lambda t: t.nn.functional.bilinear(_x(t, 2, 3), _x(t, 3, 4), _x(t, 5, 3, 4)),
    lambda t: t.einsum("ij,jk->ik", _x(t, 2, 3), _x(t, 4, 5)),
    lambda t: t.einsum("ij,jk->ik", _x(t, 2, 3)),
    lambda t: t.einsum("ij->ik", _x(t, 2, 3)),
    lambda t: t.einsum("ijk->ik", _x(t, 2, 3)),
    lambda t: t.einsum("i,j->iji", _x(t, 2), _x(t, 3)),
    lambda t: t.einsum("i1->i", _x(t, 2, 3)),
    lambda t: t.einsum("ij->ij"),
    lambda t: t.tensordot(_x(t, 2, 3), _x(t, 4, 5), dims=1),
    lambda t: t.tensordot(_x(t, 2, 3), _x(t, 4, 5), dims=-1),
    lambda t: t.linalg.multi_dot([_x(t, 2, 3), _x(t, 4, 5)]),
]


@pytest.mark.parametrize("wrong", REFUSED)
def test_wrong_sizes_and_types_raise_as_in_torch(wrong, refuse):
    refuse(wrong)
