"""PyTorch's two ways to a normal: by the pair in float64, or sixteen at a time in the tensor's precision."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from .boxmuller import BoxMuller, box_muller_in_double
from .foreseen import FEW, Draw, draw_of, transformed
from .mersenne_state import CHUNK, MersenneState, parts
from .rounding import functions, fused, narrow

FEW_IN_TURN = 32  # numbers up to which Python's own arithmetic is the faster one
ULP53 = 2.0**-53


def in_turn(source: MersenneState, n: int) -> np.ndarray:
    """Standard normals in float64 (n,); the second of the last pair waits for the next call."""
    waiting = source.cached_normal
    if n <= FEW_IN_TURN:
        return np.array(_few_in_turn(source, n, waiting), np.float64)
    first = [] if waiting is None or not n else [waiting]
    pairs = (n - len(first) + 1) // 2
    u = source.doubles(2 * pairs).reshape(pairs, 2)
    lib = functions(2 * pairs)
    radius, angle = np.sqrt(-2.0 * lib.log1p(-u[:, 1])), 2.0 * math.pi * u[:, 0]
    both = np.stack([radius * lib.cos(angle), radius * lib.sin(angle)], 1)
    values = np.concatenate([np.array(first), both.ravel()])
    if n:
        source.cached_normal = float(values[n]) if len(values) > n else None
    return values[:n]


def _few_in_turn(source: MersenneState, n: int, waiting: float | None) -> list[float]:
    values = [] if waiting is None or not n else [waiting]
    bits = source.bits53(2 * ((n - len(values) + 1) // 2)).tolist()
    for angle, chance in zip(bits[::2], bits[1::2], strict=True):
        radius, turn = math.sqrt(-2.0 * math.log1p(-chance * ULP53)), 2.0 * math.pi * (angle * ULP53)
        values += radius * math.cos(turn), radius * math.sin(turn)
    if n:
        source.cached_normal = values.pop() if len(values) > n else None
    return values


def by_sixteen(source: MersenneState, n: int, dtype: np.dtype, mean: float, std: float) -> np.ndarray:
    """Box-Muller over blocks of sixteen, n >= 16; after an incomplete one the last sixteen are redrawn."""
    double = dtype == np.float64
    if n <= CHUNK and not double:
        return narrow(_singles(source, draw_of(n, dtype == np.float32), mean, std), dtype)
    fill = (_double_filler if double else _single_filler)(source, n, mean, std)
    out, whole = np.empty(n, np.float64 if double else np.float32), n - n % 16
    for part in parts(out[:whole]):
        fill(part)
    if whole < n:
        if out.dtype == dtype:
            # Half types draw no numbers for the incomplete block.
            source.words((n - whole) * (2 if double else 1))
        fill(out[-16:])
    return narrow(out, dtype)


def _singles(source: MersenneState, draw: Draw, mean: float, std: float) -> np.ndarray:
    """All of a draw in one go: float32 (draw.size,)."""
    ahead = source.foreseen() if draw.size <= FEW else None
    if ahead is None:
        return fused(transformed(source.words(draw.words)[None], draw)[0], std, mean)
    known = ahead.normals(source, draw)
    return known.copy() if std == 1 and mean == 0 else fused(known, std, mean)


def _single_filler(source: MersenneState, n: int, mean: float, std: float) -> Callable[[np.ndarray], None]:
    transform = BoxMuller(min(n, CHUNK) // 2, mean, std)
    return lambda part: transform(source.words(part.size), part)


def _double_filler(source: MersenneState, n: int, mean: float, std: float) -> Callable[[np.ndarray], None]:
    lib = functions(n)

    def fill(part: np.ndarray) -> None:
        source.fill_uniform(part)
        box_muller_in_double(part, lib)
        part[:] = fused(part, std, mean)

    return fill
