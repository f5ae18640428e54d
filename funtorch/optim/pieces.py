"""Small parameters computed together, as one array: a kernel takes some 2 microseconds for each array that it is given or gives.

A step of Adam over 300 tensors of 32 to 2,048 elements has 2,100 of them: 4.7 ms, of which next to nothing is arithmetic.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np

from ..core.engine import host_possible, run
from ..core.op import Op
from ..tensor import Tensor

ENOUGH = 24  # small parameters from which it pays to join and to part them
SMALL = 1 << 14  # elements


def separable(rule: Callable) -> Callable:
    """Mark a rule that gives each element its new value by itself, so that parameters may be joined."""
    rule.separable = True  # type: ignore[attr-defined]
    return rule


def small_ones(params: Sequence[Tensor], grads: Sequence[Tensor]) -> list[int]:
    """The numbers of the parameters to be joined: small, real, all of one type, on the CPU. None if they are few."""
    if len(params) < ENOUGH or not host_possible() or jax.local_device_count() > 1:
        return []
    dtype = params[0]._payload.dtype
    if dtype.kind != "f":
        return []
    found = [
        i
        for i, (p, g) in enumerate(zip(params, grads, strict=True))
        if p._payload.size <= SMALL and p._payload.dtype == dtype == g._payload.dtype
    ]
    return found if len(found) >= ENOUGH else []


class Pieces:
    """Of ``total`` parameters some are one piece, the first; each of the others is a piece by itself."""

    def __init__(self, together: list[int], total: int) -> None:
        self.together = together
        inside = set(together)
        self.others = [i for i in range(total) if i not in inside]
        self.total = total
        self.count = 1 + len(self.others)

    def replace(self, op: Op, targets: Sequence[Tensor], values: Sequence[Any]) -> None:
        """Give ``targets`` what ``op`` makes of ``values``: whole roles of `total` Tensors each, then what all share."""
        roles = len(targets) // self.total  # the parameters and their states; what is left is the step counter
        taken = roles + 1  # these, and the gradients
        given: list[Any] = []
        for start in range(0, taken * self.total, self.total):
            role = values[start : start + self.total]
            given.append(np.concatenate([np.asarray(role[i]).reshape(-1) for i in self.together]))
            given += [role[i] for i in self.others]
        results = run(op, [*given, *values[taken * self.total :]])
        for number in range(roles):
            news = results[number * self.count : (number + 1) * self.count]
            self._part(targets[number * self.total : (number + 1) * self.total], news)
        for target, new in zip(targets[roles * self.total :], results[roles * self.count :], strict=True):
            _give(target, new)

    def _part(self, role: Sequence[Tensor], news: Sequence[Any]) -> None:
        flat, at = np.asarray(news[0]), 0
        for i in self.together:
            shape, size = role[i]._payload.shape, role[i]._payload.size
            _give(role[i], flat[at : at + size].reshape(shape))
            at += size
        for i, new in zip(self.others, news[1:], strict=True):
            _give(role[i], new)


def _give(target: Tensor, new: Any) -> None:
    target._payload = new
    target._writes += 1
