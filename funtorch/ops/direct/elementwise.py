"""Direct forms of elementwise functions, of arguments of one shape, or of a second that is a number."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...core.branchless import without
from ...core.direct import TYPES, Avals, Direct, Form, small

NEITHER = (False, False)
ZERO = {dtype: np.zeros((), dtype) for dtype in TYPES}  # NumPy takes arrays faster than numbers


def _of_value(value: Callable, avals: Avals) -> Form:
    if avals[0][0] != ():
        return Form(value, bare=True)
    return Form(lambda *args: (np.asarray(value(*args)),))  # NumPy's functions give a number here


def unary(value: Callable, slope: Callable) -> Direct:
    """Of z = ``value(x)`` with the gradient ``slope(x, g)``."""

    def forward(avals: Avals) -> Form | None:
        return _of_value(value, avals) if small(avals) else None

    def backward(mask: tuple[bool, ...], avals: Avals) -> Form | None:
        return Form(lambda x, g: (np.asarray(slope(x, g)),), False, (True,)) if small(avals) else None

    return Direct(forward, backward)


def binary(value: Callable, slopes: tuple[Callable, Callable], reads: bool) -> Direct:
    """Of z = ``value(x, y)`` with the gradients ``slopes``, functions of x, y and g; ``reads``: of x and y as well."""

    def forward(avals: Avals) -> Form | None:
        (x, _), (y, _) = avals
        return _of_value(value, avals) if small(avals) and y in (x, ()) else None

    def backward(mask: tuple[bool, ...], avals: Avals) -> Form | None:
        (x, _), (y, _) = avals
        if not small(avals) or not (x == y or (y == () and not mask[1])):
            return None
        wanted = [slope for slope, marked in zip(slopes, mask, strict=True) if marked]
        seen = (mask[1], mask[0]) if reads else NEITHER
        return Form(lambda x, y, g: tuple([np.asarray(slope(x, y, g)) for slope in wanted]), False, seen)

    return Direct(forward, backward)


def _sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def _sigmoid_slope(x: Any, g: Any) -> Any:
    y = _sigmoid(x)
    return g * (y * (1 - y))


def _tanh_slope(x: Any, g: Any) -> Any:
    y = np.tanh(x)
    return g * (1 - y * y)


def _relu(x: Any) -> Any:
    return np.maximum(x, ZERO[x.dtype])


def _relu_slope(x: Any, g: Any) -> Any:
    return without(np.less_equal(x, ZERO[x.dtype]), g)


TANH = unary(np.tanh, _tanh_slope)
SIGMOID = unary(_sigmoid, _sigmoid_slope)
RELU = unary(_relu, _relu_slope)
ADD = binary(np.add, (lambda x, y, g: g, lambda x, y, g: g), False)
SUBTRACT = binary(np.subtract, (lambda x, y, g: g, lambda x, y, g: -g), False)
MULTIPLY = binary(np.multiply, (lambda x, y, g: g * y, lambda x, y, g: g * x), True)


def add(present: tuple, alpha: Any) -> Direct | None:
    """Of a sum without a factor."""
    return ADD if type(alpha) is int and alpha == 1 else None


def subtract(present: tuple, alpha: Any) -> Direct | None:
    """Of a difference without a factor."""
    return SUBTRACT if type(alpha) is int and alpha == 1 else None
