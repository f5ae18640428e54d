"""Extremes: the largest and smallest elements, and where they are. NaN counts as an extreme of both kinds."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.dims import wrap_dim, wrap_dims
from ..core.handle import Handle
from ..errors import ArgumentTypeError, OpError, OutOfBoundsError
from .declare import Array, function, op
from .operands import refuse, shown_as
from .return_types import TYPES
from .selection import maximum, minimum

NO_ELEMENTS = (
    "{}(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the 'dim' argument."
)


def _filled(x: Array, dims: tuple[int, ...], name: str) -> None:
    """Raise IndexError if there's nothing along ``dims`` to take an extreme of."""
    for d in dims:
        if x.ndim and x.shape[d] == 0:
            raise OutOfBoundsError(f"{name}(): Expected reduction dim {d} to have non-zero size.")


def _extreme(x: Array, dim: Any, keepdim: bool, name: str, reduce: Any) -> Array:
    refuse(name, x, "c")
    dims = wrap_dims(dim, x.ndim)
    if dim is None or dim == ():
        if x.size == 0:
            raise OpError(NO_ELEMENTS.format(name))
    else:
        _filled(x, dims, name)
    return reduce(x, axis=dims, keepdims=keepdim)


@op()
def amax(input: Array, dim=(), keepdim=False):
    """Largest element along dimensions; equals share the gradient evenly. input (*), dim: as in `sum`. Raises IndexError."""
    return _extreme(input, dim, keepdim, "amax", jnp.max)


@op()
def amin(input: Array, dim=(), keepdim=False):
    """Smallest element along dimensions; equals share the gradient evenly. input (*), dim: as in `sum`. Raises IndexError."""
    return _extreme(input, dim, keepdim, "amin", jnp.min)


@op(result=TYPES["aminmax"]._make, exact_out=True)
def aminmax(input: Array, *, dim=None, keepdim=False):
    """Smallest and largest element, of all or along one dimension. input (*); gives (min, max). Raises RuntimeError if empty."""
    if input.size == 0 and dim is None:
        raise OpError("aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.")
    return _extreme(input, dim, keepdim, "aminmax", jnp.min), _extreme(input, dim, keepdim, "aminmax", jnp.max)


def _place(x: Array, dim: Any, keepdim: bool, name: str, find: Any) -> Array:
    refuse(name, x, "c")
    if x.dtype == bool:
        raise OpError(f"{name}(): does not support bool input")
    if dim is None:
        if x.size == 0:
            raise OutOfBoundsError(f"{name}(): Expected reduction dim to be specified for input.numel() == 0.")
        place = find(x.reshape(-1), axis=0)
        return place.reshape((1,) * x.ndim) if keepdim else place
    axis = wrap_dim(dim, x.ndim)
    _filled(x, (axis,), name)
    return find(x, axis=axis, keepdims=keepdim) if x.ndim else jnp.zeros((), np.int64)


@op()
def argmax(input: Array, dim=None, keepdim=False):
    """Index of the largest element, the first among equals; NaN counts as largest. input (*); z of int64. Raises IndexError."""
    return _place(input, dim, keepdim, "argmax", jnp.argmax).astype(np.int64)


@op()
def argmin(input: Array, dim=None, keepdim=False):
    """Index of the smallest element, the first among equals; NaN counts as smallest. input (*); z of int64. Raises IndexError."""
    return _place(input, dim, keepdim, "argmin", jnp.argmin).astype(np.int64)


def _selected(x: Array, dim: int, keepdim: bool, name: str, find: Any) -> tuple[Array, Array]:
    """The extreme along one dimension and its index; the gradient goes to the element at the index."""
    refuse(name, x, "c")
    axis = wrap_dim(dim, x.ndim)
    if not x.ndim:
        return x, jnp.zeros((), np.int64)
    _filled(x, (axis,), name)
    places = find(jax.lax.stop_gradient(x), axis=axis, keepdims=True).astype(np.int64)
    values = jnp.take_along_axis(x, places, axis=axis)
    return (values, places) if keepdim else (values.squeeze(axis), places.squeeze(axis))


@shown_as("max")
@op(name="_max_along", method=False, result=TYPES["max"]._make)
def _max_along(input: Array, dim, keepdim=False):
    """Largest element along a dimension, and its index."""
    return _selected(input, dim, keepdim, "max", jnp.argmax)


@shown_as("min")
@op(name="_min_along", method=False, result=TYPES["min"]._make)
def _min_along(input: Array, dim, keepdim=False):
    """Smallest element along a dimension, and its index."""
    return _selected(input, dim, keepdim, "min", jnp.argmin)


def _full_extreme(x: Array, name: str, reduce: Any) -> Array:
    refuse(name, x, "c")
    if x.size == 0:
        raise OpError(NO_ELEMENTS.format(name))
    return reduce(x)


@shown_as("max")
@op(name="_max_all", method=False)
def _max_all(input: Array):
    """Largest of all elements."""
    return _full_extreme(input, "max", jnp.max)


@shown_as("min")
@op(name="_min_all", method=False)
def _min_all(input: Array):
    """Smallest of all elements."""
    return _full_extreme(input, "min", jnp.min)


def _overloaded(name: str, all_of: Any, along: Any, of_pair: Any) -> Any:
    def reduced(input: Any, dim: Any = None, keepdim: bool = False, *, other: Any = None, out: Any = None) -> Any:
        if isinstance(dim, Handle):
            dim, other = None, dim
        if other is not None:
            return of_pair(input, other, out=out)
        if dim is None:
            return all_of(input, out=out)
        if not isinstance(dim, (int, np.integer)) or isinstance(dim, bool):
            raise ArgumentTypeError(f"{name}(): argument 'dim' (position 2) must be int, not {type(dim).__name__}")
        return along(input, dim, keepdim, out=out)

    reduced.__name__ = reduced.__qualname__ = name
    return reduced


_max = _overloaded("max", _max_all, _max_along, maximum)
_max.__doc__ = """Largest element: of all; along ``dim``, with its index; or of two Tensors, elementwise.

    ``max(input)`` shares its gradient evenly among equals; ``max(input, dim, keepdim=False)`` gives the named tuple
    (values, indices) and its gradient goes to the index; ``max(input, other)`` is `maximum`. input (*). Raises IndexError,
    and RuntimeError if there are no elements.
    """
function(name="max", method=True)(_max)

_min = _overloaded("min", _min_all, _min_along, minimum)
_min.__doc__ = """Smallest element: of all; along ``dim``, with its index; or of two Tensors, elementwise. As `max`."""
function(name="min", method=True)(_min)
