"""Decompositions, solves and transforms; where results are unique only up to signs, what they make up is compared."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import jax.numpy as jnp
import numpy as np
from hypothesis import strategies as st
from jax import lax
from jax.lax import linalg

from .drawing import COMPLEX, WIDE, Case, seeds, tame

TRANSFORMS = {"FFT": COMPLEX, "IFFT": COMPLEX, "RFFT": WIDE, "IRFFT": COMPLEX}


@st.composite
def matrices(draw, fn: Callable, dtypes=WIDE + COMPLEX, positive=False, square=False, tall=False) -> Case:
    """Stacks of matrices, or one; well conditioned, or without elements."""
    dtype, seed = draw(st.sampled_from(dtypes)), draw(seeds)
    n, m = draw(st.integers(0, 5)), draw(st.integers(0, 5))
    n, m = (n, n) if positive or square else (max(n, m), min(n, m)) if tall else (n, m)
    batch = draw(st.sampled_from([(), (2,), (2, 3), (0,)]))
    x = tame(seed, (*batch, n, m), dtype, -1, 1)
    x = x + 3 * np.eye(n, m, dtype=dtype)
    x = x @ x.conj().swapaxes(-1, -2) if positive else x
    return Case(fn, (x,), 2000, 8.0)


def reflected(x):
    packed, taus = jnp.linalg.qr(x, mode="raw")
    return linalg.householder_product(packed.swapaxes(-1, -2), taus)


def absolute_q(x, full: bool):
    q, r = linalg.qr(x, full_matrices=full)
    return q[..., : r.shape[-1]] @ r[..., : x.shape[-1], :], jnp.abs(r)


def made_again_by_eigh(x, lower: bool):
    v, w = linalg.eigh(x, lower=lower, symmetrize_input=False)
    return w, (v * w[..., None, :]) @ v.conj().swapaxes(-1, -2)


def made_again_by_svd(x, full: bool):
    u, s, v = linalg.svd(x, full_matrices=full)
    k = s.shape[-1]
    return s, (u[..., :k] * s[..., None, :]) @ v[..., :k, :]


def made_again_by_eig(x):
    w, u, v = linalg.eig(x)
    return w.sum(-1), v @ (w[..., None] * jnp.linalg.inv(v)), x.swapaxes(-1, -2).conj() @ u - w.conj()[..., None, :] * u


@st.composite
def triangular(draw) -> Case:
    dtype, seed, batch = draw(st.sampled_from(WIDE + COMPLEX)), draw(seeds), draw(st.sampled_from([(), (2,)]))
    names = ("left_side", "lower", "transpose_a", "unit_diagonal")
    how = {name: draw(st.booleans()) for name in names}
    how["conjugate_a"] = draw(st.booleans()) if dtype.kind == "c" else False
    b = (4, 3) if how["left_side"] else (3, 4)
    a = tame(seed, (*batch, 4, 4), dtype, -0.3, 0.3) + np.eye(4, dtype=dtype)
    return Case(partial(linalg.triangular_solve, **how), (a, tame(seed + 1, (*batch, *b), dtype)), 500, 16.0)


@st.composite
def transforms(draw) -> Case:
    kind, rank = draw(st.sampled_from(sorted(TRANSFORMS))), draw(st.integers(1, 3))
    dtype, sizes = draw(st.sampled_from(TRANSFORMS[kind])), tuple(draw(st.integers(1, 6)) for _ in range(rank))
    half = kind == "IRFFT"
    shape = (*sizes[:-1], sizes[-1] // 2 + 1) if half else sizes
    x = tame(draw(seeds), (2, *shape), dtype)
    if half:  # what belongs to a real signal
        x = np.fft.rfftn(np.fft.irfftn(x, sizes, range(-rank, 0)), sizes, range(-rank, 0)).astype(dtype)
    return Case(lambda x: lax.fft(x, kind, sizes), (x,), 16, 8.0 * x.size)


@st.composite
def indefinite(draw) -> Case:
    stack = np.stack([np.eye(3), -np.eye(3)]).astype(draw(st.sampled_from(WIDE)))
    return Case(lambda x: linalg.cholesky(x, symmetrize_input=False), (stack,))


@st.composite
def not_a_number(draw, fn: Callable) -> Case:
    """One matrix of a stack has a NaN: it alone gives NaNs."""
    x = np.stack([2 * np.eye(3), np.eye(3)]).astype(draw(st.sampled_from(WIDE)))
    x[1, 0, 1] = x[1, 1, 0] = np.nan
    return Case(lambda x: [jnp.abs(part) for part in fn(x)], (x,), 100, 4.0)


CASES = {
    "cholesky": st.one_of(matrices(lambda x: linalg.cholesky(x, symmetrize_input=False), positive=True), indefinite()),
    "triangular_solve": triangular(),
    "lu": matrices(linalg.lu),
    "lu_pivots_to_permutation": matrices(lambda x: linalg.lu_pivots_to_permutation(linalg.lu(x)[1], x.shape[-2])),
    "geqrf": matrices(lambda x: jnp.linalg.qr(x, mode="raw")),
    "householder_product": matrices(reflected, tall=True),
    "qr": matrices(partial(absolute_q, full=False)) | matrices(partial(absolute_q, full=True)),
    "eigh": matrices(partial(made_again_by_eigh, lower=True), positive=True) | not_a_number(linalg.eigh),
    "svd": not_a_number(linalg.svd)
    | matrices(partial(made_again_by_svd, full=False))
    | matrices(lambda x: linalg.svd(x, compute_uv=False)),
    "eig": matrices(made_again_by_eig, square=True) | not_a_number(lambda x: linalg.eig(x)[:1]),
    "fft": transforms(),
}
