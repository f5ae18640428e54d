"""Comparisons and logic, elementwise. Operands (*) are broadcast in their common type; z (*) is of bools."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.handle import Handle, value_of
from ..core.meta import NO_DATA, is_meta
from ..core.promotion import result_type
from ..dtypes import FLOAT, INTEGER
from ..errors import ArgumentTypeError, MissingError, OpError
from ..tensor import Tensor
from .assignment import TYPE_NAMES
from .declare import Array, Operand, function, op
from .operands import is_floating, is_inexact, kind_of, refuse, tensor_first, truth


@op(promote="arith", inplace=True, check=tensor_first("eq"))
def eq(input: Operand, other: Operand):
    """Whether x = y. input (*), other (*)."""
    return jnp.equal(input, other)


@op(promote="arith", inplace=True, alias=("not_equal",), check=tensor_first("ne"))
def ne(input: Operand, other: Operand):
    """Whether x differs from y. input (*), other (*)."""
    return jnp.not_equal(input, other)


@op(promote="arith", inplace=True, alias=("less",), check=tensor_first("lt"))
def lt(input: Operand, other: Operand):
    """Whether x < y. input (*), other (*)."""
    refuse("lt", input, "c")
    return jnp.less(input, other)


@op(promote="arith", inplace=True, alias=("less_equal",), check=tensor_first("le"))
def le(input: Operand, other: Operand):
    """Whether x <= y. input (*), other (*)."""
    refuse("le", input, "c")
    return jnp.less_equal(input, other)


@op(promote="arith", inplace=True, alias=("greater",), check=tensor_first("gt"))
def gt(input: Operand, other: Operand):
    """Whether x > y. input (*), other (*)."""
    refuse("gt", input, "c")
    return jnp.greater(input, other)


@op(promote="arith", inplace=True, alias=("greater_equal",), check=tensor_first("ge"))
def ge(input: Operand, other: Operand):
    """Whether x >= y. input (*), other (*)."""
    refuse("ge", input, "c")
    return jnp.greater_equal(input, other)


@op(inplace=True)
def logical_and(input: Array, other: Array):
    """Whether both are other than 0. input (*), other (*), of any types."""
    return truth(input) & truth(other)


@op(inplace=True)
def logical_or(input: Array, other: Array):
    """Whether one is other than 0. input (*), other (*), of any types."""
    return truth(input) | truth(other)


@op(inplace=True)
def logical_xor(input: Array, other: Array):
    """Whether exactly one is other than 0. input (*), other (*), of any types."""
    return truth(input) ^ truth(other)


@op(inplace=True)
def logical_not(input: Array):
    """Whether x is 0. input (*)."""
    return ~truth(input)


@op(out=False)
def isnan(input: Array):
    """Whether x is NaN (or has a part that is). input (*)."""
    return jnp.isnan(input)


@op(out=False)
def isinf(input: Array):
    """Whether x is infinite (or has a part that is). input (*)."""
    if jnp.iscomplexobj(input):
        return jnp.isinf(input.real) | jnp.isinf(input.imag)
    return jnp.isinf(input)


@op(out=False)
def isfinite(input: Array):
    """Whether x is neither infinite nor NaN. input (*)."""
    return jnp.isfinite(input)


@op()
def isposinf(input: Array):
    """Whether x is +inf. input (*). Raises RuntimeError for complex input."""
    if jnp.iscomplexobj(input):
        raise OpError("isposinf does not support complex inputs.")
    return input == jnp.inf if is_floating(input) else jnp.zeros(input.shape, bool)


@op()
def isneginf(input: Array):
    """Whether x is -inf. input (*). Raises RuntimeError for complex input."""
    if jnp.iscomplexobj(input):
        raise OpError("isneginf does not support complex inputs.")
    return input == -jnp.inf if is_floating(input) else jnp.zeros(input.shape, bool)


@op(out=False)
def isreal(input: Array):
    """Whether the imaginary part is 0. input (*)."""
    return input.imag == 0 if jnp.iscomplexobj(input) else jnp.ones(input.shape, bool)


@op(out=False)
def isclose(input: Array, other: Array, rtol=1e-05, atol=1e-08, equal_nan=False):
    """Whether |x - y| <= atol + rtol |y|. input (*), other (*), of one type; infinities must be equal.

    Raises RuntimeError for unlike types and for negative tolerances.
    """
    if input.dtype != other.dtype:
        raise OpError(f"{kind_of(input)} did not match {kind_of(other)}")
    if rtol < 0 or atol < 0:
        name, value = ("rtol", rtol) if rtol < 0 else ("atol", atol)
        raise OpError(f"{name} must be greater than or equal to zero, but got {value}")
    close = jnp.equal(input, other)
    if equal_nan and is_inexact(input):
        close = close | (jnp.isnan(input) & jnp.isnan(other))
    if rtol == 0 and atol == 0:
        return close
    x, y = (a if is_inexact(a) else a.astype(jnp.float64) for a in (input, other))
    error = jnp.abs(x - y)
    return close | (jnp.isfinite(error) & (error <= atol + jnp.abs(rtol * y)))


@function(method=True)
def allclose(input: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False) -> bool:
    """Whether `isclose` holds everywhere, as a Python bool. input (*), other (*)."""
    return bool(isclose(input, other, rtol, atol, equal_nan).all())


@function(method=True)
def equal(input: Any, other: Any) -> bool:
    """Whether two Tensors have the same size and elements, as a Python bool. input (*), other (*).

    Raises TypeError for what is no Tensor, NotImplementedError for Tensors without data (the device "meta").
    """
    for position, (name, x) in enumerate((("input", input), ("other", other)), 1):
        if not isinstance(x, Handle):
            raise ArgumentTypeError(f"equal(): argument '{name}' (position {position}) must be Tensor, not {type(x).__name__}")
    if is_meta(input) or is_meta(other):
        raise MissingError(f"equal(): {NO_DATA}")
    if value_of(input).shape != value_of(other).shape:
        return False
    return bool(eq(input, other).all())


@op(name="_isin", method=False)
def _isin(elements: Array, test_elements: Array, kind, invert):
    """Whether each element is among others, all in one type."""
    x, y = elements.astype(kind.numpy), test_elements.astype(kind.numpy)
    found = (x[..., None] == y.reshape(-1)).any(-1)
    return ~found if invert else found


@function()
def isin(elements: Any, test_elements: Any, *, assume_unique: bool = False, invert: bool = False, out: Any = None) -> Any:
    """Whether each element is among others. elements (*), test_elements (*); one may be a number; z like elements.

    ``assume_unique`` changes nothing here. Raises TypeError for two numbers, RuntimeError for bools and complex numbers.
    """
    if not (isinstance(elements, Handle) or isinstance(test_elements, Handle)):
        raise ArgumentTypeError("isin(): one of elements and test_elements must be Tensor, but both are numbers")
    kind = result_type((elements, test_elements))
    x, y = (a if isinstance(a, Handle) else Tensor._of_numpy(np.array(a)) for a in (elements, test_elements))
    for a in (x, y):
        if a.dtype.category not in (INTEGER, FLOAT):
            raise OpError(f"Unsupported input type encountered for isin(): {TYPE_NAMES[a.dtype.name]}")
    return _isin(x, y, kind, bool(invert), out=out)
