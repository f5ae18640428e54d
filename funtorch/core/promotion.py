"""PyTorch's type promotion: Tensors with dimensions, then 0-dim Tensors, then Python numbers.

A lower kind only changes the result's type when it is of a higher category (bool < integer < float < complex).
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..dtypes import COMPLEX, FLOAT, FROM_NUMPY, dtype
from .handle import Handle

NUMBERS = (bool, int, float, complex)


def result_type(operands: Sequence[Any]) -> dtype:
    """The dtype of an operation on Tensors and Python numbers."""
    kinds: list[dtype | None] = [None, None, None]
    for operand in operands:
        if isinstance(operand, Handle):
            payload = operand._payload
            kind, found = (0 if payload.shape else 1), FROM_NUMPY[payload.dtype]
        else:
            kind, found = 2, dtypes.of_scalar(operand)
        held = kinds[kind]
        kinds[kind] = found if held is None or held is found else dtypes.promote_types(held, found)
    result = None
    for each in kinds:
        if each is None or result is None:
            result = result if each is None else each
        elif each.category > result.category:
            result = _raised(result, each)
    assert result is not None
    return result


def _raised(result: dtype, found: dtype) -> dtype:
    """``found`` is of a higher category than ``result`` and of a lower kind: it decides the category."""
    return result.to_complex() if found.category == COMPLEX and result.category == FLOAT else found


def to_float(result: dtype) -> dtype:
    """The type in which integers and bools are computed by functions such as ``sin``."""
    return result if result.category >= FLOAT else dtypes.default()


@functools.lru_cache(maxsize=4096, typed=True)
def _scalar(value: Any, numpy_type: np.dtype, sign: float) -> np.ndarray:
    array = np.asarray(value).astype(numpy_type) if not isinstance(value, int) else _integer(value, numpy_type)
    array.flags.writeable = False
    return array


def _integer(value: int, numpy_type: np.dtype) -> np.ndarray:
    if numpy_type.kind in "iu":  # wrap around as PyTorch does, where NumPy raises
        return np.asarray(value & ((1 << 64) - 1), np.uint64).astype(numpy_type)
    return np.asarray(value, object).astype(numpy_type) if abs(value) >= 1 << 63 else np.asarray(value).astype(numpy_type)


def scalar(value: Any, to: dtype) -> np.ndarray:
    """A Python number as an array without dimensions, in ``to``; half types are given in float32, as PyTorch computes."""
    numpy_type = to.numpy if to.category != FLOAT or to.itemsize > 2 else np.dtype(np.float32)
    # -0.0 == 0.0, so the sign has to be part of the cache's key.
    sign = 0.0 if value.__class__ is not float or value else (-1.0 if str(value)[0] == "-" else 1.0)
    return _scalar(value, numpy_type, sign)


def prepare(operands: tuple[Any, ...], floating: bool) -> tuple[dtype, Sequence[Any]]:
    """The dtype in which to compute, and the operands with Python numbers made arrays of it."""
    if len(operands) == 2:
        first, second = operands
        if isinstance(first, Handle) and isinstance(second, Handle) and first._payload.dtype is second._payload.dtype:
            same = FROM_NUMPY[first._payload.dtype]
            return (to_float(same) if floating else same), operands
    elif len(operands) == 1 and isinstance(operands[0], Handle):
        only = FROM_NUMPY[operands[0]._payload.dtype]
        return (to_float(only) if floating else only), operands
    result = result_type(operands)
    if floating:
        result = to_float(result)
    return result, [x if isinstance(x, Handle) else scalar(x, result) for x in operands]
