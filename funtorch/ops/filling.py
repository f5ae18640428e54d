"""Values written over all of a Tensor: copy_, fill_, zero_."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.call import call
from ..core.handle import Handle, in_place_allowed, value_of
from ..core.op import Op
from ..core.promotion import NUMBERS, scalar
from ..core.state import state
from ..core.writing import write
from ..dtypes import FLOAT, INTEGER, dtype
from ..errors import ArgumentTypeError, OpError
from ..tensor import Tensor
from . import registry
from .across_meta import beside
from .assignment import cast, check_overlap
from .broadcasting import fitted, mismatch
from .declare import function
from .number_ranges import check_fits


def _check_broadcast(have: tuple[int, ...], sizes: tuple[int, ...]) -> None:
    if len(have) > len(sizes):
        raise OpError(f"output with shape {list(sizes)} doesn't match the broadcast shape {list(have)}")
    if any(n not in (1, size) for n, size in zip(reversed(have), reversed(sizes), strict=False)):
        raise OpError(mismatch([sizes, have]))


def copy_(self: Tensor, src: Any, non_blocking: bool = False) -> Tensor:
    """Copy ``src``, a Tensor or a number, into this Tensor: broadcast to its shape, converted to its dtype.

    Raises:
        RuntimeError: if ``src`` can't be broadcast, or this Tensor is a leaf that requires grad.
        NotImplementedError: if ``src`` has no data (the device "meta"), and this Tensor has.
    """
    if isinstance(src, NUMBERS):
        src = Tensor._of_numpy(np.array(src))
    if not isinstance(src, Handle):
        raise ArgumentTypeError(f"copy_(): argument 'other' (position 1) must be Tensor, not {type(src).__name__}")
    in_place_allowed(self, "copy_", state.grad)
    value_of(src)
    sizes = tuple(value_of(self).shape)
    _check_broadcast(tuple(src.shape), sizes)
    check_overlap(self, "copy_")
    if src is not self:
        write(self, call(fitted(sizes), (cast(beside(self, src), self.dtype),)))
    return self


registry.add_method("copy_", copy_)


_ZEROS = {"float8_e8m0fnu": 2.0**-127}  # what stands for 0 where there is none


def fill_value(value: Any, kind: dtype, name: str) -> Any:
    """A number, or a Tensor without dimensions, as an array or Tensor of dtype ``kind``. Raises RuntimeError for another."""
    if isinstance(value, Handle):
        if len(value_of(value).shape):
            raise OpError(f"{name} only supports 0-dimension value tensor but got tensor with {value.dim()} dimensions.")
        return cast(value, kind)
    if not isinstance(value, (int, float, complex, np.generic)):
        raise ArgumentTypeError(f"{name}(): argument 'value' must be Number or 0-dim Tensor, not {type(value).__name__}")
    value = value.item() if isinstance(value, np.generic) else value
    check_fits(value, kind)
    value = value or _ZEROS.get(kind.name, value)
    if isinstance(value, complex) and kind.category in (INTEGER, FLOAT):
        value = value.real
    return scalar(bool(value) if kind.name == "bool" else value, kind).astype(kind.numpy)


def _fill(x: Any, value: Any) -> Any:
    return jnp.broadcast_to(value, x.shape)


_FILL = Op(_fill, "fill")


@function()
def fill(input: Tensor, value: Any) -> Tensor:
    """A Tensor of ``input``'s shape and dtype, filled with a number or a 0-dim Tensor."""
    return call(_FILL, (input, fill_value(value, input.dtype, "fill_")))


@function(name="fill_", method=True)
def fill_(input: Tensor, value: Any) -> Tensor:
    """Fill ``input`` in place with a number or a 0-dim Tensor. Raises RuntimeError for a leaf that requires grad."""
    in_place_allowed(input, "fill_", state.grad)
    write(input, fill(input, value))
    return input


@function(name="zero_", method=True)
def zero_(input: Tensor) -> Tensor:
    """Fill ``input`` with zeros in place. Raises RuntimeError for a leaf that requires grad."""
    in_place_allowed(input, "zero_", state.grad)
    write(input, fill(input, 0))
    return input
