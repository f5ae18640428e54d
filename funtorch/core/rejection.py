"""Transformed rejection (Hoermann 1993) for Poisson and binomial counts, at all places of a stream at once."""

from __future__ import annotations

import math

import numpy as np

from .chains import first_accepted

STIRLING_TAIL = np.array((
    0.0810614667953272, 0.0413406959554092, 0.0276779256849983, 0.02079067210376509, 0.0166446911898211,
    0.0138761288230707, 0.0118967099458917, 0.0104112652619720, 0.00925546218271273, 0.00833056343336287,
))  # fmt: skip


def poisson_law(u: np.ndarray, lam: float) -> tuple[np.ndarray, np.ndarray]:
    """Poisson counts of mean ``lam``, at least 10 (PTRS)."""
    b = 0.931 + 2.53 * math.sqrt(lam)
    a = -0.059 + 0.02483 * b
    inverse_alpha, v_r = 1.1239 + 1.1328 / (b - 3.4), 0.9277 - 3.6224 / (b - 2)
    u, v = u[:-1] - 0.5, u[1:]
    us = 0.5 - np.abs(u)
    k = np.floor((2 * a / us + b) * u + lam + 0.43)
    accepted = (us >= 0.07) & (v <= v_r)
    asked = np.flatnonzero(~(accepted | (us <= 0) | (k < 0) | ((us < 0.013) & (v > us))))
    us, counts = us[asked], k[asked]
    ratio = np.log(v[asked]) + math.log(inverse_alpha) - np.log(a / (us * us) + b)
    accepted[asked] = ratio <= -lam + counts * math.log(lam) - _log_factorial(counts)
    return first_accepted(accepted, k)


def _log_factorial(k: np.ndarray) -> np.ndarray:
    different, places = np.unique(k, return_inverse=True)
    return np.array([math.lgamma(each + 1.0) for each in different.tolist()]).reshape(-1)[places.reshape(-1)]


def binomial_law(u: np.ndarray, trials: float, chance: float, dtype: np.dtype) -> tuple[np.ndarray, np.ndarray]:
    """Binomial counts whose mean is at least 10, with chance up to 1/2 (BTRS); numbers are rounded where PyTorch rounds."""
    n, p = dtype.type(trials), dtype.type(chance)
    one = dtype.type(1)
    deviation = float(np.sqrt(n * p * (one - p)))
    b = 1.15 + 2.53 * deviation
    a = -0.0873 + 0.0248 * b + 0.01 * float(p)
    c, v_r, r = float(n * p) + 0.5, 0.92 - 4.2 / b, float(p / (one - p))
    alpha, m = (2.83 + 5.1 / b) * deviation, float(np.floor((n + one) * p))
    u, v = u[:-1] - 0.5, u[1:]
    us = 0.5 - np.abs(u)
    k = np.floor((2 * a / us + b) * u + c).astype(dtype)
    possible = (us > 0) & (k >= 0) & (k <= n)
    accepted = possible & (us >= 0.07) & (v <= v_r)
    asked = np.flatnonzero(possible & ~accepted)
    us, counts = us[asked], k[asked]
    rest, more, whole = (x.astype(np.float64) for x in (n - counts + one, counts + one, counts))
    bound = (
        (m + 0.5) * math.log((m + 1) / (r * (trials - m + 1)))
        + float(n + one) * np.log((trials - m + 1) / rest)
        + (whole + 0.5) * np.log(r * rest / more)
        + (_stirling_tail(np.array(m)) + _stirling_tail(np.array(trials - m)))
        - (_stirling_tail(whole) + _stirling_tail(trials - whole))
    )
    accepted[asked] = np.log(v[asked] * alpha / (a / (us * us) + b)) <= bound
    return first_accepted(accepted, k.astype(np.float64))


def _stirling_tail(k: np.ndarray) -> np.ndarray:
    """log k! less Stirling's formula."""
    square = (k + 1) * (k + 1)
    known = STIRLING_TAIL[np.clip(np.nan_to_num(k), 0, 9).astype(np.int64)]
    return np.where(k < 10, known, (1.0 / 12 - (1.0 / 360 - 1.0 / 1260 / square) / square) / (k + 1))
