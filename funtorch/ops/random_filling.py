"""The methods that fill a Tensor with random numbers in place: in the order in which its elements lie in memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.generators import Generator
from ..core.handle import in_place_allowed
from ..core.mersenne import MersenneTwister
from ..core.meta import constant_like, is_meta
from ..core.state import state
from ..core.writing import write
from ..errors import ArgumentTypeError, OpError
from ..tensor import Tensor
from . import registry
from .assignment import check_overlap
from .random import drawn, in_memory_order, sample, twister_of
from .random_whole import whole

_CHECKING = MersenneTwister(0)  # of which nobody draws
_CONTINUOUS = frozenset(("normal", "exponential", "log_normal", "cauchy"))  # refused for whole numbers without data too


def _filled_in_place(name: str, kind: str, parameters: Callable) -> None:
    def fill(self: Tensor, *args: Any, generator: Generator | None = None, **named: Any) -> Tensor:
        in_place_allowed(self, name, state.grad)
        given, extra = parameters(self, *args, **named)
        if is_meta(self):  # nothing to fill, and nothing to draw; but the numbers are checked
            getattr(_CHECKING, kind)((0,), self.dtype.numpy if kind in _CONTINUOUS else np.float32, *given)
            write(self, constant_like(self, 0))
            return self
        check_overlap(self, name)
        write(self, in_memory_order(self, lambda shape: sample(kind, shape, self.dtype, generator, *given, **extra)))
        return self

    fill.__name__ = name
    fill.__doc__ = f"Fill this Tensor with numbers drawn as ``{kind}``, and return it."
    registry.add_method(name, fill)


def _uniform(self: Tensor, from_: float = 0.0, to: float = 1.0, **named: Any) -> tuple:
    low = named.pop("from", from_)
    _none_left(named, "uniform_")
    if low > to:
        raise OpError(f"uniform_ expects to return a [from, to) range, but found from={low} > to={to}")
    return (float(low), float(to)), {}


def _none_left(named: dict, name: str) -> None:
    for unknown in named:
        raise ArgumentTypeError(f"{name}() got an unexpected keyword argument '{unknown}'")


def _normal(self: Tensor, mean: float = 0.0, std: float = 1.0) -> tuple:
    if std < 0:
        raise OpError(f"normal_ expects std >= 0.0, but found std {std}")
    return (float(mean), float(std)), {"contiguous": self.is_contiguous()}


def _exponential(self: Tensor, lambd: float = 1.0) -> tuple:
    if lambd <= 0:
        raise OpError(f"exponential_ expects lambda > 0.0, but found lambda={lambd}")
    return (float(lambd),), {}


_filled_in_place("uniform_", "uniform", _uniform)
_filled_in_place("normal_", "normal", _normal)
_filled_in_place("exponential_", "exponential", _exponential)
_filled_in_place("log_normal_", "log_normal", lambda self, mean=1.0, std=2.0: ((float(mean), float(std)), {}))
_filled_in_place("cauchy_", "cauchy", lambda self, median=0.0, sigma=1.0: ((float(median), float(sigma)), {}))
_filled_in_place("geometric_", "geometric", lambda self, p: ((float(p),), {}))


_NOT_GIVEN = object()  # random_(5) draws below 5, random_(5, None) from 5 on


def _random_in_place(
    self: Tensor, from_: Any = None, to: Any = _NOT_GIVEN, *, generator: Generator | None = None, **named: Any
) -> Tensor:
    """Fill this Tensor with integers: of the whole range of its dtype, below ``from_``, or in [from_, to), without an end if ``to`` is None."""
    in_place_allowed(self, "random_", state.grad)
    low = named.pop("from", from_)
    _none_left(named, "random_")
    if to is _NOT_GIVEN:
        low, to = (None, None) if low is None else (0, low)
    bounds = (None if low is None else whole("random_", "from", low), None if to is None else whole("random_", "to", to))
    if None not in bounds and bounds[0] >= bounds[1]:  # type: ignore[operator]
        raise OpError(f"random_ expects 'from' to be less than 'to', but got from={low} >= to={to}")
    if is_meta(self):
        write(self, constant_like(self, 0))
        return self
    check_overlap(self, "random_")
    twister, dtype = twister_of(generator), self.dtype

    def numbers(full: tuple) -> np.ndarray:
        return twister.random(full, dtype.numpy, *bounds)

    write(self, in_memory_order(self, lambda shape: drawn(generator, numbers, shape, "random", dtype.name, bounds)))
    return self


registry.add_method("random_", _random_in_place)
