"""Cumulative operations: one ``ufunc.accumulate`` each; those of narrow floats in XLA's own order.

XLA rounds float16 and bfloat16 at every step of these, so that the order shows: blocks of 16 one after another, then
the same over the blocks' totals.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .reductions import identity
from .table import Equation, is_narrow_float, rule

CUMULATIVE: dict[str, np.ufunc] = {
    "cumsum": np.add,
    "cumprod": np.multiply,
    "cummax": np.maximum,
    "cummin": np.minimum,
    "cumlogsumexp": np.logaddexp,
}
BLOCK = 16


@rule(*CUMULATIVE)
def cumulative(eqn: Equation) -> Callable:
    ufunc, axis, dtype = CUMULATIVE[eqn.name], int(eqn.params["axis"]), np.dtype(eqn.dtype)
    reverse = bool(eqn.params["reverse"])
    if is_narrow_float(dtype):
        narrow = Narrow(eqn.name, dtype, reverse)
        return lambda x: narrow(x.swapaxes(0, axis)).swapaxes(0, axis)
    accumulate = ufunc.accumulate
    if not reverse:
        return lambda x: accumulate(x, axis, dtype)
    flip = (slice(None),) * axis + (slice(None, None, -1),)
    return lambda x: accumulate(x[flip], axis, dtype)[flip]


class Narrow:
    """A cumulative operation over axis 0 in a dtype of 16 bits."""

    def __init__(self, name: str, dtype: np.dtype, reverse: bool):
        self.reverse = reverse
        if name == "cumlogsumexp":
            self.combine, neutral = log_add_exp, np.array(-np.inf, dtype)
        else:
            self.combine, neutral = CUMULATIVE[name], identity(CUMULATIVE[name], dtype)
        self.neutral = neutral

    def __call__(self, x: np.ndarray) -> np.ndarray:
        count = len(x)
        if count <= BLOCK:
            return self.within(x)
        blocks = -(-count // BLOCK)
        missing = np.full((blocks * BLOCK - count, *x.shape[1:]), self.neutral, x.dtype)
        inner = np.concatenate([x, missing]).reshape(blocks, BLOCK, *x.shape[1:]).swapaxes(0, 1)
        inner = self.within(inner)
        totals = self(inner[0 if self.reverse else -1])
        if self.reverse:
            inner[:, :-1] = self.combine(inner[:, :-1], totals[1:])
        else:
            inner[:, 1:] = self.combine(inner[:, 1:], totals[:-1])
        return inner.swapaxes(0, 1).reshape(blocks * BLOCK, *x.shape[1:])[:count]

    def within(self, x: np.ndarray) -> np.ndarray:
        """Each element combined with those before it, nearest last; backwards with those after it, nearest first."""
        result = np.array(x)
        for step in range(1, len(x)):
            if self.reverse:
                result[:-step] = self.combine(result[:-step], x[step:])
            else:
                result[step] = self.combine(result[step - 1], x[step])
        return result


def log_add_exp(x: np.ndarray, y: np.ndarray) -> np.ndarray:
    """log(exp(x) + exp(y)), rounded where XLA rounds it."""
    apart = np.negative(np.absolute(np.subtract(x, y)))
    sum_ = np.add(np.maximum(x, y), np.log1p(np.exp(apart)))
    return np.where(np.isnan(apart), np.add(x, y), sum_)  # infinities of one sign
