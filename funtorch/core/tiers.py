"""The rules between the engine's tiers: by counts and sizes alone, never by time. So a program gives the same bits on every run.

An (op, shapes) pair starts on the host. It stays there for good where NumPy is estimated to be as fast as a kernel, which is so
for few and small primitives. Otherwise it gets a kernel once it has come often enough to repay the compiler; large work of few
primitives gets one at once.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import Any

MODES = ("auto", "host", "kernel")

# Microseconds, measured on one x86 core. NumPy: a primitive, an element it writes, a multiply-add in BLAS. XLA: a dispatch, an argument
# or result, an element of these, an element between them (fused, it is not written), a multiply-add.
HOST_STEP, HOST_ELEMENT, HOST_PRODUCT = 0.4, 0.00012, 0.00005
KERNEL_CALL, KERNEL_ARRAY, KERNEL_MOVED, KERNEL_FUSED, KERNEL_PRODUCT = 3.0, 1.6, 0.00012, 0.00003, 0.00004
LOOP_GAIN = 4.0  # how many times as fast a loop is as a kernel
LARGE = 1500.0  # estimated host microseconds from which a kernel is made at once, if it has few steps
SHORT = 60
COMPILE, COMPILE_STEP = 20000.0, 2000.0  # microseconds to compile: a kernel, and each of its steps
MUCH = 100.0  # microseconds that a call saves, from which on a kernel is made sooner
MOST_CALLS = 4096
# A backward pass as one program: microseconds to trace a node, what a node less to call saves, and the part of its work that fusion does.
NODE_TRACE, NODE_GAIN, FUSION_GAIN = 2000.0, 8.0, 0.3
MOST_PASSES = 128
# What NumPy does by making a view: no work on the host.
FREE = frozenset({"reshape", "squeeze", "expand_dims", "transpose", "rev", "slice", "dynamic_slice", "broadcast_in_dim", "split"})
WINDOW = 4  # elements that one of a convolution's windows counts for, copied out of order
# Elements that one element of these counts for; XLA's own vectorised forms of the dear ones count for a third of it.
WEIGHTS = dict.fromkeys(("exp", "log", "tanh", "logistic", "erf", "pow", "sin", "cos", "log1p", "expm1", "exp2", "atan2"), 8) | {
    "sort": 40, "rsqrt": 3, "sqrt": 2, "div": 2, "gather": 4, "scatter-add": 10, "select_n": 20,
}  # fmt: skip


@dataclasses.dataclass
class Work:
    """What a jaxpr does: primitives, elements written, multiply-adds, whether it loops, and microseconds of loops of known length."""

    steps: int = 0
    elements: int = 0
    products: int = 0
    loops: bool = False
    looping: float = 0.0

    def add(self, jaxpr: Any) -> Work:
        """Count the equations of a jaxpr and of those inside it."""
        for eqn in jaxpr.eqns:
            inner = [p for p in eqn.params.values() if hasattr(p, "eqns") or hasattr(getattr(p, "jaxpr", None), "eqns")]
            if eqn.primitive.name in ("while", "scan"):
                self.loops = True
                if "length" in eqn.params:
                    self.looping += eqn.params["length"] * Work().add(eqn.params["jaxpr"].jaxpr).host_microseconds()
            elif inner:
                for each in inner:
                    self.add(getattr(each, "jaxpr", each))
            else:
                name = eqn.primitive.name
                size = sum(math.prod(v.aval.shape) for v in eqn.outvars if hasattr(v.aval, "shape"))
                self.steps += 1
                if name.startswith(("reduce", "arg", "cum")):  # these read more than they write
                    self.elements += sum(math.prod(v.aval.shape) for v in eqn.invars)
                elif name not in FREE:
                    self.elements += size * WEIGHTS.get(name, 1)
                depth = _depth(eqn)
                self.products += size * depth
                if name == "conv_general_dilated":  # the windows are copied for one matrix product
                    features = eqn.outvars[0].aval.shape[eqn.params["dimension_numbers"].out_spec[1]]
                    self.elements += WINDOW * (size // max(features, 1)) * depth
        return self

    def host_microseconds(self) -> float:
        """What it is estimated to take with NumPy. What loops counts as large: how often it does is not always known."""
        work = HOST_STEP * self.steps + HOST_ELEMENT * self.elements + HOST_PRODUCT * self.products + self.looping
        return max(work, LARGE) if self.loops else work


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
    """How many calls run on the host before there is a kernel: 0 for large work, infinity for small.

    In between as many as it takes until what kernels would have saved is what compiling one takes; fewer where a call saves much,
    since a program whose calls are long makes few of them.
    """
    work = Work().add(jaxpr)
    host = work.host_microseconds()
    kernel = KERNEL_CALL + KERNEL_ARRAY * (len(jaxpr.invars) + len(jaxpr.outvars))
    kernel += KERNEL_MOVED * sum(math.prod(v.aval.shape) for v in (*jaxpr.invars, *jaxpr.outvars)) / 2
    if work.loops:
        kernel += host / LOOP_GAIN
    else:
        kernel += KERNEL_FUSED * work.elements + KERNEL_PRODUCT * work.products
    if host <= kernel:
        return math.inf
    if host >= LARGE and not work.loops and work.steps <= SHORT:
        return 0
    compilation = COMPILE + COMPILE_STEP * work.steps
    gain = host - kernel
    return max(1, min(round(compilation / gain * min(1.0, MUCH / gain)), MOST_CALLS))


def composite_patience(works: Sequence[float]) -> int:
    """How many backward passes over graphs of one structure run node by node before they get one program.

    ``works`` has the host microseconds of each node.
    """
    gain = sum(NODE_GAIN + FUSION_GAIN * work for work in works)
    return int(min(max(NODE_TRACE * len(works) / max(gain, 1.0), 1), MOST_PASSES))
