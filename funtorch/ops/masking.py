"""Elements chosen by a mask: masked_fill, masked_scatter, masked_select. Mask and input broadcast together."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..cautions import caution
from ..core.call import call
from ..core.handle import Handle, value_of
from ..core.selected import chosen
from ..core.views import concrete
from ..errors import OpError
from ..tensor import Tensor
from .assignment import TYPE_NAMES, into
from .broadcasting import broadcast_tensors, mismatch
from .declare import function
from .filling import fill_value
from .gathering import kind_of
from .kept import kept
from .number_ranges import check_fits
from .picking import known


def _bool_mask(name: str, mask: Any) -> None:
    if kind_of(mask) != "bool":
        if name == "masked_scatter" and kind_of(mask) == "uint8":
            caution("masked_scatter_ received a mask with dtype torch.uint8, which is no more taken; use a mask of torch.bool.")
        long = {"int64": "long int", "uint8": "unsigned char", "int32": "int", "float32": "float", "float64": "double"}
        raise OpError(f"{name}_ only supports boolean masks, but got mask with dtype {long.get(kind_of(mask), kind_of(mask))}")


@kept("masked_fill")
def _masked_fill() -> Any:
    return lambda x, mask, value: chosen(mask, value.astype(x.dtype), x)


@function(method=True, inplace=True)
def masked_fill(input: Tensor, mask: Tensor, value: Any) -> Tensor:
    """``value``, a number or a 0-dim Tensor, where ``mask`` is true, and ``input`` elsewhere; the two broadcast.

    Raises:
        RuntimeError: if the mask is not bool, does not broadcast, or the value has dimensions.

    >>> torch.arange(3).masked_fill(torch.tensor([True, False, False]), 7)
    tensor([7, 1, 2])
    """
    _bool_mask("masked_fill", mask)
    if isinstance(value, Handle) and value.dim():
        raise OpError(f"masked_fill_ only supports a 0-dimensional value tensor, but got tensor with {value.dim()} dimension(s).")
    _check_broadcast(input, mask)
    if isinstance(value, Handle) and (held := concrete(value)) is not None:
        check_fits(held.item(), input.dtype)
    return call(_masked_fill(), (input, mask, fill_value(value, input.dtype, "masked_fill_")))


def _check_broadcast(input: Any, mask: Any) -> None:
    shapes = [tuple(value_of(x).shape) for x in (mask, input)]
    try:
        np.broadcast_shapes(*shapes)
    except ValueError:
        raise OpError(mismatch(shapes)) from None


@kept("masked_scatter")
def _masked_scatter() -> Any:
    def pure(x: Any, mask: Any, source: Any) -> Any:
        shape = jnp.broadcast_shapes(x.shape, mask.shape)
        x, mask = jnp.broadcast_to(x, shape), jnp.broadcast_to(mask, shape)
        if not source.size:
            return x
        order = jnp.cumsum(mask.reshape(-1)) - 1
        values = source.reshape(-1)[jnp.clip(order, 0, source.size - 1)].reshape(shape)
        return chosen(mask, values, x)

    return pure


@function(method=True, inplace=True)
def masked_scatter(input: Tensor, mask: Tensor, source: Tensor) -> Tensor:
    """The elements of ``source``, in order, where ``mask`` is true, and ``input`` elsewhere.

    Raises:
        RuntimeError: if there are fewer of them than places, the mask is not bool, or the dtypes differ.

    >>> torch.zeros(3).masked_scatter(torch.tensor([True, False, True]), torch.tensor([1.0, 2.0]))
    tensor([1., 0., 2.])
    """
    _bool_mask("masked_scatter", mask)
    if kind_of(input) != kind_of(source):
        raise OpError(
            f"masked_scatter_: expected self and source to have same dtypes but got {TYPE_NAMES[kind_of(input)]} and "
            f"{TYPE_NAMES[kind_of(source)]}"
        )
    _check_broadcast(input, mask)
    values = known(mask)
    if values is not None:
        wide = np.broadcast_shapes(values.shape, tuple(input.shape))
        if np.count_nonzero(np.broadcast_to(values, wide)) > source.numel():
            raise OpError("Number of elements of source < number of ones in mask")
    return call(_masked_scatter(), (input, mask, source))


@function(method=True)
def masked_select(input: Tensor, mask: Tensor, *, out: Any = None) -> Tensor:
    """The elements where ``mask`` is true, as a vector; the two broadcast together.

    Raises:
        RuntimeError: if the mask is not bool, does not broadcast, or is batched or traced.

    >>> torch.arange(4).masked_select(torch.arange(4) > 1)
    tensor([2, 3])
    """
    if mask.dtype.name != "bool":
        raise OpError("masked_select: expected BoolTensor for mask")
    wide, chosen = broadcast_tensors(input, mask)
    found = wide.reshape(1)[chosen.reshape(1)] if not wide.dim() else wide[chosen]
    return found if out is None else into(out, found, "masked_select")
