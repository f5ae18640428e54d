"""Samples of a few laws in a row, each taking as many numbers as it turns out to need.

For each law all places of the stream are looked at at once: where would a sample that starts there end, and what
would it be? A loop then follows the chain of the starts that are reached.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from .lookahead import Lookahead

if TYPE_CHECKING:
    from .mersenne_state import MersenneState

# From uniforms (n,): where a sample that starts at each of them ends (n, past n where it needs more), and its value (n,).
Law = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
AT_A_TIME, STRIDE_DOUBLED = 2**12, 4
FEW_LAWS, MANY_SAMPLES = 8, 64


def chained(source: MersenneState, laws: Sequence[Law], which: np.ndarray, mean: float) -> np.ndarray:
    """A sample of ``laws[w]`` for each w of ``which``: float64 (n,). ``mean``: how many numbers one takes, roughly."""
    out, done = np.empty(len(which)), 0
    with Lookahead(source) as ahead, np.errstate(all="ignore"):
        while done < len(which):
            part = which[done : done + AT_A_TIME]
            made = [law(ahead.see(int(mean * len(part)) + 64)) for law in laws]
            known = len(ahead.values)
            if len(laws) == 1:
                starts, end = _starts_of_one(made[0][0], len(part), known)
                found = made[0][1][starts]
            else:
                starts, end = _starts(part.tolist(), [ends.tolist() for ends, _ in made], known)
                found = np.stack([values for _, values in made])[part[: len(starts)], starts]
            out[done : done + len(starts)] = found
            done += len(starts)
            ahead.take(end)
            mean *= 1 if len(starts) else 2
    return out


def _starts_of_one(ends: np.ndarray, count: int, known: int) -> tuple[np.ndarray, int]:
    """`_starts` where all samples are of one law: sixteen steps are made into one, and taken apart again."""
    jumps = [np.append(np.minimum(ends, known + 1), (known + 1, known + 1))]
    for _ in range(STRIDE_DOUBLED):
        jumps.append(jumps[-1][jumps[-1]])
    place, jump = 0, jumps[-1]
    coarse = [place := int(jump[place]) if i else 0 for i in range(-(-(count + 1) >> STRIDE_DOUBLED) + 1)]
    starts = np.array(coarse)
    for jump in reversed(jumps[:-1]):
        starts = np.stack([starts, jump[starts]], 1).ravel()
    made = min(count, int(np.searchsorted(starts, known + 1)) - 1)
    return starts[:made], int(starts[made])


def _starts(which: list[int], ends: list[list[int]], known: int) -> tuple[Any, int]:
    """Where each sample starts, as far as the numbers that are known reach, and where the next would."""
    starts: list[int] = []
    place = 0
    for each in which:
        if place == known or (end := ends[each][place]) > known:
            break
        starts.append(place)
        place = end
    return starts, place


def first_accepted(accepted: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The law of candidates that take two numbers each, until one is accepted: (n - 1,) of them, at each place."""
    n = len(accepted) + 1
    reached = np.full(n, 2 * n)
    reached[:-1][accepted] = np.flatnonzero(accepted)
    for side in (reached[0::2], reached[1::2]):
        side[:] = np.minimum.accumulate(side[::-1])[::-1]
    return reached + 2, values[np.minimum(reached, n - 2)]


def below(u: np.ndarray, rate: float) -> tuple[np.ndarray, np.ndarray]:
    """The law of how many uniforms can be multiplied before their product is at most exp(-rate)."""
    total = np.cumsum(-np.log(u))
    targets = np.append(0.0, total[:-1]) + rate
    last = np.searchsorted(total, targets)
    counts = last - np.arange(len(u))
    reach = np.minimum(last, len(u) - 1)
    near = np.minimum(np.abs(total[reach] - targets), np.abs(total[np.maximum(reach - 1, 0)] - targets))
    for start in np.flatnonzero((near < 1e-9 * (1 + total)) & (last < len(u))).tolist():
        counts[start] = _multiplied(u[start:], math.exp(-rate))
    return np.arange(len(u)) + counts + 1, counts.astype(np.float64)


def _multiplied(u: np.ndarray, limit: float) -> int:
    """How many, in the order and the precision in which C multiplies; sums of logarithms may differ where it is close."""
    product = 1.0
    for count, factor in enumerate(u.tolist()):
        product *= factor
        if product <= limit:
            return count
    return len(u)


def waited(u: np.ndarray, log_q: float, trials: float) -> tuple[np.ndarray, np.ndarray]:
    """The law of how many geometric waits go into ``trials``."""
    waits = np.minimum(np.ceil(np.log(u) / log_q), trials + 1)
    total = np.cumsum(waits)
    last = np.searchsorted(total, np.append(0.0, total[:-1]) + trials, side="right")
    counts = last - np.arange(len(u))
    return np.arange(len(u)) + counts + 1, counts.astype(np.float64)


def of_few(*columns: np.ndarray) -> tuple[list[tuple], np.ndarray] | None:
    """The different rows and which one each sample has, or None where there are too many, or too few samples to pay."""
    if len(columns[0]) < MANY_SAMPLES or any(len(np.unique(c[:1024])) > FEW_LAWS for c in columns):
        return None
    rows, which = np.unique(np.stack(columns, 1), axis=0, return_inverse=True)
    return (list(map(tuple, rows.tolist())), which.reshape(-1)) if len(rows) <= FEW_LAWS else None
