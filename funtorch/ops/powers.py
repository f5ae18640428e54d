"""Powers and roots, elementwise."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.handle import Handle
from ..core.promotion import NUMBERS, result_type, scalar
from ..dtypes import COMPLEX, FLOAT, INTEGER, complex128, dtype, float64
from ..errors import OpError
from ..tensor import Tensor
from . import return_types
from .assignment import cast, into
from .declare import Array, Operand, function, op
from .number_ranges import check_fits
from .operands import in_float32, is_inexact, number, refuse, rounded_to, shown_as, tensor_somewhere, tensors_only

# Exponents that get an op of their own: products and roots instead of the general power.
_SIMPLE = {0: None, 0.5: jnp.sqrt, -0.5: jax.lax.rsqrt}
_LARGEST_PRODUCT = 4
# Of bfloat16, in whose type PyTorch rounds the square first.
_ROUNDED_SQUARES = {
    3: lambda x: rounded_to(jnp.bfloat16, x * x) * x,
    -2: lambda x: 1 / rounded_to(jnp.bfloat16, x * x),
}


def _general(x: Array, y: Array) -> Array:
    x, y = jnp.broadcast_arrays(x, y)
    if not is_inexact(x):
        return _whole(x, y)
    # 0 ** 0 is 1 ** 0: the slope y x^(y - 1) would be 0 times infinity there, and PyTorch's is 0.
    return jax.lax.pow(jnp.where((x == 0) & (y == 0), 1, x), y)


def _whole(x: Array, y: Array) -> Array:
    """An integer power by repeated squaring; it wraps around. A negative exponent leaves only the powers of 1 and -1."""
    one = number(1, x.dtype)

    def step(_: Any, state: tuple) -> tuple:
        power, rest, result = state
        result = jnp.where(rest & one != 0, result * power, result)
        return power * power, jax.lax.shift_right_logical(rest, jnp.full_like(rest, one)), result

    exponent = jnp.maximum(y, number(0, x.dtype))
    _, _, result = jax.lax.fori_loop(0, 8 * x.dtype.itemsize, step, (x, exponent, jnp.full_like(x, one)))
    if x.dtype.kind == "u":
        return result
    odd = jnp.where(y & one != 0, x, one)
    return jnp.where(y < 0, jnp.where(x == 1, one, jnp.where(x == -1, odd, 0)), result).astype(x.dtype)


@shown_as("pow")
@op(promote="arith", name="_pow", method=False, out=False, check=tensor_somewhere("pow"))
def _pow(input: Operand, exponent: Operand):
    """Power: z = x ** y. input (*), exponent (*): broadcast together."""
    refuse("pow", input, "b")
    return _general(input, exponent)


@shown_as("pow")
@op(name="_pow_by", method=False, out=False, squares=lambda exponent, kind: int(exponent == 2))
def _pow_by(input: Array, exponent, kind):
    """Power with a small constant exponent: z = x ** exponent in type ``kind``. input (*)."""
    x = input.astype(kind.numpy)
    if x.dtype == bool:  # of a bool exponent
        return x if exponent else jnp.ones_like(x)
    if x.dtype == jnp.bfloat16 and exponent in _ROUNDED_SQUARES:
        return in_float32(_ROUNDED_SQUARES[exponent])(x)
    return in_float32(_by_simple)(x, exponent=exponent)


def _by_simple(x: Array, exponent: Any) -> Array:
    if exponent in _SIMPLE:
        root = _SIMPLE[exponent]
        return jnp.ones_like(x) if root is None else root(x)
    return jax.lax.integer_pow(x, int(exponent))


def _is_simple(exponent: Any, kind: dtype) -> bool:
    if isinstance(exponent, complex):
        return False
    if exponent in (0.5, -0.5):
        return kind.category > INTEGER
    return abs(exponent) <= _LARGEST_PRODUCT and exponent == int(exponent)


@function(method=True, inplace=True)
def pow(input: Any, exponent: Any, *, out: Any = None) -> Any:
    """Power: z = x ** y. input (*), exponent (*) or a number; either may be a number. z in their common type.

    Raises RuntimeError for an integer to a negative integer power, as a number.
    """
    if isinstance(exponent, NUMBERS) and isinstance(input, Handle):
        kind = result_type((input, exponent))
        if kind.category <= INTEGER and not isinstance(exponent, complex) and exponent < 0:
            raise OpError("Integers to negative integer powers are not allowed.")
        if kind.category == FLOAT and kind.itemsize == 2:
            check_fits(exponent, kind)
        if _is_simple(exponent, kind):
            result = _pow_by(input, exponent, kind)
            return result if out is None else into(out, result, "pow")
    result = _pow(input, exponent)
    return result if out is None else into(out, result, "pow")


@function(method=True, inplace=True)
def float_power(input: Any, exponent: Any, *, out: Any = None) -> Any:
    """Power in double precision: z = x ** y. input (*), exponent (*) or a number; z is float64 or complex128."""
    tensor_somewhere("float_power")(input, exponent)
    wide = complex128 if result_type((input, exponent)).category == COMPLEX else float64
    base, power = (cast(x, wide) if isinstance(x, Handle) else x for x in (input, exponent))
    if not isinstance(power, Handle):
        power = Tensor._of_numpy(scalar(power, wide))
    result = pow(base, power)
    return result if out is None else into(out, result, "float_power")


@op(promote="float", inplace=True)
def sqrt(input: Operand):
    """Square root: z = x ** 0.5. input (*); NaN for negative numbers."""
    return jnp.sqrt(input)


@op(promote="float", inplace=True)
def rsqrt(input: Operand):
    """Reciprocal of the square root: z = x ** -0.5. input (*)."""
    return jax.lax.rsqrt(input)


@op(promote="arith", inplace=True, check=tensors_only("hypot"))
def hypot(input: Operand, other: Operand):
    """Length of the hypotenuse: z = sqrt(x^2 + y^2), without overflow midway. input (*), other (*). Its gradient at 0 is NaN."""
    refuse("hypot", input, "bic")
    return in_float32(_hypot)(*jnp.broadcast_arrays(input, other))


def _hypot(x: Array, y: Array) -> Array:
    scale = jax.lax.stop_gradient(jnp.maximum(jnp.abs(x), jnp.abs(y)))
    infinite = jnp.isinf(x) | jnp.isinf(y)
    safe = jnp.where((scale == 0) | jnp.isinf(scale), 1, scale)
    u, v = x / safe, y / safe
    return jnp.where(infinite, jnp.inf, safe * jnp.sqrt(u * u + v * v)).astype(x.dtype)


@op(promote="float", inplace=True, check=tensors_only("ldexp"))
def ldexp(input: Operand, other: Operand):
    """z = x * 2 ** y. input (*), other (*)."""
    return input * in_float32(jnp.exp2)(other)


@op(result=return_types.TYPES["frexp"]._make)
def frexp(input: Array):
    """Mantissa and exponent: x = mantissa * 2 ** exponent, 0.5 <= |mantissa| < 1. input (*) of floats; exponent is int32."""
    refuse("frexp", input, "bic")
    _, exponent = jnp.frexp(jax.lax.stop_gradient(input.astype(jnp.float64)))
    exponent = jnp.where(jnp.isfinite(input), exponent, 0).astype(np.int32)
    half = exponent // 2
    # In two steps, since 2 ** exponent alone may overflow.
    two = number(2, input.dtype)
    mantissa = input * two ** (-half).astype(input.dtype) * two ** (half - exponent).astype(input.dtype)
    return mantissa, exponent
