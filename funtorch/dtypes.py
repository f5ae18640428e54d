"""Data types: PyTorch's names on NumPy's dtypes, and PyTorch's promotion of one type with another."""

from __future__ import annotations

import functools
from typing import Any

import ml_dtypes
import numpy as np

from .errors import ArgumentTypeError, OpError

BOOL, INTEGER, FLOAT, COMPLEX = range(4)
CATEGORIES = {"b": BOOL, "i": INTEGER, "u": INTEGER, "f": FLOAT, "c": COMPLEX}


class dtype:
    """The type of a Tensor's elements: ``funtorch.float32`` and its kin.

    >>> float32.itemsize, float32.is_floating_point
    (4, True)
    """

    __slots__ = ("name", "numpy", "itemsize", "category", "is_floating_point", "is_complex", "is_signed")

    def __init__(self, name: str, numpy_type: type) -> None:
        self.name = name
        self.numpy = np.dtype(numpy_type)
        self.itemsize = self.numpy.itemsize
        # ml_dtypes' types have kind "V" or "f"; all of those here are floats.
        self.category = CATEGORIES.get(self.numpy.kind, FLOAT)
        self.is_floating_point = self.category == FLOAT
        self.is_complex = self.category == COMPLEX
        self.is_signed = self.numpy.kind not in "ub" and name != "float8_e8m0fnu"  # the last has exponents only

    def __repr__(self) -> str:
        return f"torch.{self.name}"

    def __reduce__(self) -> tuple:
        return by_name, (self.name,)

    def to_real(self) -> dtype:
        """The real type of a complex one's parts; any other type itself."""
        return {complex64: float32, complex128: float64}.get(self, self)

    def to_complex(self) -> dtype:
        """The complex type whose parts have this type."""
        return {float32: complex64, float64: complex128, float16: complex64, bfloat16: complex64}.get(self, self)


float16 = dtype("float16", np.float16)
bfloat16 = dtype("bfloat16", ml_dtypes.bfloat16)
float32 = dtype("float32", np.float32)
float64 = dtype("float64", np.float64)
float8_e4m3fn = dtype("float8_e4m3fn", ml_dtypes.float8_e4m3fn)
float8_e5m2 = dtype("float8_e5m2", ml_dtypes.float8_e5m2)
float8_e4m3fnuz = dtype("float8_e4m3fnuz", ml_dtypes.float8_e4m3fnuz)
float8_e5m2fnuz = dtype("float8_e5m2fnuz", ml_dtypes.float8_e5m2fnuz)
float8_e8m0fnu = dtype("float8_e8m0fnu", ml_dtypes.float8_e8m0fnu)
complex64 = dtype("complex64", np.complex64)
complex128 = dtype("complex128", np.complex128)
uint8 = dtype("uint8", np.uint8)
uint16 = dtype("uint16", np.uint16)
uint32 = dtype("uint32", np.uint32)
uint64 = dtype("uint64", np.uint64)
int8 = dtype("int8", np.int8)
int16 = dtype("int16", np.int16)
int32 = dtype("int32", np.int32)
int64 = dtype("int64", np.int64)
bool_ = dtype("bool", np.bool_)

ALL = (
    float16, bfloat16, float32, float64, float8_e4m3fn, float8_e5m2, float8_e4m3fnuz, float8_e5m2fnuz, float8_e8m0fnu,
    complex64, complex128,
    uint8, uint16, uint32, uint64, int8, int16, int32, int64, bool_,
)  # fmt: skip
ALIASES = {
    "half": float16, "float": float32, "double": float64, "short": int16, "int": int32, "long": int64,
    "cfloat": complex64, "cdouble": complex128,
}  # fmt: skip
PUBLIC = {d.name: d for d in ALL} | ALIASES

FROM_NUMPY: dict[np.dtype, dtype] = {d.numpy: d for d in ALL}
_PYTHON = {bool: bool_, int: int64, float: float64, complex: complex128}
_default = float32


def by_name(name: str) -> dtype:
    """The dtype of a name such as ``"float32"``."""
    return PUBLIC[name]


def default() -> dtype:
    """The floating-point type of new Tensors made from Python floats."""
    return _default


def set_default(value: dtype) -> None:
    """Change what `default` returns. Raises TypeError for a type that is not floating point, or of 8 bits."""
    global _default
    if not isinstance(value, dtype) or not value.is_floating_point or value.itemsize < 2:
        raise ArgumentTypeError(f"set_default_dtype(): only floating-point types are supported, got {value!r}")
    _default = value


def as_dtype(value: Any) -> dtype:
    """Turn a funtorch, NumPy or Python type into a dtype: float64 for ``float``. Raises TypeError for anything else."""
    if isinstance(value, dtype):
        return value
    if isinstance(value, type) and value in _PYTHON:
        return _PYTHON[value]
    try:
        return FROM_NUMPY[np.dtype(value)]
    except (KeyError, TypeError):
        raise ArgumentTypeError(f"dtype must be a torch.dtype, not {value!r}") from None


def of_scalar(value: object) -> dtype:
    """The dtype of a Tensor made from a Python number."""
    if isinstance(value, bool):
        return bool_
    if isinstance(value, int):
        return int64
    return _default.to_complex() if isinstance(value, complex) else _default


@functools.lru_cache(maxsize=None)
def promote_types(a: dtype, b: dtype) -> dtype:
    """The smallest type that holds both, by PyTorch's rules.

    >>> promote_types(int64, float16)
    torch.float16
    """
    if a is b:
        return as_dtype(a)
    a, b = as_dtype(a), as_dtype(b)
    if a.category < b.category:
        a, b = b, a
    if a.category == COMPLEX:
        part = promote_types(a.to_real(), b.to_real()) if b.category >= FLOAT else a.to_real()
        return part.to_complex()
    if a.category == FLOAT:
        return a if b.category < FLOAT else _wider_float(a, b)
    if b is bool_:
        return a
    return _wider_integer(a, b)


def _wider_float(a: dtype, b: dtype) -> dtype:
    if a.itemsize == 1 or b.itemsize == 1:
        raise OpError(f"Promotion for Float8 Types is not supported, attempted to promote {a!r} and {b!r}")
    if a.itemsize == b.itemsize:  # float16 with bfloat16: neither holds the other
        return float32
    return a if a.itemsize > b.itemsize else b


def _wider_integer(a: dtype, b: dtype) -> dtype:
    if {a, b} & {uint16, uint32, uint64}:
        raise OpError(f"Promotion for uint16, uint32, uint64 types is not supported, attempted to promote {a!r} and {b!r}")
    if a.is_signed == b.is_signed:
        return a if a.itemsize > b.itemsize else b
    signed = a if a.is_signed else b
    return int16 if signed is int8 else signed


def can_cast(from_: dtype, to: dtype) -> bool:
    """Whether a result of type ``from_`` may be written into a Tensor of type ``to``: never to a lower category.

    >>> can_cast(float64, float32), can_cast(float32, int64)
    (True, False)
    """
    return as_dtype(from_).category <= as_dtype(to).category
