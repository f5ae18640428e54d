"""Reductions and normalisations of the elements that a mask selects: all others are replaced by the operation's identity.

``mask`` holds bools (other types: other than 0 selects), is broadcast to the input, and selects everything if it is None.
``dim`` is one or several dimensions, None or () for all; ``keepdim`` keeps them, with size 1; ``dtype`` is the result's.
All raise IndexError for a mask with more dimensions than the input or a dimension out of range, RuntimeError for a mask
that can't be broadcast.
"""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import dtypes
from ..core.dims import wrap_dims
from ..core.views import concrete
from ..dtypes import as_dtype
from ..errors import ArgumentTypeError, ArgumentValueError, MissingError, OutOfBoundsError
from ..tensor import Tensor
from . import cumulative, exponential, extremes, matrix_norms, normalised, ordering, reduction
from .creation import ones_like
from .declare import function
from .masking import masked_fill

Dims = int | tuple[int, ...] | None


def _selected(input: Tensor, mask: Tensor | None) -> Tensor | None:
    """The mask as bools in the input's shape."""
    if mask is None:
        return None
    if mask.dim() > input.dim():
        raise OutOfBoundsError(
            "expected broadcastable mask (got mask dimensionality higher than of the input): "
            f"mask {list(mask.shape)}, input {list(input.shape)}"
        )
    return mask.bool().expand(input.shape)


def _filled(input: Tensor, mask: Tensor | None, identity: Any) -> Tensor:
    """The input with ``identity`` where the mask selects nothing."""
    selected = _selected(input, mask)
    return input if selected is None else masked_fill(input, ~selected, identity)


def _bound(input: Tensor, name: str, sign: int) -> Any:
    """The greatest (1) or least (-1) value of the input's dtype. Raises NotImplementedError for bools."""
    if input.dtype.category >= dtypes.FLOAT:
        return sign * math.inf
    if input.dtype == dtypes.bool_:
        raise MissingError(f"masked.{name}: there is no identity for bool input")
    limits: Any = np.iinfo(input.dtype.numpy)
    return int(limits.max if sign > 0 else limits.min)


def _typed(result: Tensor, dtype: Any) -> Tensor:
    return result if dtype is None else result.to(dtype)


def _count(input: Tensor, dims: tuple[int, ...], keepdim: bool, mask: Tensor | None) -> Tensor:
    """How many elements are selected in each place of the result, as int64."""
    selected = _selected(input, mask)
    chosen = ones_like(input, dtype=dtypes.bool_) if selected is None else selected
    return reduction.sum(chosen, dims, keepdim) if input.dim() else chosen.to(dtypes.int64)


@function("masked", name="_input_mask")
def input_mask(input: Tensor, *args: Any, mask: Tensor | None = None, **kwargs: Any) -> Tensor:
    """Which elements of the input a function of this file looks at: bools in the input's shape."""
    selected = _selected(input, mask)
    return ones_like(input, dtype=dtypes.bool_) if selected is None else selected


@function("masked", name="_output_mask")
def output_mask(op: Callable, input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
    """Which elements of ``op(input, *args, **kwargs)`` depend on at least one selected element: bools in its shape."""
    bound = inspect.signature(op).bind(input, *args, **kwargs)
    bound.apply_defaults()
    given = bound.arguments
    mask = input_mask(input, mask=given["mask"])
    if "keepdim" not in given or not input.dim():
        return mask
    return reduction.any(mask, wrap_dims(given["dim"], input.dim()), given["keepdim"])


@function("masked")
def sum(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Sum of the selected elements; 0 of none. Integers give int64."""
    return reduction.sum(_filled(input, mask, 0), dim, keepdim, dtype=dtype)


@function("masked")
def prod(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Product of the selected elements; 1 of none. Integers give int64."""
    result = _filled(input, mask, 1)
    for d in sorted(wrap_dims(dim, input.dim()), reverse=True):
        result = reduction.prod(result, d, keepdim, dtype=dtype)
    return result if input.dim() else reduction.prod(result, dtype=dtype)


@function("masked")
def cumsum(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Running sum of the selected elements along ``dim``."""
    return cumulative.cumsum(_filled(input, mask, 0), dim, dtype=dtype)


@function("masked")
def cumprod(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Running product of the selected elements along ``dim``."""
    return cumulative.cumprod(_filled(input, mask, 1), dim, dtype=dtype)


@function("masked")
def amax(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Largest selected element; the least value of the dtype if there is none. Raises NotImplementedError for bools."""
    found = extremes.amax(_filled(input, mask, _bound(input, "amax", -1)), () if dim is None else dim, keepdim)
    return _typed(found, dtype)


@function("masked")
def amin(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Smallest selected element; the greatest value of the dtype if there is none. Raises NotImplementedError for bools."""
    found = extremes.amin(_filled(input, mask, _bound(input, "amin", 1)), () if dim is None else dim, keepdim)
    return _typed(found, dtype)


@function("masked")
def argmax(
    input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """Index of the largest selected element, in the dtype of the input; 0 if there is none. Raises as `amax`."""
    found = extremes.argmax(_filled(input, mask, _bound(input, "argmax", -1)), dim, keepdim)
    return found.to(input.dtype if dtype is None else dtype)


@function("masked")
def argmin(
    input: Tensor, dim: int | None = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """Index of the smallest selected element, in the dtype of the input; 0 if there is none. Raises as `amin`."""
    found = extremes.argmin(_filled(input, mask, _bound(input, "argmin", 1)), dim, keepdim)
    return found.to(input.dtype if dtype is None else dtype)


@function("masked")
def mean(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Mean of the selected elements; NaN of none. Raises ValueError for integers without a ``dtype``."""
    kind = input.dtype if dtype is None else as_dtype(dtype)
    if kind.category < dtypes.FLOAT:
        raise ArgumentValueError(f"mean(): input must be floating point or complex, or dtype given; got {kind}")
    count = _count(input, wrap_dims(dim, input.dim()), keepdim, mask)
    return sum(input, dim, keepdim=keepdim, dtype=kind, mask=mask) / count


@function("masked")
def median(input: Tensor, dim: int = -1, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Median of the selected elements along ``dim``, the lower of two; NaN of none.

    Raises ValueError for integers with nothing selected somewhere.
    """
    floats = input.dtype.category >= dtypes.FLOAT
    if mask is None:
        return _typed(ordering.median(input, dim, keepdim).values, dtype)
    values = input if floats else input.to(dtypes.float64)
    found = ordering.nanmedian(_filled(values, mask, math.nan), dim, keepdim).values
    known = None if floats else concrete(found)
    if known is not None and np.isnan(known).any():
        raise ArgumentValueError("median(): expected a selected element in each row of an integer input")
    return _typed(found if floats else found.to(input.dtype), dtype)


@function("masked")
def logsumexp(input: Tensor, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Logarithm of the sum of the exponentials of the selected elements, in the dtype of the input; -inf of none."""
    kind = input.dtype if dtype is None else as_dtype(dtype)
    filled = _filled(input, mask, _bound(input, "logsumexp", -1))
    return reduction.logsumexp(filled, wrap_dims(dim, input.dim()), keepdim).to(kind)


@function("masked")
def norm(
    input: Tensor, ord: float = 2.0, dim: Dims = None, *, keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """Norm of order ``ord`` of the selected elements: see `linalg.vector_norm`. Raises TypeError for a named order."""
    if not isinstance(ord, (int, float)):
        raise ArgumentTypeError(f"masked.norm(): argument 'ord' (position 2) must be Number, not {type(ord).__name__}")
    filled = _filled(input, mask, math.inf if ord == -math.inf else 0)
    return matrix_norms.vector_norm(filled, ord, wrap_dims(dim, input.dim()), keepdim, dtype=dtype)


@function("masked")
def var(
    input: Tensor, dim: Dims = None, unbiased: bool | None = None, *, correction: float | None = None,
    keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Variance of the n selected elements: the sum of squares of what differs from their mean, over n - correction.

    ``unbiased``: a correction of 1, as without both. Raises AssertionError if both are given.
    """
    assert unbiased is None or correction is None, "Only one of unbiased and correction may be given"
    taken = correction if correction is not None else (0 if unbiased is False else 1)
    kind = (input.dtype if input.dtype.category >= dtypes.FLOAT else dtypes.default()) if dtype is None else as_dtype(dtype)
    dims, values = wrap_dims(dim, input.dim()), input.to(kind)
    centred = values - mean(values, dims, keepdim=True, mask=mask)
    square = centred * centred.conj() if kind.is_complex else centred * centred
    total = sum(square, dims, keepdim=keepdim, mask=mask)
    left = _count(input, dims, keepdim, mask) - taken
    return total / left.clamp(min=0)


@function("masked")
def std(
    input: Tensor, dim: Dims = None, unbiased: bool | None = None, *, correction: float | None = None,
    keepdim: bool = False, dtype: Any = None, mask: Tensor | None = None,
) -> Tensor:  # fmt: skip
    """Standard deviation of the selected elements: the square root of `var`. Raises AssertionError as it does."""
    return var(input, dim, unbiased, correction=correction, keepdim=keepdim, dtype=dtype, mask=mask).sqrt()


@function("masked")
def softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Normalised exponentials of the selected elements along ``dim``, 0 elsewhere; NaN where nothing is selected."""
    return normalised.softmax(_filled(input, mask, _bound(input, "softmax", -1)), dim, dtype)


@function("masked")
def log_softmax(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """Logarithm of `softmax`: -inf where the mask selects nothing."""
    return normalised.log_softmax(_filled(input, mask, _bound(input, "log_softmax", -1)), dim, dtype)


@function("masked")
def softmin(input: Tensor, dim: int, *, dtype: Any = None, mask: Tensor | None = None) -> Tensor:
    """`softmax` of the negative elements."""
    return normalised.softmax(-_filled(input, mask, _bound(input, "softmin", 1)), dim, dtype)


@function("masked")
def normalize(
    input: Tensor, ord: float, dim: int, *, eps: float = 1e-12, dtype: Any = None, mask: Tensor | None = None
) -> Tensor:
    """The selected elements over the larger of their norm along ``dim`` and ``eps``; 0 elsewhere. Raises as `norm`."""
    size = norm(input, ord, dim, keepdim=True, dtype=dtype, mask=mask)
    return _typed(_filled(input, mask, 0), dtype) / size.clamp(min=eps)


@function("masked")
def logaddexp(
    input: Tensor, other: Tensor, *, dtype: Any = None, input_mask: Tensor | None = None, other_mask: Tensor | None = None
) -> Tensor:
    """log(e^x + e^y), where what a mask does not select counts as -inf. input (*), other (*)."""
    x, y = (_typed(_filled(a, m, _bound(a, "logaddexp", -1)), dtype) for a, m in ((input, input_mask), (other, other_mask)))
    return exponential.logaddexp(x, y)
