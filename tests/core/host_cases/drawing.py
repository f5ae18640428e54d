"""What the cases share: a Case, random arrays with the awkward values among them, and how results are compared."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
from hypothesis import strategies as st

BF16 = np.dtype(ml_dtypes.bfloat16)
WIDE = [np.dtype(t) for t in ("f4", "f8")]
NARROW = [np.dtype("f2"), BF16]
FLOATS = WIDE + NARROW
COMPLEX = [np.dtype(t) for t in ("c8", "c16")]
SIGNED = [np.dtype(t) for t in ("i4", "i8", "i1", "i2")]
UNSIGNED = [np.dtype(t) for t in ("u1", "u2", "u4", "u8")]
INTS = SIGNED + UNSIGNED
BOOL = [np.dtype(bool)]
EVERY = FLOATS + COMPLEX + INTS + BOOL
EPS = {"float64": 2.2e-16, "float32": 1.2e-7, "float16": 9.8e-4, "bfloat16": 7.9e-3, "complex128": 2.2e-16, "complex64": 1.2e-7}
LEAST = 1e-12  # what is asked of 64-bit results

seeds = st.integers(0, 2**32 - 1)
shapes = st.lists(st.integers(0, 5), max_size=3).map(tuple)  # also of rank 0, also empty
full_shapes = st.lists(st.integers(1, 5), min_size=1, max_size=4).map(tuple)


class Case:
    """A function that contains the primitive, arguments for it, and how closely the host must agree with XLA.

    ``ulps`` is for 32-bit results; ``scale`` is the size by which errors are measured where it isn't the result's own
    (sums with cancellation). ``zeros`` says whether the sign of a zero counts, ``falls`` that the rule leaves this case to XLA.
    """

    def __init__(
        self, fn: Callable, args: tuple, ulps: float = 4, scale: float | None = None, zeros: bool = True, falls: bool = False
    ):
        self.fn, self.args, self.ulps, self.scale, self.zeros, self.falls = fn, args, ulps, scale, zeros, falls

    def __repr__(self) -> str:
        return f"Case({', '.join(f'{a.dtype}{list(a.shape)}' for a in map(np.asarray, self.args))})"


def edges(dtype: np.dtype, low: float = -np.inf, high: float = np.inf) -> np.ndarray:
    """Zeros of both signs, ones, halves, the bounds, infinities and NaN, as far as they lie between ``low`` and ``high``."""
    if dtype.kind == "b":
        return np.array([False, True])
    if dtype.kind in "iu":
        bounds = np.iinfo(dtype)
        return np.array([0, 1, 2, 3, bounds.min, bounds.max, bounds.max - 1], dtype)
    if dtype.kind == "c":
        parts = np.array([0.0, -0.0, 1.0, -1.0, 0.5, 3.0], dtype)
        return (parts[:, None] + 1j * parts).ravel().astype(dtype)
    bounds = ml_dtypes.finfo(dtype)
    values = [0.0, -0.0, 1.0, -1.0, 0.5, -0.5, 1.5, -1.5, 2.5, 1e-3, 30.0, -30.0, 300.0]
    values += [float(bounds.tiny) * 1024, float(bounds.max), float(bounds.min), np.inf, -np.inf, np.nan]
    return np.array([v for v in values if np.isnan(v) or low <= v <= high], np.float64).astype(dtype)


def array(seed: int, shape: Any, dtype: Any, low: float = -4.0, high: float = 4.0, special: bool = True) -> np.ndarray:
    """Random values of ``dtype``; with ``special``, a third of them are `edges`."""
    rng, dtype = np.random.default_rng(seed), np.dtype(dtype)
    if dtype.kind == "b":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.kind in "iu":
        x = rng.integers(0 if dtype.kind == "u" else -9, 10, shape).astype(dtype)
    elif dtype.kind == "c":
        x = (rng.uniform(low, high, shape) + 1j * rng.uniform(low, high, shape)).astype(dtype)
    else:
        x = np.asarray(rng.uniform(low, high, shape)).astype(dtype)
    if special and x.size:
        x = np.where(rng.random(shape) < 0.35, rng.choice(edges(dtype), shape), x).astype(dtype)
    return x


def tame(seed: int, shape: Any, dtype: Any, low: float = -4.0, high: float = 4.0) -> np.ndarray:
    """Random values without the awkward ones."""
    return array(seed, shape, dtype, low, high, special=False)


def primitives(jaxpr: Any) -> Iterator[str]:
    """The names of a jaxpr's primitives, those of inner jaxprs included."""
    for eqn in getattr(jaxpr, "jaxpr", jaxpr).eqns:
        yield eqn.primitive.name
        for param in eqn.params.values():
            for inner in param if isinstance(param, tuple | list) else [param]:
                if hasattr(inner, "eqns") or hasattr(getattr(inner, "jaxpr", None), "eqns"):
                    yield from primitives(inner)


def same(got: np.ndarray, want: np.ndarray, case: Case) -> None:
    """Equal dtypes, shapes, NaNs, infinities and signs of zeros; values within the case's tolerance."""
    assert type(got) is np.ndarray
    assert (got.dtype, got.shape) == (want.dtype, want.shape)
    eps = EPS.get(got.dtype.name)
    if eps is None:
        wrong = got != want
    elif got.dtype.kind == "c":
        size = np.abs(want)
        wrong = differs(got.real, want.real, eps, case, size) | differs(got.imag, want.imag, eps, case, size)
    else:
        wrong = differs(got, want, eps, case, 0.0)
    assert not wrong.any(), f"{np.ravel(got[wrong])[:6]} instead of {np.ravel(want[wrong])[:6]}"


def differs(got: np.ndarray, want: np.ndarray, eps: float, case: Case, size: Any) -> np.ndarray:
    """Where real results are not as near as ``case`` asks; errors are measured by ``size`` where that is more than the result."""
    tiny = float(ml_dtypes.finfo(got.dtype).tiny)  # XLA has no subnormals
    g, w = got.astype(np.float64), want.astype(np.float64)
    relative = LEAST if eps < 1e-15 else (1.01 if got.dtype.itemsize == 2 else case.ulps) * eps
    size = np.maximum(np.maximum(np.abs(w), size), case.scale or 0.0)
    with np.errstate(invalid="ignore", over="ignore"):
        near = (g == w) | (np.isnan(g) & np.isnan(w)) | (np.abs(g - w) <= relative * size + tiny)
    exact = case.zeros and case.scale is None and not np.any(size > np.abs(w))
    return ~near | ((w == 0) & (np.signbit(g) != np.signbit(w)) if exact else False)
