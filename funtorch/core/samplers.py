"""Draws that take as many numbers as they turn out to need.

What an element takes of the stream decides where the next one starts. Where there are few laws, `chains` looks at all places of
the stream at once; where each element has a law of its own, it is a loop over the elements.
Numbers are combined in the precision PyTorch combines them in, which is at places that of the argument.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import ArgumentValueError, MissingError, OpError
from .chains import Law, below, chained, of_few, waited
from .gammas import gammas
from .rejection import STIRLING_TAIL, binomial_law, poisson_law
from .rounding import FLOATS, HALVES, narrow

if TYPE_CHECKING:
    from .mersenne import MersenneTwister

WIDE = FLOATS - HALVES
TAILS = STIRLING_TAIL.tolist()


def poisson(source: MersenneTwister, rate: np.ndarray) -> np.ndarray:
    """Counts with mean ``rate`` (*): by transformed rejection (Hoermann 1993) from 10 on, else by products.

    Raises:
        NotImplementedError: ``rate`` is not floating.
        RuntimeError: a rate is negative or NaN.
    """
    _check_dtype("poisson_cpu", rate, FLOATS)
    if not bool(np.all(rate >= 0)):
        raise OpError("invalid Poisson rate, expected rate to be non-negative")
    wide = rate.astype(np.float64).ravel()
    if few := of_few(wide):
        laws = [_poisson_law(lam) for (lam,) in few[0]]
        mean = max(min(lam + 1, 2.8) if lam >= 10 else lam + 1.1 for (lam,) in few[0])
        return narrow(chained(source, laws, few[1], mean), rate.dtype).reshape(rate.shape)
    with source.one_by_one() as uniforms:
        values = [_poisson_one(lam, uniforms) for lam in wide.tolist()]
    return narrow(np.array(values, np.float64), rate.dtype).reshape(rate.shape)


def _poisson_law(lam: float) -> Law:
    if lam == 0:
        return _always(0.0)
    return functools.partial(poisson_law, lam=lam) if lam >= 10 else functools.partial(below, rate=lam)


def _always(value: float) -> Law:
    """The law of one value, for which no number is drawn."""
    return lambda u: (np.arange(len(u)), np.full(len(u), value))


def _poisson_one(lam: float, uniforms: Iterator[float]) -> int:
    if lam == 0:
        return 0
    if lam >= 10:
        return _poisson_by_rejection(lam, uniforms)
    limit, product, count = math.exp(-lam), next(uniforms), 0
    while product > limit:
        count += 1
        product *= next(uniforms)
    return count


def _poisson_by_rejection(lam: float, uniforms: Iterator[float]) -> int:
    b = 0.931 + 2.53 * math.sqrt(lam)
    a = -0.059 + 0.02483 * b
    inverse_alpha, v_r = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)
    while True:
        u = next(uniforms) - 0.5
        v = next(uniforms)
        us = 0.5 - abs(u)
        k = math.floor((2 * a / us + b) * u + lam + 0.43) if us else -1
        if us >= 0.07 and v <= v_r:
            return k
        if k < 0 or (us < 0.013 and v > us):
            continue
        ratio = _log(v) + math.log(inverse_alpha) - math.log(a / (us * us) + b)
        if ratio <= -lam + k * math.log(lam) - math.lgamma(k + 1.0):
            return k


def binomial(source: MersenneTwister, count: np.ndarray, prob: np.ndarray) -> np.ndarray:
    """Successes in ``count`` (*) trials of chance ``prob`` (*), which broadcast: geometric waits, or BTRS.

    Raises:
        NotImplementedError: ``count`` is of a half type.
        ValueError: it is not floating.
        RuntimeError: the dtypes differ.
    """
    if count.dtype != prob.dtype:
        raise OpError(f"binomial: Found dtype {prob.dtype} but expected {count.dtype}")
    if count.dtype not in FLOATS:
        raise ArgumentValueError(f"binomial only supports floating-point dtypes for count, got: {count.dtype}")
    _check_dtype("binomial_cpu", count, WIDE)
    count, prob = np.broadcast_arrays(count, prob)
    if few := of_few(count.ravel(), prob.ravel()):
        laws = [_binomial_law(n, p, count.dtype) for n, p in few[0]]
        mean = max(_numbers_taken(n, p) for n, p in few[0])
        return chained(source, laws, few[1], mean).astype(count.dtype).reshape(count.shape)
    with source.one_by_one() as uniforms, np.errstate(all="ignore"):
        values = [_binomial_one(n, p, uniforms) for n, p in zip(count.ravel(), prob.ravel(), strict=True)]
    return np.array(values, count.dtype).reshape(count.shape)


def _numbers_taken(n: float, p: float) -> float:
    """How many uniforms a binomial number takes on average, and a few more."""
    mean = n * min(p, 1 - p)
    return 3.0 if not mean < 10 else mean + 1.2


def _binomial_law(n: float, p: float, dtype: np.dtype) -> Law:
    if n <= 0 or p <= 0:
        return _always(0.0)
    if p >= 1 or not p == p:
        return _always(n if p >= 1 else math.nan)
    small = p if p <= 0.5 else float(dtype.type(1.0 - p))
    if dtype.type(n) * dtype.type(small) >= 10:
        law: Law = functools.partial(binomial_law, trials=n, chance=small, dtype=dtype)
    else:
        law = functools.partial(waited, log_q=float(dtype.type(math.log1p(-small))), trials=n)
    return law if p <= 0.5 else functools.partial(_less, law=law, whole=n)


def _less(u: np.ndarray, law: Law, whole: float) -> tuple[np.ndarray, np.ndarray]:
    """The law of what is left of ``whole``."""
    ends, values = law(u)
    return ends, whole - values


def _binomial_one(n: Any, p: Any, uniforms: Iterator[float]) -> Any:
    if n <= 0 or p <= 0:
        return 0
    if p >= 1:
        return n
    if p <= 0.5:
        return (_btrs if n * p >= 10 else _by_waiting)(n, p, uniforms)
    if p > 0.5:
        q = type(p)(1.0 - float(p))
        return n - (_btrs if n * q >= 10 else _by_waiting)(n, q, uniforms)
    return math.nan


def _by_waiting(n: Any, p: Any, uniforms: Iterator[float]) -> Any:
    log_q, waited, successes = float(type(p)(math.log1p(-p))), 0.0, 0
    while True:
        wait = _log(next(uniforms)) / log_q
        waited += math.ceil(wait) if math.isfinite(wait) else wait
        if waited > n:
            return type(n)(successes)
        successes += 1


def _btrs(n: Any, p: Any, uniforms: Iterator[float]) -> Any:
    """Transformed rejection for binomials (Hoermann 1993); n and p keep their precision."""
    one = type(n)(1)
    deviation = float(np.sqrt(n * p * (one - p)))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * float(p)
    c, v_r, r = float(n * p) + 0.5, 0.92 - 4.2 / b, float(p / (one - p))
    alpha, m = (2.83 + 5.1 / b) * deviation, float(np.floor((n + one) * p))
    trials = float(n)
    while True:
        u = next(uniforms) - 0.5
        v = next(uniforms)
        us = 0.5 - abs(u)
        k = float(type(n)(math.floor((2 * a / us + b) * u + c))) if us else -1.0
        if k < 0 or k > trials:
            continue
        if us >= 0.07 and v <= v_r:
            return type(n)(k)
        rest = float(n - type(n)(k) + one)
        bound = (
            (m + 0.5) * math.log((m + 1) / (r * (trials - m + 1)))
            + float(n + one) * math.log((trials - m + 1) / rest)
            + (k + 0.5) * math.log(r * rest / float(type(n)(k) + one))
            + (_stirling_tail(m) + _stirling_tail(trials - m))
            - (_stirling_tail(k) + _stirling_tail(trials - k))
        )
        if _log(v * alpha / (a / (us * us) + b)) <= bound:
            return type(n)(k)


def _stirling_tail(k: float) -> float:
    """log k! less Stirling's formula."""
    if k < len(TAILS):
        tail: float = TAILS[int(k)]
        return tail
    square = (k + 1) * (k + 1)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)


def standard_gamma(source: MersenneTwister, alpha: np.ndarray) -> np.ndarray:
    """Gamma of shape ``alpha`` (*) and scale one (Marsaglia and Tsang 2000), and no subnormal.

    Raises:
        NotImplementedError: ``alpha`` is not float32 or float64.
    """
    _check_dtype("gamma_cpu", alpha, WIDE)
    values = gammas(source, alpha)
    return np.fmax(values.astype(alpha.dtype), np.finfo(alpha.dtype).tiny)  # of NaN too, as C's comparison has it


def dirichlet(source: MersenneTwister, alpha: np.ndarray) -> np.ndarray:
    """Shares that add up to one along the last axis: gammas of shape ``alpha`` (*, k) over their sum.

    Raises:
        NotImplementedError: ``alpha`` is not float32 or float64.
    """
    _check_dtype("dirichlet", alpha, WIDE)
    values = np.maximum(gammas(source, alpha.astype(np.float64)), np.finfo(np.float64).tiny)
    shares = (values / values.sum(-1, keepdims=True)).astype(alpha.dtype)
    one = alpha.dtype.type(1)
    return np.clip(shares, np.finfo(alpha.dtype).tiny, np.nextafter(one, alpha.dtype.type(0)))


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf


def _check_dtype(name: str, x: np.ndarray, allowed: frozenset[np.dtype]) -> None:
    if x.dtype not in allowed:
        raise MissingError(f'"{name}" not implemented for {x.dtype}')
