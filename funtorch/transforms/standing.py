"""Where the Tensors of a recording are now, and whether views show the same elements of their bases."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..core.handle import Handle, value_of


class Place:
    """Where Tensors of a recording are now: those that were arguments are this call's arguments."""

    def __init__(self, handles: Sequence[Handle], tensors: list[Handle]) -> None:
        order = {id(t): i for i, t in enumerate(tensors)}
        self.fixed = [h if id(h) not in order else None for h in handles]
        self.moving = [(place, order[id(h)]) for place, h in enumerate(handles) if id(h) in order]

    def now(self, tensors: list[Handle]) -> list[Any]:
        """The Tensors, for a call with these arguments."""
        if not self.moving:
            return self.fixed
        found = self.fixed.copy()
        for place, i in self.moving:
            found[place] = tensors[i]
        return found


def same_chain(a: tuple, b: tuple) -> bool:
    """Whether two chains of view ops show the same elements of their bases."""
    if a is b:
        return True
    if len(a) != len(b):
        return False
    return all(x is y or _same_link(x, y) for x, y in zip(a, b, strict=True))


def _same_link(a: Any, b: Any) -> bool:
    if type(a) is not type(b) or not hasattr(a, "places") or a.op is not b.op or len(a.places) != len(b.places):
        return False
    return all(np.array_equal(_number(p), _number(q)) for p, q in zip(a.places, b.places, strict=True))


def _number(place: Any) -> Any:
    return np.asarray(value_of(place) if isinstance(place, Handle) else place)
