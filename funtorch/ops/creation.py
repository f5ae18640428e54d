"""Tensors filled with one value or the identity's: of a size, or like another."""

from __future__ import annotations

from typing import Any

import jax
import numpy as np

from .. import dtypes
from ..core.batching import open_vmaps
from ..core.call import call
from ..core.foreign import is_foreign
from ..core.handle import value_of
from ..core.levels import WRAPPED
from ..core.op import Op
from ..core.views import concrete
from ..dtypes import as_dtype
from ..dtypes import dtype as DType
from ..errors import ArgumentTypeError
from ..layouts import strided
from ..tensor import Tensor
from .arguments import static
from .assignment import cast
from .declare import function
from .number_ranges import check_fits
from .placing import on_meta, place, place_made, size_of, to_out, without_data


def _filled(size: tuple, value: Any, dtype: Any, device: Any, requires_grad: bool) -> Tensor:
    kind = dtypes.default() if dtype is None else as_dtype(dtype)
    if on_meta(device):  # which may be larger than memory
        return without_data(size, kind.numpy, requires_grad)
    return place(np.full(size, value, kind.numpy) if value else np.zeros(size, kind.numpy), device, requires_grad)


@function()
def zeros(
    *sizes: Any,
    size: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Zeros of a size: ``zeros(2, 3)``. dtype: the default one unless given.

    >>> import funtorch as torch
    >>> torch.zeros(2)
    tensor([0., 0.])
    """
    if layout is not None and layout is not strided:
        from ..sparse.creation import zeros as sparse_zeros

        return sparse_zeros(size_of(sizes, "zeros", size), dtype, layout, requires_grad, device)
    return to_out(out, _filled(size_of(sizes, "zeros", size), 0, dtype, device, requires_grad), device)


@function()
def ones(
    *sizes: Any,
    size: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Ones of a size: ``ones(2, 3)``. dtype: the default one unless given."""
    return to_out(out, _filled(size_of(sizes, "ones", size), 1, dtype, device, requires_grad), device)


@function()
def empty(
    *sizes: Any,
    size: Any = None,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A Tensor of a size whose values nobody should read: here, zeros."""
    return to_out(out, _filled(size_of(sizes, "empty", size), 0, dtype, device, requires_grad), device)


@function()
def full(
    size: Any,
    fill_value: Any,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """``fill_value`` everywhere. dtype: that of the value (int64, bool, the default float) unless given."""
    shape = size_of((size,), "full")
    if isinstance(fill_value, Tensor) and concrete(fill_value) is None:
        kind = fill_value.dtype if dtype is None else as_dtype(dtype)
        return cast(fill_value, kind).reshape(()).expand(shape).clone()
    value = fill_value.item() if isinstance(fill_value, (Tensor, np.generic)) else fill_value
    kind = (fill_value.dtype if isinstance(fill_value, Tensor) else dtypes.of_scalar(value)) if dtype is None else as_dtype(dtype)
    element = _element(value, kind)
    return to_out(out, place_made(lambda: np.full(shape, element), shape, kind.numpy, device, requires_grad), device)


def _element(value: Any, kind: DType) -> np.ndarray:
    """A Python number as an element of ``kind``. Raises RuntimeError if it overflows."""
    check_fits(value, kind)
    if isinstance(value, complex) and kind.category in (dtypes.INTEGER, dtypes.FLOAT):
        value = value.real
    return np.array(value).astype(kind.numpy)


def _like(input: Tensor, value: Any, dtype: Any, device: Any, requires_grad: bool, name: str) -> Tensor:
    if not isinstance(input, Tensor):
        raise ArgumentTypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
    if is_foreign(input):
        from ..sparse.creation import zeros_like as sparse_zeros_like

        return sparse_zeros_like(input, dtype, requires_grad, name)
    kind = input.dtype if dtype is None else as_dtype(dtype)
    shape, element = value_of(input).shape, _element(value, kind)
    made = place_made(lambda: np.full(shape, element), shape, kind.numpy, input.device if device is None else device)
    made = _batched_like(made, input)
    return made.requires_grad_() if requires_grad else made


_WITH_LANES = Op(lambda like, made: jax.numpy.broadcast_to(made, like.shape), "expand_lanes")


def _batched_like(made: Tensor, input: Tensor) -> Tensor:
    """``made``, mapped over the lanes that ``input`` is mapped over: writing to it in place then writes each lane's own."""
    return call(_WITH_LANES, (input.detach(), made)) if type(input._payload) in WRAPPED and open_vmaps() else made


@function(method=False)
def zeros_like(
    input: Tensor,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """Zeros of the size and dtype of ``input``."""
    return _like(input, 0, dtype, device, requires_grad, "zeros_like")


@function()
def ones_like(
    input: Tensor,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """Ones of the size and dtype of ``input``."""
    return _like(input, 1, dtype, device, requires_grad, "ones_like")


@function()
def empty_like(
    input: Tensor,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """A Tensor of the size and dtype of ``input`` whose values nobody should read: here, zeros."""
    return _like(input, 0, dtype, device, requires_grad, "empty_like")


@function()
def full_like(
    input: Tensor,
    fill_value: Any,
    *,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    requires_grad: bool = False,
    memory_format: Any = None,
    pin_memory: bool = False,
) -> Tensor:
    """``fill_value`` everywhere, in the size and dtype of ``input``."""
    return _like(input, static(fill_value), dtype, device, requires_grad, "full_like")


@function()
def eye(
    n: int,
    m: int | None = None,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Ones on the diagonal, zeros elsewhere: shape (n, m), or (n, n). Raises RuntimeError for a negative size."""
    size = size_of((n, n if m is None else m), "eye")
    kind = dtypes.default() if dtype is None else as_dtype(dtype)
    made = place_made(lambda: np.eye(*size, dtype=kind.numpy), size, kind.numpy, device, requires_grad)
    return to_out(out, made, device)


def is_tensor(obj: Any) -> bool:
    """Whether ``obj`` is a Tensor."""
    return isinstance(obj, Tensor)
