"""Shuffles of 0 ... n - 1: what the loops of swaps leave behind, found without looping."""

from __future__ import annotations

import numpy as np

FEW = 400  # numbers up to which a loop is the faster way


def swapped(targets: np.ndarray, n: int) -> np.ndarray:
    """0 ... n - 1 after swapping places ``i`` and ``targets[i] >= i``, for i = 0 ... n - 2 in turn.

    Place i is final after step i and holds what stood at its target. That came from the last earlier step
    with the same target, which brought along what stood at its own place; where there was none, the target
    itself is there. So each step points to an earlier one, and pointer doubling follows all chains at once.

    Args:
        targets: int64 (n - 1,).

    Returns:
        int64 (n,).
    """
    steps, places = np.arange(n - 1), np.arange(n)
    by_target = np.sort((targets << 32) | steps)  # by target, then by step
    step, target = by_target & 0xFFFFFFFF, by_target >> 32
    again = np.flatnonzero(target[1:] == target[:-1])
    before = np.full(n, -1)
    before[step[again + 1]] = step[again]
    came_from = places.copy()
    moving = targets != steps
    # Of repeated targets the last assignment stands.
    came_from[targets[moving]] = steps[moving]
    while not np.array_equal(further := came_from[came_from], came_from):
        came_from = further
    targets = np.append(targets, n - 1)
    return np.where(targets == places, came_from, np.where(before >= 0, came_from[before], targets))


def swapped_in_turn(words: list[int], n: int) -> list[int]:
    """0 ... n - 1 after swapping places ``i`` and ``i + words[i] % (n - i)``, for i = 0 ... n - 2 in turn."""
    places = list(range(n))
    for i, word in enumerate(words):
        j = i + word % (n - i)
        places[i], places[j] = places[j], places[i]
    return places


def grown(targets: np.ndarray, n: int) -> np.ndarray:
    """The inside-out shuffle: place i takes what place ``targets[i] <= i`` holds, and that one takes i."""
    places = list(range(n))
    for i, j in enumerate(targets.tolist()):
        places[i] = places[j]
        places[j] = i
    return np.array(places, np.int64)
