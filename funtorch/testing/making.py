"""make_tensor: values for tests, drawn uniformly from a range that suits the dtype."""

from __future__ import annotations

import math
from typing import Any

from .. import dtypes
from ..autograd.modes import no_grad
from ..dtypes import dtype as DType  # noqa: N812
from ..errors import ArgumentTypeError, ArgumentValueError
from ..numbers_info import finfo, iinfo
from ..ops import registry
from ..tensor import Tensor

__all__ = ["make_tensor"]

_torch = registry.names("torch")


def make_tensor(
    *shape: Any,
    dtype: DType,
    device: Any,
    low: float | None = None,
    high: float | None = None,
    requires_grad: bool = False,
    noncontiguous: bool = False,
    exclude_zero: bool = False,
    memory_format: Any = None,
) -> Tensor:
    """A Tensor of values drawn uniformly from [low, high).

    Args:
        shape: ints, or one sequence of them.
        dtype: any; complex parts are drawn like floats.
        device: where.
        low: -9 unless given, 0 for uint8 and bool.
        high: 9 for floats, 10 for ints, 2 for bool unless given.
        requires_grad: for floats and complex numbers.
        noncontiguous: whether its elements lie two apart in memory.
        exclude_zero: whether to put 1, or the smallest positive float, in the place of each 0.
        memory_format: of a contiguous one.

    Raises:
        ValueError: low is not below high, one is NaN, or both noncontiguous and memory_format are given.
        TypeError: an unknown dtype.

    Example:
        >>> torch.testing.make_tensor((2, 3), dtype=torch.int64, device="cpu", low=0, high=5).shape
        torch.Size([2, 3])
    """
    size = tuple(shape[0]) if len(shape) == 1 and isinstance(shape[0], (tuple, list)) else tuple(shape)
    if not isinstance(dtype, DType):
        raise ArgumentTypeError(f"make_tensor(): the dtype {dtype!r} is not supported")
    if noncontiguous and memory_format is not None:
        raise ArgumentValueError("make_tensor(): noncontiguous and memory_format can't both be given")
    if requires_grad and not (dtype.is_floating_point or dtype.is_complex):
        raise ArgumentValueError(f"make_tensor(): requires_grad must be False for {dtype}")
    with no_grad():
        apart = noncontiguous and math.prod(size) > 1
        result = _drawn((*size[:-1], 2 * size[-1]) if apart else size, dtype, device, *_range(dtype, low, high))
        if apart:
            result = result[..., 1::2]
        if exclude_zero:
            kind = dtype.to_real()
            result[result == 0] = finfo(kind).tiny if kind.is_floating_point else 1
        if memory_format is not None:
            result = result.clone(memory_format=memory_format)
    return result.requires_grad_(requires_grad)


def _range(dtype: DType, low: float | None, high: float | None) -> tuple[Any, Any]:
    """The bounds, those of the dtype where none is given, inside of what the dtype holds."""
    kind = dtype.to_real()
    whole = not kind.is_floating_point
    own = (0, 2) if kind is dtypes.bool_ else (-9 if kind.is_signed else 0, 10 if whole else 9)
    low, high = (own[0] if low is None else low), (own[1] if high is None else high)
    if any(isinstance(each, float) and math.isnan(each) for each in (low, high)):
        raise ArgumentValueError(f"make_tensor(): low and high can't be NaN, got low={low} and high={high}")
    if not low < high:
        raise ArgumentValueError(f"make_tensor(): low must be below high, got {low} >= {high}")
    if kind is dtypes.bool_:
        bounds: tuple[Any, Any] = (0, 2)
    elif whole:
        bounds = (iinfo(kind).min, iinfo(kind).max + (kind is not dtypes.int64))
        low, high = math.ceil(low), math.ceil(high)
    else:
        bounds = (finfo(kind).min, finfo(kind).max)
    return min(max(low, bounds[0]), bounds[1]), min(max(high, bounds[0]), bounds[1])


def _drawn(size: tuple[int, ...], dtype: DType, device: Any, low: Any, high: Any) -> Tensor:
    if dtype.is_complex:
        parts = _torch["empty"]((*size, 2), dtype=dtype.to_real(), device=device).uniform_(low, high)
        return _torch["view_as_complex"](parts)
    if dtype.is_floating_point:
        return _torch["empty"](size, dtype=dtype, device=device).uniform_(low, high)
    return _torch["randint"](low, high, size, dtype=dtype, device=device)
