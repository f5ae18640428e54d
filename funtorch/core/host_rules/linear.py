"""dot_general and conv_general_dilated, each as one matrix product in BLAS."""

from __future__ import annotations

from collections.abc import Callable
from math import prod

import numpy as np

from .table import Equation, Inline, is_narrow_float, rule


def arithmetic_dtype(eqn: Equation) -> np.dtype:
    """The dtype in which products are summed."""
    dtype = np.result_type(*(np.float32 if is_narrow_float(a.dtype) else a.dtype for a in eqn.inputs))
    out = np.dtype(eqn.dtype)
    return dtype if is_narrow_float(out) else np.result_type(dtype, out)


@rule("dot_general", dense=True)
def dot_general(eqn: Equation) -> Callable | Inline:
    (lhs, rhs), ((lhs_sum, rhs_sum), (lhs_batch, rhs_batch)) = eqn.inputs, eqn.params["dimension_numbers"]
    inner, out = arithmetic_dtype(eqn), np.dtype(eqn.dtype)
    casts = [None if a.dtype == inner else inner for a in (lhs, rhs)]
    back = None if inner == out else out
    if 0 in lhs.shape or 0 in rhs.shape:
        zeros = np.zeros(eqn.shape, out)
        return lambda x, y: zeros
    left = Side(lhs.shape, lhs_batch, lhs_sum)
    right = Side(rhs.shape, rhs_batch, rhs_sum)
    if casts == [None, None] and back is None and not lhs_batch:
        plain = plain_product(len(lhs.shape), len(rhs.shape), [int(a) for a in lhs_sum], [int(a) for a in rhs_sum])
        if plain is not None:
            return plain
    first, second = left.arranger(last=True), right.arranger(last=False)
    product = np.multiply if not lhs_sum else np.matmul
    shape = eqn.shape

    def run(x, y):
        x = first(x if casts[0] is None else x.astype(inner))
        y = second(y if casts[1] is None else y.astype(inner))
        z = product(x, y).reshape(shape)
        return z if back is None else z.astype(back)

    return run


def plain_product(lhs_rank: int, rhs_rank: int, lhs_sum: list[int], rhs_sum: list[int]) -> Inline | None:
    """The product of matrices and vectors as one call of BLAS; None for other ranks."""
    if lhs_rank == rhs_rank == 1 and not lhs_sum:
        return Inline("{0}[:, None] * {1}")
    if len(lhs_sum) != 1 or max(lhs_rank, rhs_rank) > 2:
        return None
    left = "{0}" if lhs_sum[0] == lhs_rank - 1 else "{0}.T"
    right = "{1}" if rhs_sum[0] == 0 else "{1}.T"
    if lhs_rank == 1 and rhs_sum[0] == 1:
        return Inline("{1}.dot({0})")
    return Inline(f"{left}.dot({right})")


class Side:
    """How one operand of dot_general becomes a stack of matrices (batch..., rows, columns)."""

    def __init__(self, shape: tuple[int, ...], batch: tuple[int, ...], summed: tuple[int, ...]):
        self.batch = [int(a) for a in batch]
        self.summed = [int(a) for a in summed]
        self.free = [a for a in range(len(shape)) if a not in self.batch and a not in self.summed]
        self.shape = shape

    def arranger(self, last: bool) -> Callable:
        """Moves the summed axes to the end (``last``, for the left operand) or before the free ones."""
        groups = (self.free, self.summed) if last else (self.summed, self.free)
        order = tuple(self.batch + groups[0] + groups[1])
        sizes = tuple(self.shape[a] for a in self.batch) + tuple(prod(self.shape[a] for a in g) for g in groups)
        itemsizes = len(self.batch) > 0

        def run(x):
            x = x.transpose(order).reshape(sizes)
            if itemsizes:  # BLAS needs one axis of the matrix to be dense
                rows, columns = x.strides[-2:]
                if rows != x.itemsize and columns != x.itemsize:
                    return np.ascontiguousarray(x)
            return x

        return run
