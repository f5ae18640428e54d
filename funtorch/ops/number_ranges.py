"""Whether a Python number can be written into a dtype: PyTorch refuses one that would overflow."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from ..dtypes import BOOL, COMPLEX, FLOAT, INTEGER, dtype
from ..errors import ArgumentTypeError, ArgumentValueError, OpError

C_NAMES = {
    "int8": "int8_t", "uint8": "uint8_t", "int16": "int16_t", "int32": "int", "int64": "int64_t", "uint16": "uint16_t",
    "uint32": "uint32_t", "uint64": "uint64_t", "float16": "c10::Half", "bfloat16": "c10::BFloat16", "float32": "float",
    "float64": "double",
}  # fmt: skip


def integer_bounds(kind: dtype, whole: bool) -> tuple[int, int]:
    """The least and the largest number that an integer dtype takes; negative whole ones wrap around in unsigned types."""
    limits: Any = np.iinfo(kind.numpy)
    return (-int(limits.max) if whole and not limits.min else int(limits.min)), int(limits.max)


def overflows(value: Any, kind: dtype) -> bool:
    """Whether a Python number is out of the range of ``kind``."""
    if kind.category in (BOOL, COMPLEX):
        return False
    if isinstance(value, complex):
        if value.imag:
            return True
        value = value.real
    if kind.category == INTEGER:
        low, high = integer_bounds(kind, not isinstance(value, float))
        return not low <= value <= high
    try:
        number = float(value)
    except OverflowError:
        return True
    return math.isfinite(number) and abs(number) > float(ml_dtypes.finfo(kind.numpy).max)


def check_fits(value: Any, kind: dtype) -> None:
    """Raise RuntimeError for a Python number that is out of the range of ``kind``."""
    if overflows(value, kind):
        raise OpError(f"value cannot be converted to type {C_NAMES.get(kind.name, kind.name)} without overflow")


def check_array(array: np.ndarray, kind: dtype) -> None:
    """Raise for numbers of a list that ``kind`` can't hold: RuntimeError, TypeError for complex ones, ValueError beyond int64."""
    if array.dtype.kind == "c" and kind.category in (INTEGER, FLOAT):
        raise ArgumentTypeError(f"tensor(): elements of type {kind.name} must be real numbers, not complex")
    if kind.category != INTEGER or not array.size or array.dtype in (kind.numpy, np.bool_):
        return
    least, most = array.min(), array.max()
    low, high = integer_bounds(kind, array.dtype.kind in "iu")
    if kind.name == "int64" and array.dtype.kind == "u" and most > high:
        raise ArgumentValueError("tensor(): Overflow when unpacking long long")
    if not (low <= least and most <= high):  # written so that NaN fails
        raise OpError(f"value cannot be converted to type {kind.name} without overflow")
