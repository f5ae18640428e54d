"""The host tier: jaxprs run by NumPy, with nothing to compile.

:func:`prepare` turns a jaxpr into a :class:`Program`, once per shape; the rules for primitives stand in
``host_rules``, one family a file, and :func:`rule` adds more. A primitive without a rule runs through XLA by
itself; ``falls`` counts those runs by name.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax.extend import core
from jax.interpreters import partial_eval

from . import host_rules
from .host_rules.falls import falls
from .host_rules.generation import generate
from .host_rules.lowering import Lowering, Value, spec
from .host_rules.table import Equation, Inline, rule
from .quiet import quiet_context, quietly

__all__ = ["Equation", "Inline", "Program", "falls", "host_rules", "prepare", "rule"]


class Program:
    """A prepared jaxpr: ``program(*arrays)`` gives a tuple of arrays of the jaxpr's shapes and dtypes.

    Arguments are NumPy arrays of exactly the shapes and dtypes of the jaxpr's inputs; they are never written
    to, and a result may share memory with one. ``run`` is the same as a bare function; ``steps`` names the
    primitives that are left to run each time.
    """

    __slots__ = ("run", "steps")

    def __init__(self, run: Callable[..., tuple[np.ndarray, ...]], steps: tuple[str, ...]):
        self.run = run
        self.steps = steps

    def __call__(self, *args: np.ndarray) -> tuple[np.ndarray, ...]:
        return self.run(*args)


def prepare(closed: core.ClosedJaxpr) -> Program:
    """Prepares a jaxpr to be run with NumPy: once per shape, in about 10 us per equation.

    Args:
        closed: the ClosedJaxpr, of any shapes and dtypes.

    Returns:
        The Program.

    >>> import jax
    >>> prepare(jax.make_jaxpr(lambda x: x + 1)(np.zeros(2)))(np.ones(2))
    (array([2., 2.]),)
    """
    return Program(*quietly(_generated, _live(closed), (), quiet_context))


def _live(closed: core.ClosedJaxpr) -> core.ClosedJaxpr:
    """Without what no result needs, within loops and branches too: a program does not look at an argument that goes unread."""
    jaxpr, _ = partial_eval.dce_jaxpr(closed.jaxpr, [True] * len(closed.jaxpr.outvars), instantiate=True)
    return core.ClosedJaxpr(jaxpr, closed.consts)


def _generated(closed: Any, known: Sequence[np.ndarray | None], border: Callable | None) -> tuple[Callable, tuple]:
    low = Lowering(_inner_program)
    jaxpr = closed.jaxpr if isinstance(closed, core.ClosedJaxpr) else closed
    args = [Value(s.shape, s.dtype) for s in (spec(v.aval) for v in jaxpr.invars)]
    values = [
        *(a if k is None else low.constant(k) for k, a in zip(known, args, strict=False)),
        *args[len(known) :],
    ]
    outputs = low.closed(closed, values)
    outputs = [low.whole(o, spec(v.aval).shape, dense=True) for o, v in zip(outputs, jaxpr.outvars, strict=True)]
    return generate(low, args, outputs, border)


def _inner_program(closed: Any, known: Sequence[np.ndarray | None] = ()) -> Callable:
    """A jaxpr within another's equation, as a bare function that returns a tuple.

    ``known`` gives leading arguments that are constants; they are passed nevertheless.
    """
    return _generated(closed, known, None)[0]
