"""Sorting. The order is XLA's: NaNs last, -0.0 equal to 0.0, equal keys in the order in which they came."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .table import Equation, is_narrow_float, rule


def sort_key(x: np.ndarray) -> np.ndarray:
    """``x`` in a dtype that NumPy sorts well."""
    return x.astype(np.float32) if is_narrow_float(x.dtype) else x


@rule("sort")
def sort(eqn: Equation) -> Callable:
    axis, keys, count = int(eqn.params["dimension"]), int(eqn.params["num_keys"]), len(eqn.inputs)
    if count == 1:
        dtype = eqn.dtype
        return lambda x: np.sort(sort_key(x), axis, "stable").astype(dtype, copy=False)

    def run(*operands):
        if keys == 1:
            order = sort_key(operands[0]).argsort(axis, "stable")
        else:
            order = np.lexsort([sort_key(k) for k in operands[keys - 1 :: -1]], axis)
        return [np.take_along_axis(x, order, axis) for x in operands]

    return run


@rule("top_k")
def top_k(eqn: Equation) -> Callable:
    axis = int(eqn.params.get("axis", -1)) % len(eqn.inputs[0].shape)
    k, size, dtype = int(eqn.params["k"]), eqn.inputs[0].shape[axis], eqn.outputs[1].dtype
    back = (slice(None),) * axis + (slice(None, None, -1),)
    first = (slice(None),) * axis + (slice(k),)

    def run(x):
        # Sorting the reversed array and reading it backwards keeps equal elements in their order.
        order = (size - 1 - sort_key(x)[back].argsort(axis, "stable"))[back][first]
        return np.take_along_axis(x, order, axis), order.astype(dtype)

    return run
