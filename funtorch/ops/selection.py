"""Choosing among values, elementwise: extremes of pairs, clamps, where, replacements. Operands are broadcast together."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..cautions import caution_once
from ..core.handle import Handle
from ..core.promotion import NUMBERS, result_type
from ..core.selected import chosen
from ..dtypes import BOOL, INTEGER, int64
from ..errors import ArgumentTypeError, MissingError, OpError
from . import registry
from .declare import Array, Operand, function, op
from .direct import elementwise
from .indexing import BYTES
from .number_ranges import check_fits
from .operands import is_floating, kind_of, number, refuse, shown_as, tensor_first, tensors_only, truth


@op(promote="arith", check=tensors_only("maximum"))
def maximum(input: Operand, other: Operand):
    """The larger of x and y; NaN if one is. input (*), other (*). Where they're equal each gets half of the gradient."""
    refuse("maximum", input, "c")
    return jnp.maximum(input, other)


@op(promote="arith", check=tensors_only("minimum"))
def minimum(input: Operand, other: Operand):
    """The smaller of x and y; NaN if one is. input (*), other (*). Where they're equal each gets half of the gradient."""
    refuse("minimum", input, "c")
    return jnp.minimum(input, other)


@op(promote="arith", check=tensors_only("fmax"))
def fmax(input: Operand, other: Operand):
    """The larger of x and y; the other one where one is NaN. input (*), other (*)."""
    refuse("fmax", input, "c")
    return jnp.where((input >= other) | jnp.isnan(other), input, other)


@op(promote="arith", check=tensors_only("fmin"))
def fmin(input: Operand, other: Operand):
    """The smaller of x and y; the other one where one is NaN. input (*), other (*)."""
    refuse("fmin", input, "c")
    return jnp.where((input <= other) | jnp.isnan(other), input, other)


# At a bound JAX halves the gradient between the two; PyTorch gives x all of it.


@jax.custom_jvp
def _at_least(x: Array, bound: Array) -> Array:
    return jnp.maximum(x, bound)


@_at_least.defjvp
def _at_least_jvp(primals: tuple, tangents: tuple) -> tuple:
    (x, bound), (dx, dbound) = primals, tangents
    return _at_least(x, bound), jnp.where(x >= bound, dx, jnp.where(x < bound, dbound, 0))


@jax.custom_jvp
def _at_most(x: Array, bound: Array) -> Array:
    return jnp.minimum(x, bound)


@_at_most.defjvp
def _at_most_jvp(primals: tuple, tangents: tuple) -> tuple:
    (x, bound), (dx, dbound) = primals, tangents
    return _at_most(x, bound), jnp.where(x <= bound, dx, jnp.where(x > bound, dbound, 0))


def _bounds(input: Any, *bounds: Any) -> None:
    """Raise for a bound that the type in which is compared can't hold."""
    if not isinstance(input, Handle):
        return
    if input.dtype.category > INTEGER or any(isinstance(b, float) for b in bounds):
        for bound in bounds:
            if isinstance(bound, NUMBERS):
                check_fits(bound, result_type((input, *[b for b in bounds if b is not None])))
        return
    for bound in bounds:
        if isinstance(bound, bool) and input.dtype.category == BOOL:
            raise MissingError("\"clamp\" not implemented for 'Bool'")
        if isinstance(bound, int):
            check_fits(bound, input.dtype if input.dtype.category == INTEGER else int64)


def _then_bounds(check: Any) -> Any:
    def checked(input: Any, bound: Any) -> None:
        check(input, bound)
        _bounds(input, bound)

    return checked


@op(promote="arith", inplace=True, alias=("clip",), check=_bounds)
def clamp(input: Operand, min: Operand | None = None, max: Operand | None = None):
    """z = min(max(x, min), max). input (*), min, max: numbers or (*), one of them may be None. The gradient at the ends is 1.

    Raises RuntimeError if both are None.
    """
    if min is None and max is None:
        raise OpError("torch.clamp: At least one of 'min' or 'max' must not be None")
    refuse("clamp", input, "c")
    z = input
    if min is not None:
        z = _at_least(z, min)
    if max is not None:
        z = _at_most(z, max)
    return z


@op(promote="arith", inplace=True, check=_then_bounds(tensor_first("clamp_min")))
def clamp_min(input: Operand, min: Operand):
    """z = max(x, min). input (*), min: number or (*). The gradient at the end is 1."""
    refuse("clamp_min", input, "c")
    return _at_least(input, min)


@op(promote="arith", inplace=True, check=_then_bounds(tensor_first("clamp_max")))
def clamp_max(input: Operand, max: Operand):
    """z = min(x, max). input (*), max: number or (*). The gradient at the end is 1."""
    refuse("clamp_max", input, "c")
    return _at_most(input, max)


@jax.custom_jvp
def _positive_part(x: Any) -> Any:
    return jnp.maximum(x, number(0, x.dtype))


@_positive_part.defjvp
def _(primals: tuple, tangents: tuple) -> tuple:
    # JAX's own rule for maximum shares the gradient at a tie; PyTorch's relu gives 0 there, and lets NaN through.
    (x,), (t,) = primals, tangents
    return _positive_part(x), jnp.where(x <= 0, number(0, t.dtype), t)


@op(inplace=True, out=False, direct=lambda present: elementwise.RELU)
def relu(input: Array):
    """Positive part: z = max(x, 0). input (*). Its gradient at 0 is 0."""
    if input.dtype == bool:
        raise OpError("Boolean inputs not supported for relu")
    refuse("relu", input, "c")
    return _positive_part(input)


@function("nn.functional", name="relu")
def _functional_relu(input: Any, inplace: bool = False) -> Any:
    """Positive part: z = max(x, 0). input (*); inplace: write the result to input."""
    return registry.names("torch")["relu_"](input) if inplace else relu(input)


registry.add("nn.functional", "relu_", registry.names("torch")["relu_"])


@shown_as("where")
@op(promote="arith", method=False, name="_where")
def _where(condition: Array, input: Operand, other: Operand):
    """x where the condition holds, else y. condition (*) of bools, input (*), other (*)."""
    if condition.dtype not in (np.dtype(bool), np.dtype(np.uint8)):
        raise OpError(f"where expected condition to be a boolean tensor, but got a tensor with dtype {kind_of(condition)}")
    return chosen(truth(condition), input, other)


@function()
def where(condition: Any, input: Any = None, other: Any = None, *, out: Any = None) -> Any:
    """x where the condition holds, else y; of the condition alone, the places where it holds.

    Args:
        condition: (*) of bools.
        input, other: (*) or numbers, broadcast together with condition; their common type is the result's.

    Returns:
        (*), or a tuple with one index Tensor for each dimension.

    Raises:
        RuntimeError: the condition isn't of bools.
    """
    if not isinstance(condition, Handle):
        raise ArgumentTypeError(f"where(): argument 'condition' (position 1) must be Tensor, not {type(condition).__name__}")
    if condition._payload.dtype is BYTES:
        caution_once("where received a uint8 condition tensor. This is deprecated; use a boolean condition.")
    if input is None and other is None:
        return condition.nonzero(as_tuple=True)
    for given, tensor in ((input, other), (other, input)):
        if type(given) is int:
            _bounds(tensor, given)
    return _where(condition, input, other, out=out)


def _method(self: Any, condition: Any, other: Any) -> Any:
    """x where the condition holds, else other. condition (*) of bools; other: number or (*)."""
    return where(condition, self, other)


registry.add_method("where", _method)


@op(inplace=True)
def nan_to_num(input: Array, nan=None, posinf=None, neginf=None):
    """NaN and infinities replaced: by 0 and the largest finite numbers, unless given. input (*)."""
    if jnp.iscomplexobj(input):
        return jax.lax.complex(_finite(input.real, nan, posinf, neginf), _finite(input.imag, nan, posinf, neginf))
    return _finite(input, nan, posinf, neginf) if is_floating(input) else input


def _finite(x: Array, nan: Any, posinf: Any, neginf: Any) -> Array:
    limits = jnp.finfo(x.dtype)
    replaced = chosen(jnp.isnan(x), number(0.0 if nan is None else float(nan), x.dtype), x)
    replaced = chosen(x == jnp.inf, limits.max if posinf is None else number(float(posinf), x.dtype), replaced)
    return chosen(x == -jnp.inf, limits.min if neginf is None else number(float(neginf), x.dtype), replaced)


@op(inplace=True)
def heaviside(input: Array, values: Array):
    """Step function: 0 below 0, 1 above, ``values`` at 0. input (*), values (*), of one type."""
    if input.dtype != values.dtype:
        raise OpError("heaviside is not yet implemented for tensors with different dtypes.")
    if jnp.iscomplexobj(input):
        raise OpError("heaviside is not yet implemented for complex tensors.")
    step = (input > 0).astype(input.dtype)
    return jnp.where(input == 0, jax.lax.stop_gradient(values), step)
