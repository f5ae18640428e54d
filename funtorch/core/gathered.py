"""Gradients of what many calls share, such as a layer's weight in a loop: summed over the calls at once, with NumPy.

Twenty calls' gradients of a weight are one matrix product, in place of twenty small ones and nineteen additions.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

LEAST = 4  # calls from which it is worth it
MOST_ELEMENTS = 1 << 14  # of a cotangent: larger products are no faster together
TYPES = frozenset({np.dtype(np.float32), np.dtype(np.float64)})


class Gathered(NamedTuple):
    """An op's gradients in two parts: of the arguments that calls may share, for many calls, and of the first, for one.

    ``fits(avals)`` says whether it is so for arguments of these shapes and dtypes. ``total(avals, saved, cotangents)`` gives,
    from what each call saved and its cotangent, the sum of the gradients of each argument in ``shared``.
    """

    shared: tuple[int, ...]
    fits: Callable[[tuple], bool]
    total: Callable[[tuple, Sequence[Any], Sequence[np.ndarray]], Sequence[np.ndarray]]
    first: Callable[[Sequence[Any], np.ndarray], np.ndarray]


class Group:
    """The calls in one graph that share arguments, which all are leaves."""

    __slots__ = ("gathered", "avals", "into")

    def __init__(self, recipe: Any, into: tuple[int | None, ...]) -> None:
        self.gathered: Gathered = recipe.op.gathered
        self.avals = recipe.avals
        self.into = into  # where the gradient of each shared argument goes


def groups_of(recipes: Sequence[Any], into: Sequence[Sequence[int | None]]) -> list[Group | None]:
    """For each node, from its recipe and the places of its inputs' gradients, the group that it belongs to."""
    keys = [_key(recipe, places) if recipe.gathers else None for recipe, places in zip(recipes, into, strict=True)]
    made = {key: Group(*key) for key, count in Counter(keys).items() if key is not None and count >= LEAST}
    return [None if key is None else made.get(key) for key in keys]


def _key(recipe: Any, places: Sequence[int | None]) -> tuple | None:
    at = dict(zip(recipe.marked, places, strict=True))
    into = tuple([at.get(i) for i in recipe.op.gathered.shared])
    if into[0] is None or any([place is not None and place >= 0 for place in into]):
        return None  # leaves' places are negative
    return recipe, into


def gathers(gathered: Gathered | None, avals: tuple, outs: tuple) -> bool:
    """Whether calls with arguments and results of these shapes and dtypes may be taken together."""
    if gathered is None or len(outs) != 1:
        return False
    shape, dtype = outs[0]
    return dtype in TYPES and math.prod(shape) <= MOST_ELEMENTS and gathered.fits(avals)
