"""The rules between the engine's tiers: by counts and sizes alone, never by time, so that a program gives the same bits on every run.

An (op, shapes) pair starts on the host. It stays there for good where NumPy is estimated to be as fast as a kernel, which is so for
few and small primitives. Otherwise it gets a kernel once it has come often enough to repay the compiler; large work gets one at once.
"""

from __future__ import annotations

import dataclasses
import math
from typing import Any

MODES = ("auto", "host", "kernel")

# Microseconds, measured on one x86 core: a primitive in NumPy, an element it writes, a multiply-add in BLAS; a dispatch of XLA's,
# an argument or result, an element (fused), a multiply-add.
HOST_STEP, HOST_ELEMENT, HOST_PRODUCT = 0.4, 0.00015, 0.00005
KERNEL_CALL, KERNEL_ARRAY, KERNEL_ELEMENT, KERNEL_PRODUCT = 8.0, 0.5, 0.0001, 0.00004
LARGE = 1500.0  # estimated host microseconds from which a kernel is made at once: it is compiled in some 50 ms
# (host microseconds below, calls on the host before a kernel)
PATIENCE = ((100.0, 64), (400.0, 16), (LARGE, 4))
# What NumPy does by making a view: no work on the host.
FREE = frozenset({"reshape", "squeeze", "expand_dims", "transpose", "rev", "slice", "dynamic_slice", "broadcast_in_dim", "split"})


@dataclasses.dataclass
class Work:
    """What a jaxpr does: primitives, elements written, multiply-adds, and whether it loops."""

    steps: int = 0
    elements: int = 0
    products: int = 0
    loops: bool = False

    def add(self, jaxpr: Any) -> Work:
        """Count the equations of a jaxpr and of those inside it."""
        for eqn in jaxpr.eqns:
            inner = [p for p in eqn.params.values() if hasattr(p, "eqns") or hasattr(getattr(p, "jaxpr", None), "eqns")]
            if eqn.primitive.name in ("while", "scan"):
                self.loops = True
            elif inner:
                for each in inner:
                    self.add(getattr(each, "jaxpr", each))
            else:
                size = sum(math.prod(v.aval.shape) for v in eqn.outvars if hasattr(v.aval, "shape"))
                self.steps += 1
                self.elements += 0 if eqn.primitive.name in FREE else size
                self.products += size * _depth(eqn)
        return self


def _depth(eqn: Any) -> int:
    """Multiply-adds for each element of a product or convolution."""
    if eqn.primitive.name == "dot_general":
        (contracted, _), _ = eqn.params["dimension_numbers"]
        return math.prod(eqn.invars[0].aval.shape[d] for d in contracted)
    if eqn.primitive.name == "conv_general_dilated":
        kernel = eqn.invars[1].aval.shape
        return math.prod(kernel) // max(kernel[eqn.params["dimension_numbers"].rhs_spec[0]], 1)
    return 0


def patience(jaxpr: Any) -> float:
    """How many calls run on the host before there is a kernel: 0 for large work, infinity for small."""
    work = Work().add(jaxpr)
    if work.loops:
        return PATIENCE[-1][1]
    arrays = len(jaxpr.invars) + len(jaxpr.outvars)
    host = HOST_STEP * work.steps + HOST_ELEMENT * work.elements + HOST_PRODUCT * work.products
    kernel = KERNEL_CALL + KERNEL_ARRAY * arrays + KERNEL_ELEMENT * work.elements + KERNEL_PRODUCT * work.products
    if host >= LARGE:
        return 0
    if host <= kernel:
        return math.inf
    return next(calls for limit, calls in PATIENCE if host < limit)
