"""What the elementwise families share: constants in an array's type, computing in float32, and checks of values."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.handle import Handle, value_of
from ..core.promotion import scalar
from ..core.views import of_all_lanes
from ..dtypes import FROM_NUMPY, INTEGER, promote_types
from ..errors import ArgumentTypeError, MissingError

KINDS = {
    "float16": "Half", "bfloat16": "BFloat16", "float32": "Float", "float64": "Double", "int8": "Char", "int16": "Short",
    "int32": "Int", "int64": "Long", "uint8": "Byte", "bool": "Bool", "complex64": "ComplexFloat",
    "complex128": "ComplexDouble", "uint16": "UInt16", "uint32": "UInt32", "uint64": "UInt64",
}  # fmt: skip


def number(value: Any, numpy_type: Any) -> np.ndarray:
    """A Python number as a constant of this very type; integers wrap around."""
    kind = np.dtype(numpy_type)
    return scalar(value, FROM_NUMPY[kind]).astype(kind)


def is_floating(x: Any) -> bool:
    """Whether an array has a real floating-point type."""
    return jnp.issubdtype(x.dtype, jnp.floating)


def is_inexact(x: Any) -> bool:
    """Whether an array has a real or complex floating-point type."""
    return jnp.issubdtype(x.dtype, jnp.inexact)


def truth(x: Any) -> Any:
    """Where an array is other than 0."""
    return x if x.dtype == bool else x != 0


def kind_of(x: Any) -> str:
    """PyTorch's name for an array's type in messages: Long, Float, ..."""
    return KINDS.get(np.dtype(x.dtype).name, np.dtype(x.dtype).name)


def refuse(name: str, x: Any, kinds: str) -> None:
    """Raise NotImplementedError if the array's type is among ``kinds``: b bool, i integer, f float, c complex."""
    found = "b" if x.dtype == bool else "c" if jnp.iscomplexobj(x) else "f" if is_floating(x) else "i"
    if found in kinds:
        raise MissingError(f"\"{name}\" not implemented for '{kind_of(x)}'")


def in_float32(fn: Callable) -> Callable:
    """Compute ``fn`` of half-precision arrays in float32, and round once at the end."""

    @functools.wraps(fn)
    def computed(*arrays: Any, **statics: Any) -> Any:
        half = next((a.dtype for a in arrays if hasattr(a, "dtype") and is_floating(a) and a.dtype.itemsize <= 2), None)
        if half is None:
            return fn(*arrays, **statics)
        wide = [a.astype(jnp.float32) if hasattr(a, "dtype") and is_floating(a) else a for a in arrays]
        result = fn(*wide, **statics)
        if isinstance(result, tuple):
            return tuple(r.astype(half) if is_floating(r) else r for r in result)
        return result.astype(half) if is_floating(result) else result

    return computed


def in_common(fn: Callable) -> Callable:
    """Compute ``fn`` in the floating-point type that its arrays have in common; halves in float32, rounded once at the end."""

    @functools.wraps(fn)
    def computed(*arrays: Any, **statics: Any) -> Any:
        kinds = [FROM_NUMPY[np.dtype(a.dtype)] for a in arrays if is_inexact(a)]
        if len(set(kinds)) < 2:
            return in_float32(fn)(*arrays, **statics)
        common = functools.reduce(promote_types, kinds).numpy
        return fn(*[a.astype(common) if is_inexact(a) else a for a in arrays], **statics)

    return computed


def rounded_to(dtype: Any, x: Any) -> Any:
    """A float32 array, rounded to what a half type holds: XLA leaves out a mere cast there and back."""
    if dtype == jnp.bfloat16:
        return jax.lax.reduce_precision(x, exponent_bits=8, mantissa_bits=7)
    return jax.lax.optimization_barrier(x.astype(dtype)).astype(x.dtype)  # with its subnormal numbers


def shown_as(name: str) -> Callable:
    """Decorates a private op with the name that ``grad_fn`` and messages show: that of the function which calls it."""

    def named(public: Callable) -> Callable:
        public.__wrapped_op__.name = name  # type: ignore[attr-defined]
        return public

    return named


def seen(x: Handle) -> np.ndarray | None:
    """The values, under ``vmap`` of all lanes, where looking at them costs nothing: not traced and on the CPU. Else None."""
    value_of(x)
    return of_all_lanes(x) if x.device.type == "cpu" else None


def holds_zero(*operands: Any) -> bool:
    """Whether the last of the operands is an integer 0 or has one, all being integers. Only seen in concrete arrays."""
    divisor = operands[-1]
    for x in operands:
        category = FROM_NUMPY[x._payload.dtype].category if isinstance(x, Handle) else None
        if (category is not None and category > INTEGER) or (category is None and not isinstance(x, int)):
            return False
    if not isinstance(divisor, Handle):
        return divisor == 0
    values = seen(divisor)
    return values is not None and not values.all()


def tensor_first(name: str) -> Callable:
    """A check for ops whose first operand has to be a Tensor, where others may be numbers. Raises TypeError."""

    def check(*operands: Any) -> None:
        if not isinstance(operands[0], Handle):
            found = type(operands[0]).__name__
            raise ArgumentTypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {found}")

    return check


def tensor_somewhere(name: str) -> Callable:
    """A check for ops of which either of the first two operands may be a number, but not both. Raises TypeError."""

    def check(*operands: Any) -> None:
        if not (isinstance(operands[0], Handle) or isinstance(operands[1], Handle)):
            raise ArgumentTypeError(f"{name}(): one of the first two arguments must be Tensor, but both are numbers")

    return check


def tensors_only(name: str, parameters: Sequence[str] = ("input", "other")) -> Callable:
    """A check for ops whose first operands, called ``parameters``, have to be Tensors, not numbers. Raises TypeError."""

    def check(*operands: Any) -> None:
        for position, (parameter, x) in enumerate(zip(parameters, operands, strict=False), 1):
            if not isinstance(x, Handle):
                found = type(x).__name__
                raise ArgumentTypeError(f"{name}(): argument '{parameter}' (position {position}) must be Tensor, not {found}")

    return check
