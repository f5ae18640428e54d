"""One Op for each loop or branch that comes back: programs are told apart by what they do, not by which trace they come from."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, Literal, jaxpr_as_fun

from ...core.op import Op

MAX_OPS = 512
RULED = ("custom_jvp_call", "custom_vjp_call", "custom_vjp_call_jaxpr")
_ops: OrderedDict[Hashable, Op] = OrderedDict()


class _Itself:
    """An object that equals itself alone, and is kept as long as its key."""

    __slots__ = ("held",)

    def __init__(self, held: Any) -> None:
        self.held = held

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Itself) and other.held is self.held

    def __hash__(self) -> int:
        return id(self.held)


def op_for(key: Hashable, build: Callable[[], Op]) -> Op:
    """The Op that was built for ``key``, or a new one."""
    found = _ops.get(key)
    if found is None:
        found = _ops[key] = build()
        if len(_ops) > MAX_OPS:
            _ops.popitem(last=False)
    else:
        _ops.move_to_end(key)
    return found


def fingerprint(closed: Any) -> Hashable:
    """What a jaxpr does, whatever its constants are: equal for traces of the same steps."""
    key = _jaxpr(closed.jaxpr)
    if not _has_rules(closed.jaxpr):
        return key
    # Functions with derivative rules of their own look alike: the rules have to be compared as well.
    specs = [jax.ShapeDtypeStruct(v.aval.shape, v.aval.dtype) for v in closed.jaxpr.invars]
    floats = [i for i, s in enumerate(specs) if jax.dtypes.issubdtype(s.dtype, np.inexact)]

    def derivative(*arrays: Any) -> Any:
        given, dots = list(arrays[: len(specs)]), arrays[len(specs) :]

        def of_floats(*values: Any) -> Any:
            for i, value in zip(floats, values, strict=True):
                given[i] = value
            return jaxpr_as_fun(closed)(*given)

        return jax.jvp(of_floats, tuple(given[i] for i in floats), tuple(dots))

    try:
        return key, _jaxpr(jax.make_jaxpr(derivative)(*specs, *(specs[i] for i in floats)).jaxpr)
    except TypeError:  # a rule for reverse mode alone
        return key, _Itself(closed)


def _inner(value: Any) -> list[Any]:
    """The jaxprs in a parameter of an equation."""
    if isinstance(value, ClosedJaxpr):
        return [value.jaxpr]
    if isinstance(value, Jaxpr):
        return [value]
    return [j for v in value for j in _inner(v)] if isinstance(value, (tuple, list)) else []


def _has_rules(jaxpr: Any) -> bool:
    return any(
        eqn.primitive.name in RULED or any(_has_rules(j) for value in eqn.params.values() for j in _inner(value))
        for eqn in jaxpr.eqns
    )


def _jaxpr(jaxpr: Any) -> Hashable:
    numbers: dict[Any, int] = {}

    def number(var: Any) -> Hashable:
        if isinstance(var, Literal):
            return _value(np.asarray(var.val)), str(var.aval)
        return numbers.setdefault(var, len(numbers))

    head = tuple([(number(v), str(v.aval)) for v in (*jaxpr.constvars, *jaxpr.invars)])
    body = tuple([
        (
            eqn.primitive.name,
            tuple(map(number, eqn.invars)),
            tuple([(number(v), str(v.aval)) for v in eqn.outvars]),
            tuple([(name, _parameter(eqn.primitive.name, name, eqn.params[name])) for name in sorted(eqn.params)]),
        )
        for eqn in jaxpr.eqns
    ])  # fmt: skip
    return head, body, tuple(map(number, jaxpr.outvars))


def _parameter(primitive: str, name: str, value: Any) -> Hashable:
    if primitive in RULED and not isinstance(value, (ClosedJaxpr, int, tuple)):
        return None  # the rule: `fingerprint` compares what it gives
    return _value(value)


def _value(value: Any) -> Hashable:
    if isinstance(value, ClosedJaxpr):
        return _jaxpr(value.jaxpr), tuple(map(_value, value.consts))
    if isinstance(value, Jaxpr):
        return _jaxpr(value)
    if isinstance(value, (tuple, list)):
        return type(value), tuple(map(_value, value))
    if isinstance(value, dict):
        return tuple([(k, _value(v)) for k, v in value.items()])
    if isinstance(value, (np.ndarray, np.generic)):
        return str(value.dtype), value.shape, value.tobytes()
    try:
        hash(value)
    except TypeError:
        return _Itself(value)
    return type(value), value
