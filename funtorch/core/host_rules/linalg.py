"""Matrix decompositions and solves, by LAPACK through NumPy and SciPy; a stack of matrices is a loop."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .table import Equation, Inline, rule

Build = Callable[[Equation], Callable | Inline | None]


def matrix_rule(name: str) -> Callable:
    """Registers a builder for dtypes that LAPACK has, and matrices with something in them."""

    def register(build: Build) -> Build:
        def checked(eqn: Equation) -> Callable | Inline | None:
            if not all(a.dtype.kind in "fc" and a.dtype.itemsize >= 4 for a in eqn.inputs):
                return None
            return of_nothing(eqn) if any(0 in a.shape for a in eqn.inputs) else build(eqn)

        rule(name, dense=True)(checked)
        return build

    return register


def of_nothing(eqn: Equation) -> Callable:
    """What decompositions of matrices without elements give: identities (bases), 0, 1, 2, ... (permutations), or nothing."""
    results = [np.zeros(o.shape, o.dtype) for o in eqn.outputs]
    for result in results:
        if result.size:
            result[...] = np.arange(result.shape[-1]) if result.dtype.kind == "i" else np.eye(*result.shape[-2:])
        result.flags.writeable = False
    return lambda *_: results if len(results) > 1 else results[0]


def over_stack(function: Callable, outputs: int) -> Callable:
    """``function`` of matrices for each of a stack: (..., m, n) arrays in, ``outputs`` stacks out."""

    def run(*stacks):
        batch = stacks[0].shape[:-2]
        if not batch:
            return function(*stacks)
        flat = [s.reshape(-1, *s.shape[len(batch) :]) for s in stacks]
        results = [function(*each) for each in zip(*flat, strict=True)]
        if outputs == 1:
            return _stacked(results, batch)
        return [_stacked(column, batch) for column in zip(*results, strict=True)]

    return run


def _stacked(results, batch):
    joined = np.stack(results)
    return joined.reshape(*batch, *joined.shape[1:])


@matrix_rule("cholesky")
def cholesky(eqn: Equation) -> Callable | None:

    def one(x):
        try:
            return np.linalg.cholesky(x)
        except np.linalg.LinAlgError:  # XLA gives NaNs
            return np.full(x.shape, np.nan, x.dtype)

    each = over_stack(one, 1)

    def run(x):
        try:
            return np.linalg.cholesky(x)
        except np.linalg.LinAlgError:
            return each(x)

    return run


@matrix_rule("triangular_solve")
def triangular_solve(eqn: Equation) -> Callable | None:
    from scipy.linalg.blas import get_blas_funcs

    p = eqn.params
    solve = get_blas_funcs("trsm", dtype=np.dtype(eqn.dtype))
    transposed = 2 if p["transpose_a"] and p["conjugate_a"] else int(bool(p["transpose_a"]))
    conjugate = bool(p["conjugate_a"]) and not p["transpose_a"]
    side, lower, unit = int(not p["left_side"]), int(bool(p["lower"])), int(bool(p["unit_diagonal"]))

    def one(a, b):
        a = np.conjugate(a) if conjugate else a
        return solve(1.0, a, b, side=side, lower=lower, trans_a=transposed, diag=unit)

    return over_stack(one, 1)


@matrix_rule("lu")
def lu(eqn: Equation) -> Callable | None:
    from scipy.linalg.lapack import get_lapack_funcs

    factor = get_lapack_funcs("getrf", dtype=np.dtype(eqn.dtype))

    def one(x):
        packed, pivots, _ = factor(x)
        return packed, pivots.astype(np.int32), permutation(pivots, x.shape[0])

    return over_stack(one, 3)


def permutation(pivots: np.ndarray, size: int) -> np.ndarray:
    """The permutation that the row exchanges ``i <-> pivots[i]`` make in turn."""
    order = list(range(size))
    for i, j in enumerate(pivots.tolist()):
        order[i], order[j] = order[j], order[i]
    return np.array(order, np.int32)


@rule("lu_pivots_to_permutation")
def lu_pivots_to_permutation(eqn: Equation) -> Callable:
    size = int(eqn.params["permutation_size"])

    def run(pivots):
        if not pivots.size:
            return np.tile(np.arange(size, dtype=np.int32), (*pivots.shape[:-1], 1))
        flat = pivots.reshape(-1, pivots.shape[-1])
        return np.array([permutation(p, size) for p in flat], np.int32).reshape(*pivots.shape[:-1], size)

    return run


@matrix_rule("geqrf")
def geqrf(eqn: Equation) -> Callable | None:
    from scipy.linalg.lapack import get_lapack_funcs

    factor = get_lapack_funcs("geqrf", dtype=np.dtype(eqn.dtype))
    return over_stack(lambda x: factor(x)[:2], 2)


@matrix_rule("householder_product")
def householder_product(eqn: Equation) -> Callable | None:
    from scipy.linalg.lapack import get_lapack_funcs

    name = "orgqr" if np.dtype(eqn.dtype).kind == "f" else "ungqr"
    form = get_lapack_funcs(name, dtype=np.dtype(eqn.dtype))
    return over_stack(lambda a, taus: form(a, taus)[0], 1)


@matrix_rule("qr")
def qr(eqn: Equation) -> Callable | None:
    if eqn.params.get("pivoting"):
        return None
    if eqn.params["full_matrices"]:
        return lambda x: tuple(np.linalg.qr(x, "complete"))
    return lambda x: tuple(np.linalg.qr(x, "reduced"))


def _or_nan(function: Callable, eqn: Equation) -> Callable:
    """``function`` of a stack, but NaNs for a matrix for which it does not converge, as XLA gives."""
    batch = len(eqn.inputs[0].shape) - 2

    def one(x):
        try:
            return function(x)
        except np.linalg.LinAlgError:
            results = [np.full(o.shape[batch:], np.nan, o.dtype) for o in eqn.outputs]
            return results if len(results) > 1 else results[0]

    each = over_stack(one, len(eqn.outputs))

    def run(x):
        try:
            return function(x)
        except np.linalg.LinAlgError:
            return each(x)

    return run


def _is_plain(eqn: Equation, names: tuple[str, ...]) -> bool:
    return all(eqn.params.get(name) is None for name in names)


@matrix_rule("eigh")
def eigh(eqn: Equation) -> Callable | None:
    if not _is_plain(eqn, ("subset_by_index", "algorithm")):
        return None
    lower = eqn.params["lower"]

    def run(x):
        values, vectors = np.linalg.eigh(x, "L") if lower else np.linalg.eigh(x, "U")
        return vectors, values

    return _or_nan(run, eqn)


@matrix_rule("svd")
def svd(eqn: Equation) -> Callable | None:
    if not _is_plain(eqn, ("subset_by_index", "algorithm")):
        return None
    full, vectors = bool(eqn.params["full_matrices"]), bool(eqn.params["compute_uv"])

    def run(x):
        if not vectors:
            return np.linalg.svd(x, compute_uv=False)
        u, s, v = np.linalg.svd(x, full)
        return s, u, v

    return _or_nan(run, eqn)


@matrix_rule("eig")
def eig(eqn: Equation) -> Callable | None:
    left, right = (bool(eqn.params[f"compute_{side}_eigenvectors"]) for side in ("left", "right"))
    if not _is_plain(eqn, ("implementation",)):
        return None
    from scipy.linalg import (
        eig as solve,
    )  # NumPy would work in float64, and may order the eigenvalues otherwise

    dtype = np.dtype(eqn.dtype)

    def one(x):
        if not np.isfinite(x).all():
            raise np.linalg.LinAlgError
        found = solve(x, left=left, right=right, check_finite=False)
        if not left and not right:
            return found.astype(dtype, copy=False)
        return [part.astype(dtype, copy=False) for part in found]

    return _or_nan(over_stack(one, 1 + left + right), eqn)


TRANSFORMS = (np.fft.fftn, np.fft.ifftn, np.fft.rfftn, np.fft.irfftn)  # by lax's fft_type


@rule("fft", dense=True)
def fft(eqn: Equation) -> Callable | None:
    lengths = tuple(map(int, eqn.params["fft_lengths"]))
    if 0 in eqn.shape or 0 in eqn.inputs[0].shape:
        return None
    transform, axes = TRANSFORMS[int(eqn.params["fft_type"])], tuple(range(-len(lengths), 0))
    return lambda x: transform(x, lengths, axes)
