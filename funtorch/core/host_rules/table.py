"""The table of NumPy rules, and what a rule is given.

A rule is a builder. It runs once per equation, when a program is prepared, and returns what will run each
time: a function of NumPy arrays, or an :class:`Inline` expression, which costs no Python call. A builder that
returns None declines the equation, which then runs through XLA. Values of rank 0 may reach a function as
NumPy scalars.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from jax.extend import core


class Inline:
    """An expression over ``{0}``, ``{1}``, ... (the arguments) and ``{k[0]}``, ... (the constants)."""

    __slots__ = ("constants", "template")

    def __init__(self, template: str, *constants: Any):
        self.template = template
        self.constants = constants

    def function(self, arity: int) -> Callable:
        """The same expression as a function of ``arity`` arguments."""
        return _expression(self.template, arity, len(self.constants))(self.constants)


@lru_cache(maxsize=512)
def _expression(template: str, arity: int, count: int) -> Callable:
    names = [f"x{i}" for i in range(arity)]
    body = template.format(*names, k=[f"k[{i}]" for i in range(count)])
    return eval(f"lambda k: lambda {', '.join(names)}: {body}")


class Equation(NamedTuple):
    """One equation of a jaxpr, as a rule sees it."""

    name: str
    inputs: tuple[Any, ...]  # avals: .shape, .dtype
    outputs: tuple[Any, ...]
    params: dict[str, Any]
    known: tuple[np.ndarray | None, ...]  # the arguments whose values are constants
    program: Callable[..., Callable]  # prepares an inner jaxpr: program(jaxpr, known=()) -> function

    @property
    def shape(self) -> tuple[int, ...]:
        return self.outputs[0].shape

    @property
    def dtype(self) -> np.dtype:
        return self.outputs[0].dtype


class Rule(NamedTuple):
    """A builder, and what the preparation may assume of its results."""

    build: Callable[[Equation], Callable | Inline | None]
    elementwise: bool  # works on arguments that broadcast against each other
    view: bool  # the result may share memory with the first argument
    dense: bool  # wants arguments without strides of 0
    keys: bool  # works on random keys too, given as arrays of their words


RULES: dict[str, Rule] = {}


def rule(*names: str, elementwise: bool = False, view: bool = False, dense: bool = False, keys: bool = False) -> Callable:
    """Registers a builder for the primitives called ``names``."""

    def register(build: Callable) -> Callable:
        for name in names:
            if name in RULES:
                raise ValueError(f"two host rules for {name}: {RULES[name].build.__qualname__}, {build.__qualname__}")
            RULES[name] = Rule(build, elementwise, view, dense, keys)
        return build

    return register


def sole_primitive(jaxpr: Any) -> str | None:
    """The primitive's name where ``jaxpr`` computes just ``primitive(a, b)``, else None."""
    inner = jaxpr.jaxpr if isinstance(jaxpr, core.ClosedJaxpr) else jaxpr
    if len(inner.eqns) != 1 or len(inner.invars) != 2 or list(inner.eqns[0].invars) != list(inner.invars):
        return None
    same = list(inner.eqns[0].outvars) == list(inner.outvars)
    return inner.eqns[0].primitive.name if same else None


def is_narrow_float(dtype: Any) -> bool:
    """Whether sums over ``dtype`` are accumulated in float32: float16 and bfloat16."""
    dtype = np.dtype(dtype)
    return dtype.itemsize == 2 and (dtype.kind == "f" or dtype.name == "bfloat16")


def is_float(dtype: Any) -> bool:
    """Whether ``dtype`` is real floating point, bfloat16 included (NumPy's kind for it is not 'f')."""
    dtype = np.dtype(dtype)
    return dtype.kind == "f" or dtype.name == "bfloat16"
