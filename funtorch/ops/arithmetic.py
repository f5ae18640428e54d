"""Sums, differences, products, quotients. Operands (*) are broadcast together; z has their common shape and type."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.rounding import HALVES
from ..dtypes import FROM_NUMPY, INTEGER, float32
from ..errors import MissingError, OpError
from ..tensor import Tensor
from .declare import Array, Operand, function, op
from .direct import elementwise
from .number_ranges import check_fits
from .operands import holds_zero, in_float32, is_inexact, number, refuse, shown_as, tensor_first, tensor_somewhere, tensors_only

BOOL_MINUS = (
    "{}(): Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` operator "
    "instead."
)
BOOL_AND_TENSOR = (
    "{}(): Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use the "
    "`~` or `logical_not()` operator instead."
)


def _scaled(other: Array, alpha: Any, name: str) -> Array:
    """``alpha * other`` in other's type. Raises RuntimeError for an alpha of a higher category."""
    if alpha == 1 and not isinstance(alpha, bool):
        return other
    if isinstance(alpha, bool) and other.dtype != bool:
        raise OpError(f"{name}(): Boolean alpha only supported for Boolean results.")
    if isinstance(alpha, complex) and not jnp.iscomplexobj(other):
        raise OpError(f"{name}(): For non-complex input tensors, argument alpha must not be a complex number.")
    if isinstance(alpha, float) and not jnp.issubdtype(other.dtype, jnp.inexact):
        raise OpError(f"{name}(): For integral input tensors, argument alpha must not be a floating point number.")
    return other * number(alpha, other.dtype)


def _sum(input: Array, other: Array, alpha: Any, name: str, sign: int = 1) -> Array:
    """``input + sign * alpha * other``; of halves in float32, with alpha in their type. Raises RuntimeError where it doesn't fit."""
    if alpha == 1 and not isinstance(alpha, bool):
        return input + other if sign > 0 else input - other
    if other.dtype in HALVES and not isinstance(alpha, (bool, complex)):
        check_fits(alpha, FROM_NUMPY[other.dtype])
        alpha = float(number(alpha, other.dtype))

    def total(x: Array, y: Array) -> Array:
        scaled = _scaled(y, alpha, name)
        return x + scaled if sign > 0 else x - scaled

    return in_float32(total)(input, other)


@op(promote="arith", inplace=True, older=("alpha",), direct=elementwise.add)
def add(input: Operand, other: Operand, *, alpha=1):
    """Sum: z = x + alpha * y. input (*), other (*): broadcast together; z in their common type."""
    return _sum(input, other, alpha, "add")


def _two_bools(input: Any, other: Any, name: str) -> None:
    kinds = [x.dtype.name == "bool" if isinstance(x, Tensor) else isinstance(x, bool) for x in (input, other)]
    if all(kinds):
        raise OpError(BOOL_MINUS.format(name))
    if any(kinds):
        raise OpError(BOOL_AND_TENSOR.format(name))


@op(
    promote="arith", inplace=True, alias=("subtract",), older=("alpha",), check=lambda x, y, alpha: _two_bools(x, y, "sub"),
    direct=elementwise.subtract,
)  # fmt: skip
def sub(input: Operand, other: Operand, *, alpha=1):
    """Difference: z = x - alpha * y. input (*), other (*). Raises RuntimeError for bools."""
    return _sum(input, other, alpha, "sub", -1)


def _rsub_operands(input: Any, other: Any, alpha: Any) -> None:
    tensor_first("rsub")(input)
    _two_bools(other, input, "rsub")


@op(promote="arith", out=False, check=_rsub_operands)
def rsub(input: Operand, other: Operand, alpha=1):
    """Difference the other way round: z = y - alpha * x. input (*), other (*). Raises RuntimeError for bools."""
    return _sum(other, input, alpha, "rsub", -1)


@op(
    promote="arith", inplace=True, alias=("multiply",), direct=lambda present: elementwise.MULTIPLY, squares=lambda: 2,
    unrounded=("other",),
)  # fmt: skip
def mul(input: Operand, other: Operand):
    """Product: z = x * y. input (*), other (*): broadcast together; z in their common type."""
    return input * other


@shown_as("div")
@op(promote="float", inplace=True, unrounded=("other",))
def true_divide(input: Operand, other: Operand):
    """Quotient: z = x / y. input (*), other (*); integers are divided as floats."""
    return jax.lax.div(*jnp.broadcast_arrays(input, other))


_some_tensor = tensor_somewhere("division")


def _no_zero(input: Any, other: Any) -> None:
    _some_tensor(input, other)
    if holds_zero(input, other):
        raise OpError("ZeroDivisionError: integer division by a zero in other")


@op(promote="arith", inplace=True, check=_no_zero, unrounded=("other",))
def floor_divide(input: Operand, other: Operand):
    """Quotient rounded down: z = floor(x / y). input (*), other (*). Raises RuntimeError for an integer divided by 0."""
    refuse("div_floor", input, "bc")
    x, y = (jax.lax.stop_gradient(a) for a in jnp.broadcast_arrays(input, other))
    if jnp.issubdtype(x.dtype, jnp.inexact):
        return _float_floor(x, y)
    quotient = jax.lax.div(x, y)
    return jnp.where((jax.lax.rem(x, y) != 0) & ((x < 0) != (y < 0)), quotient - number(1, x.dtype), quotient)


def _float_floor(x: Array, y: Array) -> Array:
    """floor(x / y) without the error that the rounded quotient has: from the exact remainder, as Python does."""
    rest = jax.lax.rem(x, y)
    quotient = (x - rest) / y
    quotient = jnp.where((rest != 0) & ((y < 0) != (rest < 0)), quotient - 1, quotient)
    floor = jnp.floor(quotient)
    floor = jnp.where(quotient - floor > 0.5, floor + 1, floor)
    floor = jnp.where(quotient == 0, jnp.copysign(jnp.zeros_like(x), x / y), floor)
    return jnp.where(y == 0, x / y, floor)


@shown_as("div")
@op(promote="arith", check=_no_zero, method=False, name="_trunc_divide", unrounded=("other",))
def _trunc_divide(input: Operand, other: Operand):
    """Quotient rounded towards zero: z = trunc(x / y). input (*), other (*)."""
    refuse("div_trunc", input, "bc")
    x, y = (jax.lax.stop_gradient(a) for a in jnp.broadcast_arrays(input, other))
    return jnp.trunc(x / y) if jnp.issubdtype(x.dtype, jnp.inexact) else jax.lax.div(x, y)


_QUOTIENTS = {None: true_divide, "floor": floor_divide, "trunc": _trunc_divide}


@function(alias=("divide",), method=True, inplace=True)
def div(input: Any, other: Any, *, rounding_mode: str | None = None, out: Any = None) -> Any:
    """Quotient: z = x / y. input (*), other (*); rounding_mode: None (as floats), "trunc" (to zero) or "floor".

    Raises RuntimeError for an unknown rounding_mode, and where an integer is divided by 0 with rounding.
    """
    if rounding_mode not in _QUOTIENTS:
        raise OpError(f"div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '{rounding_mode}'")
    return _QUOTIENTS[rounding_mode](input, other, out=out)


@op(promote="arith", inplace=True, check=_no_zero)
def remainder(input: Operand, other: Operand):
    """Remainder with the divisor's sign: z = x - y floor(x / y). input (*), other (*). Raises RuntimeError for integers by 0."""
    refuse("remainder", input, "bc")
    x, y = jnp.broadcast_arrays(input, other)
    rest = jax.lax.rem(x, y)
    return jnp.where((rest != 0) & ((rest < 0) != (y < 0)), rest + y, rest)


def _fmod_operands(input: Any, other: Any) -> None:
    tensor_first("fmod")(input)
    _no_zero(input, other)


@op(promote="arith", inplace=True, check=_fmod_operands)
def fmod(input: Operand, other: Operand):
    """Remainder with the dividend's sign: z = x - y trunc(x / y). input (*), other (*). Raises RuntimeError for integers by 0."""
    refuse("fmod", input, "bc")
    return jax.lax.rem(*jnp.broadcast_arrays(input, other))


@op(inplace=True, alias=("negative",))
def neg(input: Array):
    """Negative: z = -x. input (*). Raises RuntimeError for bools."""
    if input.dtype == bool:
        raise OpError(
            "neg(): Negation, the `-` operator, on a bool tensor is not supported. If you are trying to invert a mask, use "
            "the `~` or `logical_not()` operator instead."
        )
    return -input


@op(out=False)
def positive(input: Array):
    """The input itself: z = x. input (*). Raises RuntimeError for bools."""
    if input.dtype == bool:
        raise OpError("positive(): The `+` operator, on a bool tensor is not supported.")
    return input


@op(promote="float", inplace=True)
def reciprocal(input: Operand):
    """Reciprocal: z = 1 / x. input (*); integers are taken as floats."""
    return number(1, input.dtype) / input


@op(inplace=True, squares=lambda: 1)
def square(input: Array):
    """Square: z = x * x. input (*); bools give int64."""
    x = input.astype(np.int64) if input.dtype == bool else input
    return x * x


def _as_number(value: Any, input: Array) -> Any:
    """A factor, of which a bool is 0 or 1. Raises RuntimeError where the type in which is computed can't hold it."""
    check_fits(value, float32 if input.dtype in HALVES else FROM_NUMPY[input.dtype])
    return int(value) if isinstance(value, bool) or not is_inexact(input) else value


def _three_tensors(input: Any, tensor1: Any, tensor2: Any, value: Any) -> None:
    tensors_only("addcmul", ("input", "tensor1", "tensor2"))(input, tensor1, tensor2)


@op(promote="arith", inplace=True, check=_three_tensors, older=("value",))
def addcmul(input: Operand, tensor1: Operand, tensor2: Operand, *, value=1):
    """z = x + value * a * b. input (*), tensor1 (*), tensor2 (*): broadcast together. Raises NotImplementedError for bools."""
    refuse("addcmul", input, "b")
    value = _as_number(value, input)
    return in_float32(lambda x, a, b: x + _scaled(a, value, "addcmul") * b)(input, tensor1, tensor2)


def _a_true_quotient(input: Any, tensor1: Any, tensor2: Any, value: Any) -> None:
    tensors_only("addcdiv", ("input", "tensor1", "tensor2"))(input, tensor1, tensor2)
    if tensor1.dtype.category <= INTEGER and tensor2.dtype.category <= INTEGER:
        raise OpError(
            "addcdiv(): Integer division with addcdiv is no longer supported, and in a future release addcdiv will perform "
            "a true division of tensor1 and tensor2."
        )


@op(promote="arith", inplace=True, check=_a_true_quotient, older=("value",))
def addcdiv(input: Operand, tensor1: Operand, tensor2: Operand, *, value=1):
    """z = x + value * a / b. input (*), tensor1 (*), tensor2 (*). Raises RuntimeError for the quotient of two integers."""
    value = _as_number(value, input)
    return in_float32(lambda x, a, b: x + _scaled(a, value, "addcdiv") / b)(input, tensor1, tensor2)


def _one_type(input: Any, end: Any, weight: Any) -> None:
    tensors_only("lerp", ("input", "end"))(input, end)
    for name, other in (("end", end), ("weight", weight)):
        free = other is weight and isinstance(weight, Tensor) and not weight.dim()  # a weight without dimensions is a number
        if isinstance(other, Tensor) and other.dtype != input.dtype and not free:
            raise OpError(f"lerp(): expected dtype {input.dtype} for `{name}` but got dtype {other.dtype}")
    if isinstance(weight, complex) and not input.dtype.is_complex:
        raise OpError(f"lerp(): a complex weight can't be converted to {input.dtype} without overflow")
    if input.dtype.category <= INTEGER and not isinstance(weight, Tensor):
        raise MissingError(f'"lerp" not implemented for {input.dtype}')


@op(promote="arith", inplace=True, check=_one_type, unrounded=("weight",))
def lerp(input: Operand, end: Operand, weight: Operand):
    """Linear interpolation: z = x + w (y - x). input (*), end (*), weight: number or (*). Raises RuntimeError for mixed types."""
    refuse("lerp", input, "bi")
    return in_float32(_between)(input, end, weight)


def _between(x: Array, y: Array, w: Array) -> Array:
    # From the end's side where w is large, so that w = 1 gives the end exactly.
    return jnp.where(jnp.abs(w) < 0.5, x + w * (y - x), y - (y - x) * (1 - w))


@op(promote="float", inplace=True)
def deg2rad(input: Operand):
    """Degrees to radians: z = x pi / 180. input (*)."""
    return in_float32(lambda x: x * number(np.pi / 180, x.dtype))(input)


@op(promote="float", inplace=True)
def rad2deg(input: Operand):
    """Radians to degrees: z = x 180 / pi. input (*)."""
    return in_float32(lambda x: x * number(180 / np.pi, x.dtype))(input)
