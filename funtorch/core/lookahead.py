"""Numbers looked at before it is known how many of them will be taken: for samplers that reject."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from .mersenne_state import MersenneState


class Lookahead:
    """Doubles of a generator from where it stands. At the end of the ``with`` it stands behind those that were taken."""

    def __init__(self, source: MersenneState) -> None:
        self.source = source
        self.values = np.empty(0)
        self.taken = 0

    def __enter__(self) -> Lookahead:
        self.start = self.source.mark()
        return self

    def see(self, count: int) -> np.ndarray:
        """The next doubles, at least ``count`` of them: float64 (count,)."""
        if count > len(self.values):
            self.values = np.concatenate([self.values, self.source.doubles(count - len(self.values))])
        return self.values

    def take(self, count: int) -> None:
        """Go on behind the next ``count``."""
        self.values = self.values[count:]
        self.taken += count

    def __exit__(self, *exc: object) -> None:
        cached = self.source.cached_normal
        self.source.go_back(self.start)
        self.source.cached_normal = cached
        self.source.skip(2 * self.taken)
