"""Linear algebra against torch: values, gradients, singular and degenerate input, errors."""

import numpy as np
import pytest

import funtorch

RNG = np.random.default_rng(0)
A = RNG.normal(size=(2, 3, 3))
TALL, WIDE = RNG.normal(size=(4, 3)), RNG.normal(size=(2, 3, 5))
SYMMETRIC = A + A.swapaxes(-1, -2)
POSITIVE = A @ A.swapaxes(-1, -2) + np.eye(3)
C = RNG.normal(size=(3, 3)) + 1j * RNG.normal(size=(3, 3))
B = RNG.normal(size=(2, 3, 2))

CASES = {
    "inv": (lambda t, a: t.linalg.inv(a), A), "solve": (lambda t, a, b: t.linalg.solve(a, b), A, B),
    "solve vectors": (lambda t, a, b: t.linalg.solve(a, b), A, RNG.normal(size=(2, 3))),
    "solve from the right": (lambda t, a, b: t.linalg.solve(a, b.mT, left=False), A, B), "det": (lambda t, a: t.linalg.det(a), A),
    "slogdet": (lambda t, a: t.linalg.slogdet(a)[1], C), "logdet": (lambda t, a: t.logdet(a), POSITIVE),
    "cholesky": (lambda t, a: t.linalg.cholesky(a), POSITIVE), "cholesky upper": (lambda t, a: t.linalg.cholesky(a, upper=True), POSITIVE),
    "cholesky reads one triangle": (lambda t, a: t.linalg.cholesky(a.tril()), POSITIVE),
    "cholesky_solve": (lambda t, a, b: t.cholesky_solve(b, t.linalg.cholesky(a)), POSITIVE, B),
    "cholesky_inverse": (lambda t, a: t.cholesky_inverse(t.linalg.cholesky(a)), POSITIVE),
    "triangular": (lambda t, a, b: t.linalg.solve_triangular(a, b, upper=False, unitriangular=True), A, B),
    "triangular, converted": (lambda t, a, b: t.linalg.solve_triangular(a.float(), b, upper=False), np.array([[2.0, 0.0], [1.0, 4.0]]), np.array([[2.0], [5.0]])),
    "triangular_solve": (lambda t, a, b: t.triangular_solve(b, a, transpose=True)[0], A, B),
    "lu": (lambda t, a: t.linalg.lu(a)[1:], WIDE), "lu_factor": (lambda t, a: t.linalg.lu_factor(a), A),
    "lu_solve": (lambda t, a, b: t.linalg.lu_solve(*t.linalg.lu_factor(a), b, adjoint=True), A, B),
    "lu_unpack": (lambda t, a: t.lu_unpack(*t.linalg.lu_factor(a)), A), "qr": (lambda t, a: t.linalg.qr(a), TALL),
    "qr wide": (lambda t, a: t.linalg.qr(a), WIDE), "qr r": (lambda t, a: t.linalg.qr(a.detach(), "r")[1], TALL),
    "svdvals": (lambda t, a: t.linalg.svdvals(a), WIDE),
    "svd": (lambda t, a: (lambda u, s, v: (u.abs(), s, v.abs()))(*t.linalg.svd(a, full_matrices=False)), WIDE),
    "svd of full matrices": (lambda t, a: (lambda u, s, v: (u[..., :3].abs(), s))(*t.linalg.svd(a)), TALL),
    "eigh": (lambda t, a: (lambda w, v: (w, v.abs()))(*t.linalg.eigh(a)), SYMMETRIC), "eigvalsh": (lambda t, a: t.linalg.eigvalsh(a, "U"), SYMMETRIC),
    "eig": (lambda t, a: (lambda w, v: (w.abs().sort()[0], v.abs().sum(-1)))(*t.linalg.eig(a)), C), "eigvals": (lambda t, a: t.linalg.eigvals(a).abs().sort()[0], A),
    "pinv": (lambda t, a: t.linalg.pinv(a), WIDE), "pinv hermitian": (lambda t, a: t.linalg.pinv(a, hermitian=True), SYMMETRIC),
    "pinv of low rank": (lambda t, a: t.linalg.pinv(a.detach(), rtol=0.5), TALL), "matrix_rank": (lambda t, a: t.linalg.matrix_rank(a), np.diag([1.0, 2.0, 0.0])),
    "lstsq": (lambda t, a, b: t.linalg.lstsq(a, b, driver="gelsd")[:2], TALL, RNG.normal(size=(4, 2))),
    "matrix_power": (lambda t, a: (t.linalg.matrix_power(a, 3), t.linalg.matrix_power(a, -2), a.matrix_power(0)), A),
    "matrix_exp": (lambda t, a: t.linalg.matrix_exp(a), A), "multi_dot": (lambda t, a, b: t.linalg.multi_dot([a[0], b[0]]), A, B),
    "householder_product": (lambda t, a, tau: t.linalg.householder_product(a, tau), TALL, RNG.normal(size=3)),
    "ormqr": (lambda t, a, tau, x: t.ormqr(a, tau, x, True, True), TALL, RNG.normal(size=3), RNG.normal(size=(4, 2))),
    "geqrf": (lambda t, a: t.geqrf(a.detach()), TALL), "tensorinv": (lambda t, a: t.linalg.tensorinv(a.reshape(3, 3), ind=1), A[0]),
    "tensorsolve": (lambda t, a, b: t.linalg.tensorsolve(a, b), A[0], RNG.normal(size=3)),
    "norms": (lambda t, a: [t.linalg.norm(a, p, dim=(0, 1)) for p in ("fro", "nuc", 1, -1, 2, -2, float("inf"), -float("inf"))], WIDE),
    "vector norms": (lambda t, a: [t.linalg.vector_norm(a, p, dim=1) for p in (0, 1, 2, 2.5, float("inf"), -float("inf"))], WIDE),
    "norm": (lambda t, a: (t.linalg.norm(a), t.linalg.norm(a, dim=1), t.linalg.matrix_norm(a, keepdim=True)), WIDE),
    "cond": (lambda t, a: [t.linalg.cond(a, p) for p in (None, -2)] + [t.linalg.cond(a.detach(), p) for p in (1, "fro")], A), "vander": (lambda t, a: t.linalg.vander(a, N=4), TALL),
    "cross": (lambda t, a, b: t.linalg.cross(a, b[..., 0]), A[:, 0], B), "vecdot": (lambda t, a: t.linalg.vecdot(a, a + 1j, dim=0), C),
    "diagonal": (lambda t, a: t.linalg.diagonal(a, offset=1), WIDE),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_value_and_gradient(agree, name: str) -> None:
    agree(*CASES[name])


ZERO = {
    "norm": lambda t, a: t.linalg.norm(a), "spectral norm of equal values": lambda t, a: t.linalg.matrix_norm(a + t.eye(3), 2), "det": lambda t, a: t.linalg.det(a),
    "singular values": lambda t, a: t.linalg.svd(a)[1], "eigenvalues": lambda t, a: t.linalg.eigh(a)[0],
}  # fmt: skip


@pytest.mark.parametrize("name", ZERO)
def test_gradient_at_degenerate_matrices(agree, name: str) -> None:
    agree(ZERO[name], np.zeros((3, 3)))


def test_no_finite_gradient_passes_for_right_where_eigenvalues_are_equal() -> None:
    a = funtorch.eye(3, dtype=funtorch.float64, requires_grad=True)
    w, v = funtorch.linalg.eigh(a)
    (v @ funtorch.diag(w**2) @ v.mT).sum().backward()
    assert not a.grad.isfinite().all()


SINGULAR = np.stack([np.eye(2), np.zeros((2, 2))])
FAILURES = {
    "inv": (lambda t, a: t.linalg.inv(a[1]), SINGULAR), "inv of a batch": (lambda t, a: t.linalg.inv(a), SINGULAR),
    "inverse": (lambda t, a: a.inverse(), SINGULAR), "inv of wide": (lambda t, a: t.linalg.inv(a), WIDE), "inv of a vector": (lambda t, a: t.linalg.inv(a), B[0, 0]),
    "inv of ints": (lambda t, a: t.linalg.inv(a.long()), A), "solve": (lambda t, a: t.linalg.solve(a, a), SINGULAR),
    "solve sizes": (lambda t, a, b: t.linalg.solve(a, b[:, :2]), A, B), "solve batches": (lambda t, a: t.linalg.solve(a, a[:, None].repeat(1, 3, 1, 1)), SINGULAR),
    "cholesky": (lambda t, a: t.linalg.cholesky(-a), SINGULAR), "cholesky, second minor": (lambda t, a: t.linalg.cholesky(a), np.array([[1.0, 2.0], [2.0, 1.0]])),
    "cholesky of infinities": (lambda t, a: t.linalg.cholesky(a), np.full((2, 2), np.inf)), "old cholesky": (lambda t, a: t.cholesky(-a[0]), SINGULAR), "lu_factor": (lambda t, a: t.linalg.lu_factor(a), SINGULAR),
    "svd of nan": (lambda t, a: t.linalg.svd(a * float("nan")), A), "eig of nan": (lambda t, a: t.linalg.eig(a * float("nan")), A),
    "eigh": (lambda t, a: t.linalg.eigh(a, "X"), A), "qr": (lambda t, a: t.linalg.qr(a, "full"), A), "lstsq": (lambda t, a, b: t.linalg.lstsq(a, b), TALL, B), "lstsq sizes": (lambda t, a, b: t.linalg.lstsq(a, b[0]), TALL, B),
    "matrix_norm": (lambda t, a: t.linalg.matrix_norm(a, 3), A), "norm": (lambda t, a: t.linalg.norm(a, 2), A),
    "vector_norm of none": (lambda t, a: t.linalg.vector_norm(a[:0], float("inf")), B[0, 0]), "cond": (lambda t, a: t.linalg.cond(a, 1), WIDE),
    "cross": (lambda t, a: t.linalg.cross(a, a), B[0]), "vander": (lambda t, a: t.linalg.vander(a, N=1), B[0]), "tensorinv": (lambda t, a: t.linalg.tensorinv(a, 0), A),
    "householder_product": (lambda t, a, tau: t.linalg.householder_product(a, tau), TALL, B.reshape(-1)), "matrix_power": (lambda t, a: t.linalg.matrix_power(a, 1.5), A),
}  # fmt: skip


@pytest.mark.parametrize("name", FAILURES)
def test_errors_are_torchs(refuse, name: str) -> None:
    refuse(*FAILURES[name])


def test_a_singular_matrix_is_a_linalg_error() -> None:
    with pytest.raises(funtorch.linalg.LinAlgError, match="diagonal element 1 is zero"):
        funtorch.linalg.inv(funtorch.zeros(2, 2))
    assert funtorch.linalg.inv_ex(funtorch.zeros(2, 2)).info.item() == 1
    assert funtorch.linalg.cholesky_ex(funtorch.tensor([[1.0, 2.0], [2.0, 1.0]])).info.item() == 2


def test_factors_under_vmap() -> None:
    a = funtorch.tensor(POSITIVE)
    for f in (
        funtorch.linalg.cholesky,
        funtorch.linalg.inv,
        lambda x: funtorch.linalg.lu_factor(x)[0],
        lambda x: funtorch.linalg.matrix_power(x, -1),
    ):
        np.testing.assert_allclose(funtorch.vmap(f)(a).numpy(), f(a).numpy(), rtol=1e-12)
