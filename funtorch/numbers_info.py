"""finfo and iinfo: the limits of a dtype."""

from __future__ import annotations

import math
from typing import Any

import ml_dtypes
import numpy as np

from . import dtypes
from .errors import ArgumentTypeError


class _Limits:
    dtype: str

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.dtype == other.dtype  # type: ignore[attr-defined]

    def __hash__(self) -> int:
        return hash((type(self), self.dtype))


class finfo(_Limits):  # noqa: N801
    """The limits of a floating-point (or complex) dtype; without one, of the default dtype.

    >>> import funtorch as torch
    >>> torch.finfo(torch.float16).max
    65504.0
    """

    def __init__(self, type: Any = None) -> None:
        kind = dtypes.default() if type is None else dtypes.as_dtype(type)
        if kind.category < dtypes.FLOAT:
            raise ArgumentTypeError(f"torch.finfo() requires a floating point input type. Use torch.iinfo to handle '{kind!r}'")
        info = ml_dtypes.finfo(kind.to_real().numpy)
        self.dtype = kind.to_real().name
        self.bits = info.bits
        self.eps = float(info.eps)
        self.max = float(info.max)
        self.min = float(info.min)
        self.tiny = self.smallest_normal = float(info.tiny)
        self.resolution = 10.0 ** -math.floor(info.nmant * math.log10(2))

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, eps={self.eps:g}, "
            f"smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, dtype={self.dtype})"
        )


class iinfo(_Limits):  # noqa: N801
    """The limits of an integer dtype."""

    def __init__(self, type: Any) -> None:
        kind = dtypes.as_dtype(type)
        if kind.category == dtypes.BOOL:
            raise ArgumentTypeError("torch.bool is not supported by torch.iinfo")
        if kind.category != dtypes.INTEGER:
            raise ArgumentTypeError(f"torch.iinfo() requires an integer input type. Use torch.finfo to handle '{kind!r}'")
        info: Any = np.iinfo(kind.numpy)
        self.dtype, self.bits, self.max, self.min = kind.name, info.bits, int(info.max), int(info.min)

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"
