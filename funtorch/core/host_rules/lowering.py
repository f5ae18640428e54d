"""From a jaxpr to a flat list of steps on values: calls inlined, broadcasts kept thin, dead steps dropped.

A broadcast is not carried out where it stands. Its value stays *thin*: an array of rank 0, or of the full
rank with ones, that broadcasts to the variable's shape. Elementwise steps take thin values as they are, and
give thin results; a step of another kind gets the value made whole.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any, NamedTuple

import jax
import numpy as np
from jax.extend import core

from .table import RULES, Equation, Rule

COPY_BELOW = 4096  # elements up to which a broadcast is cheaper as a copy than as a view


class Spec(NamedTuple):
    """A shape and a dtype: what rules need of an aval."""

    shape: tuple[int, ...]
    dtype: np.dtype


class Value:
    """What one step makes. ``shape`` may be thinner than the variable's; ``data`` is set if it is constant."""

    __slots__ = ("data", "dense", "dtype", "shape", "spread", "whole")

    def __init__(self, shape: tuple[int, ...], dtype: np.dtype, data: Any = None):
        self.shape = shape
        self.dtype = dtype
        self.data = data
        self.spread = False  # whether it may have a stride of 0
        self.whole: dict[tuple[int, ...], Value] = {}  # the same made whole, as it may be a view
        self.dense: dict[tuple[int, ...], Value] = {}  # the same made whole, without strides of 0


class Step:
    """One equation, or one of our own (then ``origin`` is None): outputs = rule(inputs)."""

    __slots__ = ("avals", "effects", "inputs", "name", "origin", "outputs", "params", "results", "rule")

    def __init__(
        self,
        name: str,
        avals: Sequence,
        results: Sequence,
        params: dict,
        rule: Rule | None,
        inputs: list[Value],
    ):
        self.name = name
        self.avals = avals
        self.results = results
        self.params = params
        self.rule = rule
        self.inputs = inputs
        self.origin: Any = None
        self.effects = False
        self.outputs: list[Value] = []

    def equation(self, program: Callable) -> Equation:
        """What the rule is given."""
        known = tuple([v.data for v in self.inputs])
        return Equation(self.name, tuple(self.avals), tuple(self.results), self.params, known, program)


NUMPY_DTYPES = frozenset(np.dtype(t) for t in (*"? i1 i2 i4 i8 u1 u2 u4 u8 f2 f4 f8 c8 c16".split(), jax.numpy.bfloat16))


def is_key(dtype: Any) -> bool:
    """Whether ``dtype`` is one of JAX's random key types."""
    return dtype not in NUMPY_DTYPES and jax.dtypes.issubdtype(dtype, jax.dtypes.extended)


def spec(aval: Any) -> Any:
    """The aval's shape and dtype in memory: a random key is an array of its words."""
    if is_key(aval.dtype):
        return jax.eval_shape(jax.random.key_data, jax.ShapeDtypeStruct(aval.shape, aval.dtype))
    return aval


def as_array(value: Any, dtype: Any) -> np.ndarray:
    """A jaxpr's constant as a NumPy array."""
    if is_key(dtype):
        return np.asarray(jax.random.key_data(value))
    return np.asarray(value, dtype)


def frozen(data: np.ndarray) -> np.ndarray:
    """A view of ``data`` that can't be written through: constants are the same arrays at every run."""
    data = data.view()
    data.flags.writeable = False
    return data


def joint_shape(shapes: Sequence[tuple[int, ...]]) -> tuple[int, ...]:
    """The shape to which ``shapes`` broadcast; each is of rank 0 or of one common rank."""
    result: tuple[int, ...] = ()
    for shape in shapes:
        if shape == result or not shape:
            continue
        if not result:
            result = shape
        else:
            result = tuple(b if a == 1 else a for a, b in zip(result, shape, strict=True))
    return result


Shortcut = Callable[["Lowering", Any, list[Value]], "list[Value] | None"]
SHORTCUTS: dict[str, Shortcut] = {}  # by primitive; filled by shortcuts.py


class Lowering:
    """Collects the steps of one program."""

    def __init__(self, program: Callable):
        self.steps: list[Step] = []
        self.program = program

    def jaxpr(self, jaxpr: Any, consts: list[Value], args: list[Value]) -> list[Value]:
        """Adds the steps of ``jaxpr`` on ``args``, and returns its outputs."""
        env: dict[Any, Value] = dict(zip(jaxpr.constvars, consts, strict=True))
        env.update(zip(jaxpr.invars, args, strict=True))
        for eqn in jaxpr.eqns:
            inputs = [self.literal(v) if isinstance(v, core.Literal) else env[v] for v in eqn.invars]
            shortcut = SHORTCUTS.get(eqn.primitive.name)
            outputs = shortcut(self, eqn, inputs) if shortcut else None
            if outputs is None:
                outputs = self.equation(eqn, inputs)
            env.update(zip(eqn.outvars, outputs, strict=True))
        return [self.literal(v) if isinstance(v, core.Literal) else env[v] for v in jaxpr.outvars]

    def closed(self, closed: Any, args: list[Value]) -> list[Value]:
        """Adds the steps of a ClosedJaxpr, or of a Jaxpr without constants."""
        if not isinstance(closed, core.ClosedJaxpr):
            return self.jaxpr(closed, [], args)
        consts = [self.constant(as_array(c, v.aval.dtype)) for c, v in zip(closed.consts, closed.jaxpr.constvars, strict=True)]
        return self.jaxpr(closed.jaxpr, consts, args)

    def constant(self, data: np.ndarray) -> Value:
        return Value(data.shape, data.dtype, frozen(data))

    def literal(self, literal: Any) -> Value:
        return self.constant(as_array(literal.val, literal.aval.dtype))

    def equation(self, eqn: Any, inputs: list[Value]) -> list[Value]:
        """Adds a step for ``eqn``; its inputs are made whole unless it works elementwise."""
        name, avals, results = eqn.primitive.name, [v.aval for v in eqn.invars], [v.aval for v in eqn.outvars]
        rule, shape = RULES.get(name), None
        if any([a.dtype not in NUMPY_DTYPES for a in avals]) or any([a.dtype not in NUMPY_DTYPES for a in results]):
            avals, results = [spec(a) for a in avals], [spec(a) for a in results]
            rule = rule if rule is not None and rule.keys else None
        if rule is not None and rule.elementwise:
            shape = joint_shape([v.shape for v in inputs])
        else:
            dense = rule is not None and rule.dense
            inputs = [self.whole(v, a.shape, dense) for v, a in zip(inputs, avals, strict=True)]
        step = Step(name, avals, results, eqn.params, rule, inputs)
        step.origin, step.effects = eqn, bool(eqn.effects)
        return self.add(step, shape)

    def add(self, step: Step, shape: tuple[int, ...] | None = None) -> list[Value]:
        """Adds a step and makes its outputs, of ``shape`` where that is not what the step says."""
        step.outputs = [Value(o.shape if shape is None else shape, o.dtype) for o in step.results]
        if step.rule is not None and step.rule.view and step.inputs[0].spread:
            for value in step.outputs:
                value.spread = True
        self.steps.append(step)
        return step.outputs

    def own(self, name: str, value: Value, shape: tuple[int, ...]) -> Value:
        """A step that the jaxpr does not have: it brings ``value`` to ``shape``."""
        specs = [Spec(value.shape, value.dtype)], [Spec(shape, value.dtype)]
        return self.add(Step(name, *specs, {}, RULES[name], [value]))[0]

    def whole(self, value: Value, shape: tuple[int, ...], dense: bool = False) -> Value:
        """``value`` in its full shape; ``dense``: and without strides of 0."""
        if value.shape == shape and not (dense and value.spread):
            return value
        kept = value.dense if dense else value.whole
        if shape not in kept:
            as_view = not dense and prod(shape) > COPY_BELOW
            kept[shape] = self.own("broadcast as view" if as_view else "broadcast as copy", value, shape)
            kept[shape].spread = as_view
        return kept[shape]
