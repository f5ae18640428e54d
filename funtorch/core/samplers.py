"""Draws that take as many numbers as they turn out to need.

Rejection is a loop over elements, as the stream is: what an element takes decides where the next one starts.
Numbers are combined in the precision PyTorch combines them in, which is at places that of the argument.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import MissingError, OpError
from .rounding import narrow

if TYPE_CHECKING:
    from .mersenne import MersenneTwister

FLOATS = ("float64", "float32", "float16", "bfloat16")
WIDE = ("float64", "float32")
ONE_THIRD, SQUEEZE = float(np.float32(1) / np.float32(3)), float(np.float32(0.0331))
STIRLING_TAIL = (
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
)  # fmt: skip


def poisson(source: MersenneTwister, rate: np.ndarray) -> np.ndarray:
    """Counts with mean ``rate`` (*): by transformed rejection (Hoermann 1993) from 10 on, else by products.

    Raises:
        NotImplementedError: ``rate`` is not floating.
        RuntimeError: a rate is negative or NaN.
    """
    _check_dtype("poisson_cpu", rate, FLOATS)
    if not bool(np.all(rate >= 0)):
        raise OpError("invalid Poisson rate, expected rate to be non-negative")
    with source.one_by_one() as uniforms:
        values = [_poisson_one(lam, uniforms) for lam in rate.astype(np.float64).ravel().tolist()]
    return narrow(np.array(values, np.float64), rate.dtype).reshape(rate.shape)


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
        NotImplementedError: ``count`` is not float32 or float64.
        RuntimeError: the dtypes differ.
    """
    if count.dtype != prob.dtype:
        raise OpError(f"binomial: Found dtype {prob.dtype} but expected {count.dtype}")
    _check_dtype("binomial_cpu", count, WIDE)
    count, prob = np.broadcast_arrays(count, prob)
    with source.one_by_one() as uniforms, np.errstate(all="ignore"):
        values = [_binomial_one(n, p, uniforms) for n, p in zip(count.ravel(), prob.ravel(), strict=True)]
    return np.array(values, count.dtype).reshape(count.shape)


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
    if k < len(STIRLING_TAIL):
        return STIRLING_TAIL[int(k)]
    square = (k + 1) * (k + 1)
    return (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1)


def standard_gamma(source: MersenneTwister, alpha: np.ndarray) -> np.ndarray:
    """Gamma of shape ``alpha`` (*) and scale one (Marsaglia and Tsang 2000), and no subnormal.

    Raises:
        NotImplementedError: ``alpha`` is not float32 or float64.
    """
    _check_dtype("gamma_cpu", alpha, WIDE)
    values = _gammas(source, alpha)
    return np.maximum(values.astype(alpha.dtype), np.finfo(alpha.dtype).tiny)


def dirichlet(source: MersenneTwister, alpha: np.ndarray) -> np.ndarray:
    """Shares that add up to one along the last axis: gammas of shape ``alpha`` (*, k) over their sum.

    Raises:
        NotImplementedError: ``alpha`` is not float32 or float64.
    """
    _check_dtype("dirichlet", alpha, WIDE)
    values = np.maximum(_gammas(source, alpha.astype(np.float64)), np.finfo(np.float64).tiny)
    shares = (values / values.sum(-1, keepdims=True)).astype(alpha.dtype)
    one = alpha.dtype.type(1)
    return np.clip(shares, np.finfo(alpha.dtype).tiny, np.nextafter(one, alpha.dtype.type(0)))


def _gammas(source: MersenneTwister, alpha: np.ndarray) -> np.ndarray:
    with source.one_by_one() as uniforms:

        def normal() -> float:
            value, source.cached_normal = source.cached_normal, None
            if value is not None:
                return value
            u = next(uniforms)
            radius, angle = math.sqrt(-2.0 * math.log1p(-next(uniforms))), 2.0 * math.pi * u
            source.cached_normal = radius * math.sin(angle)
            return radius * math.cos(angle)

        values = [_gamma_one(a, uniforms, normal) for a in alpha.ravel()]
    return np.array(values, np.float64).reshape(alpha.shape)


def _gamma_one(alpha: Any, uniforms: Iterator[float], normal: Callable[[], float]) -> float:
    kind, scale = type(alpha), 1.0
    if alpha < 1:
        if alpha == 0:
            return 0.0
        # The gamma of alpha + 1 is accepted more often; a power of a uniform takes it back.
        scale = (1.0 - next(uniforms)) ** float(kind(1) / alpha)
        alpha = alpha + kind(1)
    d = float(alpha - kind(ONE_THIRD))
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = normal()
        y = 1.0 + c * x
        if y <= 0:
            continue
        v = y * y * y
        u = 1.0 - next(uniforms)
        square = x * x
        if u < 1.0 - SQUEEZE * square * square:
            return scale * d * v
        if math.log(u) < 0.5 * square + d * (1.0 - v + math.log(v)):
            return scale * d * v


def _log(x: float) -> float:
    return math.log(x) if x > 0 else -math.inf


def _check_dtype(name: str, x: np.ndarray, allowed: tuple[str, ...]) -> None:
    if x.dtype.name not in allowed:
        raise MissingError(f'"{name}" not implemented for {x.dtype}')
