"""Means and variances along dimensions. Halves are computed in float32."""

from __future__ import annotations

import builtins
import math
from typing import Any

import jax
import jax.numpy as jnp

from ..cautions import caution
from ..core.dims import wrap_dims
from ..core.handle import Handle
from ..core.selected import chosen
from ..errors import ArgumentTypeError, OpError
from .declare import Array, function, op
from .operands import in_float32, is_inexact, kind_of, shown_as
from .reduction import accumulated

NO_FLOATS = "{}(): could not infer output dtype. Input dtype must be either a floating point or complex dtype. Got: {}"


def _count(shape: tuple[int, ...], dims: tuple[int, ...]) -> int:
    count = 1
    for d in dims:
        count *= shape[d] if shape else 1
    return count


def _mean_type(x: Array, dtype: Any, name: str) -> None:
    if dtype is None and not is_inexact(x):
        raise OpError(NO_FLOATS.format(name, kind_of(x)))
    if dtype is not None and not (dtype.is_floating_point or dtype.is_complex):
        raise OpError(
            f"{name}(): could not infer output dtype. Optional dtype must be either a floating point or complex dtype. Got: "
            f"{kind_of(jnp.empty(0, dtype.numpy))}"
        )


@op()
def mean(input: Array, dim=None, keepdim=False, *, dtype=None):
    """Mean along dimensions. input (*) of floats, dim: one, several or all; dtype: the type to convert to first.

    Raises RuntimeError for integers without ``dtype``, IndexError for a dimension out of range.
    """
    _mean_type(input, dtype, "mean")
    x, result = accumulated(input, dtype, rounds=False)
    dims = wrap_dims(dim, x.ndim)
    return (jnp.sum(x, axis=dims, keepdims=keepdim) / jnp.asarray(_count(x.shape, dims), x.dtype)).astype(result)


@op()
def nanmean(input: Array, dim=None, keepdim=False, *, dtype=None):
    """Mean of the elements that aren't NaN, along dimensions. input (*), dim, dtype: as in `mean`. Raises RuntimeError."""
    _mean_type(input, dtype, "nanmean")
    x, result = accumulated(input, dtype, rounds=False)
    dims = wrap_dims(dim, x.ndim)
    there = ~jnp.isnan(x)
    total = jnp.sum(chosen(there, x, jnp.zeros((), x.dtype)), axis=dims, keepdims=keepdim)
    return (total / jnp.sum(there, axis=dims, keepdims=keepdim).astype(x.dtype)).astype(result)


def _second_moment(x: Array, dims: tuple[int, ...], correction: float, keepdim: bool) -> Array:
    count = _count(x.shape, dims)
    centre = jnp.sum(x, axis=dims, keepdims=True) / jnp.asarray(count, x.dtype)
    gap = x - centre
    # In a large sum the centre is rounded: what the gaps have left of a mean corrects it. (Its own slope is 0.)
    gap = gap - jax.lax.stop_gradient(jnp.sum(gap, axis=dims, keepdims=True) / jnp.asarray(count, x.dtype))
    square = gap.real * gap.real + gap.imag * gap.imag if jnp.iscomplexobj(x) else gap * gap
    divisor = builtins.max(count - correction, 0)
    return jnp.sum(square, axis=dims, keepdims=keepdim) / jnp.asarray(divisor, square.dtype)


def root(square: Array) -> Array:
    """Square root whose gradient at 0 is 0, as PyTorch has it for deviations and norms."""
    zero = square == 0
    return jnp.where(zero, 0, jnp.sqrt(jnp.where(zero, 1, square)))


def _spread(input: Array, dim: Any, correction: Any, keepdim: bool, name: str, finish: Any = None) -> Array:
    if not is_inexact(input):
        raise OpError(f"{name}(): std and var only support floating point and complex dtypes, got {kind_of(input)}")
    dims = wrap_dims(dim, input.ndim)
    correction = 1 if correction is None else correction

    def computed(x: Array) -> Array:
        square = _second_moment(x, dims, correction, keepdim)
        return square if finish is None else finish(square)

    return in_float32(computed)(input)


def _average(input: Array, dim: Any, keepdim: bool) -> Array:
    dims = wrap_dims(dim, input.ndim)
    return in_float32(lambda x: jnp.sum(x, axis=dims, keepdims=keepdim) / jnp.asarray(_count(x.shape, dims), x.dtype))(input)


@shown_as("var")
@op(name="_var", method=False)
def _var(input: Array, dim, correction, keepdim):
    """Variance along dimensions."""
    return _spread(input, dim, correction, keepdim, "var")


def _squared_std(dim: Any, correction: Any, keepdim: bool) -> Any:
    return lambda x: _spread(x, dim, correction, keepdim, "std")


@shown_as("std")
@op(name="_std", method=False, squared=_squared_std)
def _std(input: Array, dim, correction, keepdim):
    """Standard deviation along dimensions."""
    return _spread(input, dim, correction, keepdim, "std", root)


@shown_as("var_mean")
@op(name="_var_mean", method=False)
def _var_mean(input: Array, dim, correction, keepdim):
    """Variance and mean along dimensions."""
    return _spread(input, dim, correction, keepdim, "var_mean"), _average(input, dim, keepdim)


@shown_as("std_mean")
@op(name="_std_mean", method=False)
def _std_mean(input: Array, dim, correction, keepdim):
    """Standard deviation and mean along dimensions."""
    return _spread(input, dim, correction, keepdim, "std_mean", root), _average(input, dim, keepdim)


def _degrees(shape: tuple[int, ...], dim: Any, correction: Any) -> float:
    """By what a sum of squares is divided; more than nothing where the arguments are at fault."""
    try:
        if dim is None:
            return builtins.max(math.prod(shape) - correction, 0)
        return _count(shape, wrap_dims(dim, len(shape))) - correction
    except (TypeError, IndexError, RuntimeError):
        return 1


def _declare(name: str, computed: Any, doc: str) -> Any:
    """The public function, which also takes the older forms ``(unbiased)`` and ``(dim, unbiased, keepdim)``."""

    def reduced(
        input: Any, dim: Any = None, unbiased: Any = None, keepdim: bool = False, *, correction: Any = None, out: Any = None
    ) -> Any:
        if isinstance(dim, bool):
            dim, unbiased = None, dim
        if unbiased is not None and correction is not None:
            raise ArgumentTypeError(f"{name}(): give unbiased or correction, not both")
        if unbiased is not None:
            correction = int(unbiased)
        correction = 1 if correction is None else correction
        if isinstance(input, Handle) and _degrees(input._payload.shape, dim, correction) <= 0:
            caution(
                f"{name}(): degrees of freedom is <= 0. Correction should be strictly less than the number of elements reduced."
            )
        return computed(input, dim, correction, keepdim, out=out)

    reduced.__name__ = reduced.__qualname__ = name
    reduced.__doc__ = doc + (
        " along dimensions, of n elements divided by n - correction.\n\n"
        "    input (*) of floats; dim: one, several or all; correction: 1 unless given; unbiased: the older form of it.\n"
        "    Raises RuntimeError for integers, IndexError for a dimension out of range.\n    "
    )
    return function(name=name, method=name in ("var", "std"))(reduced)


var = _declare("var", _var, "Variance")
std = _declare("std", _std, "Standard deviation (its gradient is 0 where it is 0)")
var_mean = _declare("var_mean", _var_mean, "Variance, and mean,")
std_mean = _declare("std_mean", _std_mean, "Standard deviation, and mean,")
