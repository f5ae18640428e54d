"""A few extreme eigenpairs of a large symmetric matrix, of which only products with blocks of vectors are asked.

The locally optimal block preconditioned conjugate gradient method (Knyazev, 2001, algorithm 5.1). The three blocks (vectors,
residuals, directions) are made orthonormal by QR in each iteration, which costs little beside the products, and is stable.
"""

from __future__ import annotations

from typing import Any

from ..core.state import state
from ..errors import ArgumentTypeError, ArgumentValueError, MissingError, OpError
from ..numbers_info import finfo
from ..tensor import Tensor
from .cholesky import cholesky
from .declare import function
from .joining import cat
from .orthogonal import qr
from .random import randn
from .spectra import eigh
from .triangles import solve_triangular

MOST = 1000  # iterations, where the caller doesn't say


def _check(a: Any, b: Any, k: int, n: int, method: str) -> None:
    if not isinstance(a, Tensor):
        raise ArgumentTypeError(f"lobpcg(): argument 'A' must be Tensor, not {type(a).__name__}")
    if a.dim() < 2 or a.shape[-1] != a.shape[-2]:
        raise OpError(f"lobpcg(): A must be batches of square matrices, got size {list(a.shape)}")
    if not a.is_floating_point():
        raise OpError(f"lobpcg(): expected a matrix of real floating-point numbers, got {a.dtype}")
    if b is not None and b.shape != a.shape:
        raise OpError(f"lobpcg(): B must have the size of A, {list(a.shape)}, got {list(b.shape)}")
    if method not in ("basic", "ortho"):
        raise ArgumentValueError(f"lobpcg(): method must be 'basic' or 'ortho', got {method!r}")
    if a.shape[-1] < 3 * n:
        raise ArgumentValueError(
            f"lobpcg(): the number of rows of A ({a.shape[-1]}) must be at least 3 times the number of vectors ({n}): use linalg.eigh"
        )
    if not 0 < k <= n:
        raise ArgumentValueError(f"lobpcg(): k must lie between 1 and n, got k={k}, n={n}")


def _ritz(product: Any, s: Tensor, b: Any, n: int, largest: bool) -> tuple[Tensor, Tensor]:
    """The best ``n`` values in the space of the columns of ``s``, and the coefficients of their vectors."""
    gram = s.mT @ product(s)
    gram = (gram + gram.mT) / 2
    if b is None:
        values, vectors = eigh(gram)
    else:
        values, vectors = _generalised(gram, s.mT @ (b @ s))
    if largest:
        return values[..., -n:].flip(-1), vectors[..., -n:].flip(-1)
    return values[..., :n], vectors[..., :n]


def _generalised(a: Tensor, b: Tensor) -> tuple[Tensor, Tensor]:
    """Eigenpairs of A x = e B x, by the Cholesky factor of B."""
    factor = cholesky((b + b.mT) / 2)
    half = solve_triangular(factor, a, upper=False)
    whole = solve_triangular(factor, half.mT, upper=False)
    values, vectors = eigh((whole + whole.mT) / 2)
    return values, solve_triangular(factor.mT, vectors, upper=True)


def _iterated(a: Tensor, b: Any, x: Tensor, preconditioner: Any, most: int, tol: float, largest: bool) -> tuple[Tensor, Tensor]:
    n = x.shape[-1]

    def product(v: Tensor) -> Tensor:
        return a @ v

    x = qr(x)[0]
    values, c = _ritz(product, x, b, n, largest)
    x = x @ c
    directions: Tensor | None = None
    scale = product(x).abs().amax(tuple(range(-2, 0)))
    for _ in range(most):
        residual = product(x) - (x if b is None else b @ x) * values.unsqueeze(-2)
        if bool((residual.abs().amax(tuple(range(-2, 0))) <= tol * scale.clamp_min(1e-30)).all()):
            break
        w = residual if preconditioner is None else preconditioner @ residual
        s = qr(cat([x, w] if directions is None else [x, w, directions], -1))[0]
        values, c = _ritz(product, s, b, n, largest)
        new = s @ c
        directions = new - x @ (x.mT @ (new if b is None else b @ new))
        x = new
    return values, x


@function()
def lobpcg(
    A: Any, k: int | None = None, B: Any = None, X: Any = None, n: int | None = None, iK: Any = None, niter: int | None = None,  # noqa: N803
    tol: float | None = None, largest: bool | None = None, method: str | None = None, tracker: None = None, ortho_iparams: Any = None,
    ortho_fparams: Any = None, ortho_bparams: Any = None,
) -> tuple[Tensor, Tensor]:  # fmt: skip
    """A few extreme eigenpairs of a symmetric matrix, or of A x = e B x.

    Args:
        A: (*, m, m), dense or (m, m) sparse. Gradients pass through a dense one, by its whole decomposition.
        k: how many pairs (1, or what ``X`` has columns).
        B: (*, m, m), positive definite; None for the identity.
        X: (*, m, n), where to begin; by default random.
        n: how many vectors move together (k).
        iK: (*, m, m), a preconditioner: about the inverse of A.
        niter, tol: the most iterations (1000), and the residual, relative to A, at which to stop (the root of the dtype's precision).
        largest: the largest values (default), or the smallest.
        method: "ortho" (default) or "basic": one algorithm here.
        tracker, ortho_iparams, ortho_fparams, ortho_bparams: None: they are for PyTorch's algorithm.

    Returns:
        Values (*, k), the extreme one first, and vectors (*, m, k).

    Raises:
        RuntimeError: other than square matrices of floats, or a sparse one that requires grad.
        ValueError: fewer than 3 n rows.
    """
    k = k if k is not None else (X.shape[-1] if X is not None else 1)
    n = n if n is not None else (X.shape[-1] if X is not None else k)
    _check(A, B, k, n, method or "ortho")
    largest = True if largest is None else largest
    if state.grad and (A.requires_grad or (B is not None and B.requires_grad)):
        return _whole(A, B, k, largest)
    tol = finfo(A.dtype).eps ** 0.5 if tol is None else tol
    start = randn(*A.shape[:-2], A.shape[-1], n, dtype=A.dtype, device=A.device) if X is None else X
    before, state.grad = state.grad, False
    try:
        values, vectors = _iterated(A, B, start, iK, MOST if niter is None else niter, tol, largest)
    finally:
        state.grad = before
    return values[..., :k], vectors[..., :k]


def _whole(a: Tensor, b: Any, k: int, largest: bool) -> tuple[Tensor, Tensor]:
    """The same from a whole decomposition, through which gradients pass."""
    if a._foreign or (b is not None and b._foreign):
        raise MissingError("lobpcg(): gradients of a sparse matrix are not there: detach it, or make it dense")
    a = (a + a.mT) / 2
    values, vectors = eigh(a) if b is None else _generalised(a, b)
    if largest:
        values, vectors = values.flip(-1), vectors.flip(-1)
    return values[..., :k], vectors[..., :k]
