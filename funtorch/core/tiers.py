"""The rules between the engine's tiers: by counts and sizes alone, never by time, so that a program gives the same bits on every run.

An (op, shapes) pair starts on the host. What is small stays there: NumPy is faster than any dispatch of XLA's. What is larger
gets a kernel once it has come often enough to repay the compiler; what is large gets one at once.
"""

from __future__ import annotations

import math
from typing import Any

MODES = ("auto", "host", "kernel")

# Work is counted in elements written, and in multiply-adds for products and convolutions.
SMALL_STEPS = 3  # at most so many primitives ...
SMALL_WORK = 20_000  # ... and so much work: the host for good
LARGE_WORK = 50_000_000  # a kernel at once
# (work below, calls on the host before a kernel): a compilation takes 20 to 500 ms, whatever the size.
PATIENCE = ((1_000_000, 64), (10_000_000, 16), (LARGE_WORK, 4))


def work_of(jaxpr: Any) -> tuple[int, int]:
    """(number of primitives, work) of a jaxpr; loops count as large."""
    steps = work = 0
    for eqn in jaxpr.eqns:
        inner = [p for p in eqn.params.values() if hasattr(p, "eqns") or hasattr(getattr(p, "jaxpr", None), "eqns")]
        if eqn.primitive.name in ("while", "scan"):
            return SMALL_STEPS + 1, LARGE_WORK // 2
        if inner:
            for each in inner:
                s, w = work_of(getattr(each, "jaxpr", each))
                steps, work = steps + s, work + w
            continue
        size = sum(math.prod(v.aval.shape) for v in eqn.outvars if hasattr(v.aval, "shape"))
        steps += 1
        work += size * _depth(eqn)
    return steps, work


def _depth(eqn: Any) -> int:
    """Multiply-adds for each element of a product or convolution."""
    if eqn.primitive.name == "dot_general":
        (contracted, _), _ = eqn.params["dimension_numbers"]
        return math.prod(eqn.invars[0].aval.shape[d] for d in contracted)
    if eqn.primitive.name == "conv_general_dilated":
        kernel = eqn.invars[1].aval.shape
        return math.prod(kernel) // max(kernel[eqn.params["dimension_numbers"].rhs_spec[0]], 1)
    return 1


def patience(steps: int, work: int) -> float:
    """How many calls run on the host before there is a kernel."""
    if work >= LARGE_WORK:
        return 0
    if steps <= SMALL_STEPS and work <= SMALL_WORK:
        return math.inf
    return next(calls for limit, calls in PATIENCE if work < limit)
