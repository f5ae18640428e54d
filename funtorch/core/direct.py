"""Direct forms: an op's small calls written in NumPy, so that the host tier needs no trace of them.

To trace an op and its derivative takes JAX some milliseconds, which is most of what a first training step takes. The ops that
nearly every program begins with have direct forms; these give what the traced program gives, to rounding.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

Avals = tuple[tuple[tuple[int, ...], np.dtype], ...]
MOST_ELEMENTS = 1 << 16  # of all arguments: up to this, NumPy is as fast as a kernel
TYPES = frozenset({np.dtype(np.float32), np.dtype(np.float64)})


class Form(NamedTuple):
    """A NumPy function for arguments of certain shapes and dtypes: ``run(*arrays)`` gives a tuple of arrays.

    ``single``: the op gives one array; ``bare``: ``run`` gives that array and no tuple. ``reads``: of a derivative, which of the op's
    arguments it looks at; ``leaves``: of one that only moves elements, whether it leaves some out.
    """

    run: Callable[..., Any]
    single: bool = True
    reads: tuple[bool, ...] = ()
    leaves: bool = False
    bare: bool = False


class Direct(NamedTuple):
    """An op's direct forms: ``forward(avals)`` and ``backward(mask, avals)``, each None where there is none."""

    forward: Callable[[Avals], Form | None]
    backward: Callable[[tuple[bool, ...], Avals], Form | None] | None = None

    def of_backward(self, mask: tuple[bool, ...]) -> Direct | None:
        """That of the derivative, whose arguments are the op's and then the cotangents."""
        backward = self.backward
        return None if backward is None else Direct(lambda avals: backward(mask, avals[: len(mask)]))


def small(avals: Avals) -> bool:
    """Whether there is one type, float32 or float64, and few elements."""
    dtype = avals[0][1]
    if dtype not in TYPES or any([other is not dtype for _, other in avals]):
        return False
    return sum([math.prod(shape) for shape, _ in avals]) <= MOST_ELEMENTS
