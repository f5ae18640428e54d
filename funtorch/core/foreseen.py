"""Normals of words that are still to come: a few of them cost as many steps of NumPy as thousands do.

Whoever draws twice in a row as many normals will likely go on so. The words of many such draws are then looked at in a second
twister, and all are turned into normals at once. A later draw takes its words as ever; where they are the ones that were looked
at, their normals are known. So nothing has to be told when something else is drawn, or the state is set.
"""

from __future__ import annotations

import ctypes
import functools
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from .boxmuller import BoxMuller

if TYPE_CHECKING:
    from .mersenne_state import MersenneState

FEW = 1024  # normals up to which looking ahead is worth it
AHEAD = 2**14  # words that are looked at, at most
LENGTH = 624  # words of a twister
IN_A_ROW = 4 * (LENGTH + 1)  # bytes of the words and of the position


class Draw(NamedTuple):
    """How a draw takes its words: whole blocks of sixteen, then perhaps some that give nothing, and a last block."""

    size: int  # normals
    whole: int  # words of whole blocks
    last: int  # words of the last block: 16 or 0
    words: int  # all of them


@functools.lru_cache(maxsize=256)
def draw_of(size: int, passes_over: bool) -> Draw:
    """The draw of ``size`` normals; ``passes_over``: whether the words of an incomplete block are drawn before it is redrawn."""
    rest = size % 16
    last = 16 if rest else 0
    return Draw(size, size - rest, last, size - rest + last + (rest if passes_over else 0))


class Foreseen:
    """The normals of draws to come of one twister.

    >>> from funtorch.core.mersenne_state import MersenneState
    >>> source = MersenneState(0)
    >>> Foreseen(source).normals(source, draw_of(16, True))[0].round(4)
    np.float32(-1.1258)
    """

    __slots__ = ("_place", "_second", "_second_place", "_position", "_known", "_last")

    def __init__(self, source: MersenneState) -> None:
        self._second = np.random.MT19937(0)
        self._place = source._bits.ctypes.state_address
        self._second_place = self._second.ctypes.state_address
        self._position = ctypes.c_int32.from_address(self._place + 4 * LENGTH)
        self._last: tuple = ()
        self._known: tuple = (None, b"", (), 0)  # the kind of draw, its words, its normals, how many were asked for

    def normals(self, source: MersenneState, draw: Draw) -> np.ndarray:
        """The next standard normals: float32 (draw.size,), not to be changed."""
        before = (draw, self._position.value)
        words = source.words(draw.words)
        kind, raw, rows, taken = self._known
        width = 4 * draw.words
        if kind == draw and raw[taken * width : (taken + 1) * width] == words.tobytes():
            self._known = (kind, raw, rows, taken + 1)
            return rows[taken]
        every = words[None]
        if self._last == before or kind == draw and 1 < len(rows) == taken:
            draws = min(8 * len(rows), AHEAD // draw.words)  # the longer it goes on, the more
            every = np.concatenate([every, self._to_come(draws, draw)])
        rows = transformed(every, draw)
        self._known = (draw, every.tobytes(), rows, 1)
        self._last = (draw, self._position.value)
        return rows[0]

    def _to_come(self, draws: int, draw: Draw) -> np.ndarray:
        ctypes.memmove(self._second_place, self._place, IN_A_ROW)
        return self._second.random_raw(draws * draw.words).astype(np.uint32).reshape(draws, draw.words)


def transformed(words: np.ndarray, draw: Draw) -> np.ndarray:
    """The standard normals of draws: words (n, draw.words), normals float32 (n, draw.size)."""
    rows, whole, last = len(words), draw.whole, draw.last
    if not last:
        out = np.empty((rows, whole), np.float32)
        BoxMuller(out.size // 2, 0.0, 1.0)(words.ravel(), out.ravel())
        return out
    blocks = np.concatenate([words[:, :whole], words[:, -last:]], 1)
    normals = np.empty(blocks.shape, np.float32)
    BoxMuller(blocks.size // 2, 0.0, 1.0)(blocks.ravel(), normals.ravel())
    return np.concatenate([normals[:, : draw.size - last], normals[:, whole:]], 1)
