"""Programs by what they compute: two traces with the same equations share one Op, and so one compilation."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from ..core import jaxpr_classes
from ..core.op import Op
from .counting import counters

if TYPE_CHECKING:
    from jax.extend.core import ClosedJaxpr, Jaxpr

MOST = 256
# Values in small types are rounded where eager code rounds them, not kept in float32 between ops.
OPTIONS = {"xla_allow_excess_precision": False}
SMALL = 4096  # bytes of a constant that are compared


class Program:
    """A jaxpr as an Op, and compiled for each choice of arguments that it may overwrite."""

    def __init__(self, closed: ClosedJaxpr, name: str) -> None:
        flat = jaxpr_classes.jaxpr_as_fun(closed)
        self.op = Op(lambda *arrays: tuple(flat(*arrays)), name)
        self.kernels: dict[tuple[int, ...], Callable] = {}

    def kernel(self, donated: tuple[int, ...]) -> Callable:
        """The program as a kernel that may overwrite the arguments ``donated``."""
        found = self.kernels.get(donated)
        if found is None:
            counters["programs"] += 1
            fn = self.op.fn
            found = jax.jit(lambda *arrays: fn(*arrays), donate_argnums=donated, compiler_options=OPTIONS)
            self.kernels[donated] = found
        else:
            counters["programs used again"] += 1
        return found


_known: OrderedDict[Any, Program] = OrderedDict()


def program_of(closed: ClosedJaxpr, name: str, use: Any) -> Program:
    """The program of a jaxpr. One with the same equations, constants and ``use`` (its derivative, for one) is used again."""
    key = (name, use, fingerprint(closed))
    program = _known.get(key)
    if program is None:
        program = _known[key] = Program(closed, name)
        if len(_known) > MOST:
            _known.popitem(last=False)
    else:
        _known.move_to_end(key)
    return program


def forget() -> None:
    """Let go of all programs."""
    _known.clear()


def fingerprint(closed: ClosedJaxpr) -> tuple:
    """What two jaxprs that compute the same have in common; hashable."""
    return (_of_jaxpr(closed.jaxpr), tuple(map(_of_constant, closed.consts)))


def _of_jaxpr(jaxpr: Jaxpr) -> tuple:
    numbers: dict[Any, int] = {}

    def number(var: Any) -> int:
        return numbers.setdefault(var, len(numbers))

    def atom(var: Any) -> Any:
        return _of_constant(var.val) + (str(var.aval),) if isinstance(var, jaxpr_classes.Literal) else number(var)

    heads = [(number(v), str(v.aval)) for v in (*jaxpr.constvars, *jaxpr.invars)]
    steps = [
        (
            eqn.primitive.name,
            tuple([atom(v) for v in eqn.invars]),
            tuple([(number(v), str(v.aval)) for v in eqn.outvars]),
            tuple([(key, _of_parameter(value)) for key, value in sorted(eqn.params.items())]),
        )
        for eqn in jaxpr.eqns
    ]
    return (tuple(heads), tuple(steps), tuple([atom(v) for v in jaxpr.outvars]))


def _of_parameter(value: Any) -> Any:
    if isinstance(value, jaxpr_classes.ClosedJaxpr):
        return fingerprint(value)
    if isinstance(value, jaxpr_classes.Jaxpr):
        return _of_jaxpr(value)
    if isinstance(value, (tuple, list)):
        return tuple(map(_of_parameter, value))
    if isinstance(value, (np.ndarray, np.generic, jax.Array)):
        return _of_constant(value)
    if callable(value) and not isinstance(value, type):
        return type(value)  # a rule of an op's: the op is known by what it computes
    try:
        hash(value)
    except TypeError:
        return (type(value), repr(value))
    return (type(value), value)


def _of_constant(value: Any) -> tuple:
    if not isinstance(value, (np.ndarray, np.generic, jax.Array)):
        value = np.asarray(value)
    if value.nbytes > SMALL:
        return ("same", _Held(value))
    return (value.shape, str(value.dtype), np.asarray(value).tobytes())


class _Held:
    """A large constant: only itself is the same."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Held) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)
