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
    """An op's gradients in two parts: of the arguments that calls may share, for many calls, and of the others, for each.

    ``fits(avals)`` says whether it is so for arguments of these shapes and dtypes. ``each(mask, saved, cotangents)`` gives, for
    one call, the gradients of the arguments that are marked in ``mask`` and not in ``shared``, and what ``total`` needs of it.
    ``total(avals, needed)`` gives from what all calls need the sum of the gradients of each argument in ``shared``.
    """

    shared: tuple[int, ...]
    fits: Callable[[tuple], bool]
    each: Callable[[tuple[bool, ...], Sequence[Any], Sequence[np.ndarray]], tuple[Sequence[np.ndarray], Any]]
    total: Callable[[tuple, Sequence[Any]], Sequence[np.ndarray]]


class Group:
    """The calls in one graph that share arguments, which all are leaves."""

    __slots__ = ("gathered", "recipe", "into", "others")

    def __init__(self, recipe: Any, into: tuple[int | None, ...]) -> None:
        self.gathered: Gathered = recipe.op.gathered
        self.recipe = recipe
        self.into = into  # where the gradient of each shared argument goes
        # Which of a node's gradients are those of the other arguments.
        self.others = [number for number, i in enumerate(recipe.marked) if i not in self.gathered.shared]

    def total(self, needed: Sequence[Any]) -> Sequence[np.ndarray]:
        """The gradients of the shared arguments, from what all calls need."""
        return self.gathered.total(self.recipe.avals, needed)


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
    if gathered is None or any([dtype not in TYPES or math.prod(shape) > MOST_ELEMENTS for shape, dtype in outs]):
        return False
    return gathered.fits(avals)
