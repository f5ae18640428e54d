"""Gamma numbers as PyTorch draws them: what one takes of the stream decides where the next one starts.

Normals and the quick test of Marsaglia and Tsang, which most candidates pass and which does not ask for the
gamma's shape, are computed for every place where a candidate may start; a loop then only follows the chain of
those that are reached. Numbers are combined in the precision PyTorch combines them in.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from .lookahead import Lookahead
from .rounding import functions

if TYPE_CHECKING:
    from .mersenne import MersenneTwister

ONE_THIRD, SQUEEZE = float(np.float32(1) / np.float32(3)), float(np.float32(0.0331))
AT_A_TIME = 2**12
SAFELY = 1 - 2.0**-20


def gammas(source: MersenneTwister, alpha: np.ndarray) -> np.ndarray:
    """Gamma of shape ``alpha`` (*), float32 or float64, and scale one (Marsaglia and Tsang 2000): float64 (*)."""
    flat = alpha.ravel()
    values, drawn = np.zeros(flat.shape), np.flatnonzero(flat != 0)
    with Lookahead(source) as ahead, np.errstate(all="ignore"):
        while len(drawn):
            part = drawn[:AT_A_TIME]
            made = _Chain(source, ahead, flat[part]).values()
            values[part[: len(made)]] = made
            drawn = drawn[len(made) :]
    return values.reshape(alpha.shape)


class _Chain:
    """Some of the samples in a row. ``pair`` is the place of the pair whose second normal waits; -1: one from before."""

    def __init__(self, source: MersenneTwister, ahead: Lookahead, alpha: np.ndarray) -> None:
        self.source, self.ahead, self.waiting = source, ahead, source.cached_normal
        kind, self.small = alpha.dtype.type, alpha < 1
        # The gamma of alpha + 1 is accepted more often; a power of a uniform takes it back.
        raised = np.where(self.small, alpha + kind(1), alpha)
        self.powers = (kind(1) / alpha[self.small]).astype(np.float64)
        self.d = (raised - kind(ONE_THIRD)).astype(np.float64)
        self.c = 1.0 / np.sqrt(9.0 * self.d)
        self.u = ahead.see(int(2.2 * len(alpha)) + int(np.count_nonzero(self.small)) + 64)
        self.starts: list[int] = []  # where each sample's numbers start
        self.picks: list[int] = []  # twice the place of its normal's pair, and 1 more for the second of it

    def values(self) -> np.ndarray:
        """The samples for which there were numbers enough: float64 (n,), and the generator moves on."""
        position, pair = self._follow(None if self.waiting is None else -1)
        n = len(self.picks)
        x = self._normals(np.array(self.picks, np.int64))
        y = 1.0 + self.c[:n] * x
        small = self.small[:n]
        starts, scale = np.array(self.starts, np.int64)[small], np.ones(n)
        scale[small] = list(map(math.pow, (1.0 - self.u[starts]).tolist(), self.powers[: len(starts)].tolist()))
        if pair is None or pair >= 0:
            self.source.cached_normal = None if pair is None else float(self._normals(np.array([2 * pair + 1]))[0])
        self.ahead.take(position)
        return scale * self.d[:n] * (y * y * y)

    def _normals(self, picks: np.ndarray) -> np.ndarray:
        """Both as C computes them, which decides their last bits."""
        lib, pairs = functions(len(picks)), np.maximum(picks >> 1, 0)
        x = np.sqrt(-2.0 * lib.log1p(-self.u[pairs + 1]))
        angles, second = 2.0 * math.pi * self.u[pairs], (picks & 1).astype(bool)
        x[second] *= lib.sin(angles[second])
        x[~second] *= lib.cos(angles[~second])
        if self.waiting is not None:
            x[picks == -1] = self.waiting
        return x

    def _follow(self, pair: int | None) -> tuple[int, int | None]:
        """Go from sample to sample, and say where the next would start and which pair's second normal it would get."""
        radius, angles = np.sqrt(-2.0 * np.log1p(-self.u[1:])), 2.0 * math.pi * self.u[:-1]
        self.first = radius * np.cos(angles)
        self.second = np.append(radius * np.sin(angles), 0.0 if self.waiting is None else self.waiting)
        self.w = (1.0 - self.u).tolist()
        w, starts, picks = self.w, self.starts, self.picks
        first, second = self._limits(self.first), self._limits(self.second)
        position = 0
        try:
            for i, boosted in enumerate(self.small.tolist()):
                place = position + boosted
                if pair is None and w[place + 2] < first[place]:
                    pick, following, after = 2 * place, place + 3, place
                elif pair is not None and w[place] < second[pair]:
                    pick, following, after = 2 * pair + 1, place + 1, None
                else:
                    pick, following, after = self._tried(place, pair, float(self.d[i]), float(self.c[i]))
                starts.append(position)
                picks.append(pick)
                position, pair = following, after
        except IndexError:  # these numbers are used up, and this sample begins again with more
            pass
        return position, pair

    def _limits(self, x: np.ndarray) -> list[float]:
        """Below which a uniform lets the normal ``x`` be taken for every shape at hand; -1 if it depends on the shape."""
        widest = np.nanmax(self.c, initial=0.0)
        square = x * x
        return np.where(widest * x > -SAFELY, 1.0 - SQUEEZE * square * square, -1.0).tolist()

    def _tried(self, place: int, pair: int | None, d: float, c: float) -> Any:
        """One candidate after the other until one is taken: its pick, the next place, and the pair that waits."""
        while True:
            if pair is None:
                x, pick, pair, place = float(self.first[place]), 2 * place, place, place + 2
            else:
                x, pick, pair = float(self.second[pair]), 2 * pair + 1, None
            y = 1.0 + c * x
            if y <= 0:
                continue
            v, square, w, place = y * y * y, x * x, self.w[place], place + 1
            if w < 1.0 - SQUEEZE * square * square or math.log(w) < 0.5 * square + d * (1.0 - v + math.log(v)):
                return pick, place, pair
