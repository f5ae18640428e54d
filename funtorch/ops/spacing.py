"""Numbers in a row: by a step, or so many between two ends."""

from __future__ import annotations

import functools
import math
import operator
from typing import Any

import jax
import numpy as np

from .. import dtypes
from ..cautions import caution
from ..core.call import call
from ..core.handle import value_of
from ..core.op import Op
from ..core.rounding import HALVES
from ..core.views import concrete
from ..dtypes import as_dtype
from ..dtypes import dtype as DType
from ..errors import ArgumentTypeError, ArgumentValueError, MissingError, OpError
from ..tensor import Tensor
from .arguments import static
from .declare import function
from .given_data import tensor
from .placing import place_made, to_out


def _check_range(name: str, start: Any, end: Any, step: Any) -> None:
    """Raise RuntimeError for ends that no number of steps leads between."""
    if step == 0 or math.isnan(step):
        raise OpError(f"{name}(): step must be nonzero")
    if (end - start) * step < 0:
        raise OpError(f"{name}(): upper bound and lower bound inconsistent with step sign: start {start}, end {end}, step {step}")
    if not all(math.isfinite(v) for v in (start, end)):
        raise OpError(f"{name}(): unsupported range: {start} -> {end}")


@function()
def arange(
    start: Any = None,
    end: Any = None,
    step: Any = 1,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """``start, start + step, ...`` below ``end``: shape (ceil((end - start) / step),).

    dtype: that of ``out``; int64 if all arguments are integers, otherwise the default. Raises RuntimeError for a step of
    zero or of the wrong sign, ValueError for one that an integer dtype rounds to zero.
    """
    start, end, step = static(start), static(end), static(step)
    if end is None:
        start, end = 0, start
    elif start is None:
        start = 0
    if end is None:
        raise ArgumentTypeError('arange() missing 1 required positional arguments: "end"')
    _check_range("arange", start, end, step)
    whole = not any(isinstance(v, float) for v in (start, end, step))
    if dtype is None and out is not None:
        dtype = out.dtype
    kind = as_dtype(dtype) if dtype is not None else (dtypes.int64 if whole else dtypes.default())
    if kind.category in (dtypes.BOOL, dtypes.COMPLEX):
        raise MissingError(f'"arange" not implemented for {kind!r}')
    count = -((start - end) // step) if whole else max(0, math.ceil((end - start) / step))
    if kind.category == dtypes.INTEGER and not whole:
        start, end, step, whole = int(start), int(end), int(step), True
        if step == 0:
            raise ArgumentValueError("arange(): step must be nonzero")
        count = -((start - end) // step) if kind == dtypes.int64 else count
    if out is not None and out.numel() and out.numel() != count:
        caution(
            f"The number of elements in the out tensor of shape {list(out.shape)} is {out.numel()} which does not match the computed "
            f"number of elements {count}: it is resized to ({count},)."
        )
    wide = np.int64 if whole else np.float64

    def values() -> np.ndarray:
        return (wide(start) + np.arange(count, dtype=np.int64).astype(wide) * wide(step)).astype(kind.numpy)

    return to_out(out, place_made(values, (count,), kind.numpy, device, requires_grad), device)


@function(name="range")
def range_(
    start: Any,
    end: Any = None,
    step: Any = 1,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """Deprecated in PyTorch: like `arange`, with ``end`` included, in the default dtype unless given.

    Shape (floor((end - start) / step) + 1,). Raises RuntimeError for a step that is zero or NaN or of the wrong sign, and for
    ends that are not finite.
    """
    start, end, step = static(start), static(end), static(step)
    if end is None:
        start, end = 0, start
    _check_range("range", start, end, step)
    count = math.floor((end - start) / step) + 1
    kind = dtypes.default() if dtype is None else dtype
    made = tensor([start + i * step for i in range(count)], dtype=kind, device=device, requires_grad=requires_grad)
    return to_out(out, made, device)


def _spaced(start: Any, end: Any, steps: int, kind: DType) -> np.ndarray:
    """Evenly spaced values, from both ends to the middle as PyTorch computes them."""
    if steps == 1:
        return np.array([start]).astype(kind.numpy)
    if kind.numpy in HALVES:
        return _spaced_halves(start, end, steps, kind.numpy)
    wide = np.complex128 if kind.is_complex else np.float64
    numpy_type = kind.numpy if kind.category >= dtypes.FLOAT and kind.itemsize > 2 else np.dtype(wide)
    step = ((np.asarray(end, wide) - np.asarray(start, wide)) / max(steps - 1, 1)).astype(numpy_type)
    i = np.arange(steps)
    low = np.asarray(start).astype(numpy_type) + step * i.astype(numpy_type)
    high = np.asarray(end).astype(numpy_type) - step * (steps - 1 - i).astype(numpy_type)
    return np.where(i < steps // 2, low, high).astype(kind.numpy)


def _spaced_halves(start: Any, end: Any, steps: int, half: np.dtype) -> np.ndarray:
    """Of float16 or bfloat16, rounded to it at each step, as PyTorch's are."""
    low, high = (np.asarray(x, np.float32).astype(half) for x in (start, end))
    i = np.arange(steps)
    with np.errstate(over="ignore", invalid="ignore"):  # a number of steps may be more than the largest half
        step = ((high - low).astype(np.float32) / _as_half(max(steps - 1, 1), half)).astype(half).astype(np.float32)
        below, above = (step * _as_half(count, half) for count in (i, steps - 1 - i))
        return np.where(i < steps // 2, low + below.astype(half), high - above.astype(half))


def _as_half(count: Any, half: np.dtype) -> np.ndarray:
    return np.asarray(count, np.float32).astype(half).astype(np.float32)


@function()
def linspace(
    start: Any,
    end: Any,
    steps: int,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """``steps`` evenly spaced values from ``start`` to ``end``, both included: shape (steps,).

    Raises RuntimeError for negative steps or for a Tensor with dimensions, TypeError for steps that are no integer.
    """
    start, end, steps = _ends("linspace", start, end, steps)
    kind = _space_dtype(start, end, dtype, out)
    if isinstance(start, Tensor) or isinstance(end, Tensor):
        return to_out(out, call(_spacing(steps, kind, None), _as_tensors(start, end)))
    made = place_made(lambda: _spaced(start, end, steps, kind), (steps,), kind.numpy, device, requires_grad)
    return to_out(out, made, device)


def _ends(name: str, start: Any, end: Any, steps: Any) -> tuple[Any, Any, int]:
    """Both ends, as Python numbers where their values are known, and the number of steps, checked."""
    if isinstance(steps, bool) or not hasattr(steps, "__index__"):
        raise ArgumentTypeError(
            f"{name}() received an invalid combination of arguments: steps must be int, not {type(steps).__name__}"
        )
    for x in (start, end):
        if isinstance(x, Tensor) and value_of(x).shape:
            raise OpError(f"{name} only supports 0-dimensional start and end tensors, got {list(value_of(x).shape)}")
    steps = operator.index(steps)
    if steps < 0:
        raise OpError(f"{name}(): number of steps must be non-negative, got {steps}")
    start, end = (x if isinstance(x, Tensor) and concrete(x) is None else static(x) for x in (start, end))
    return start, end, steps


def _as_tensors(*numbers: Any) -> list[Tensor]:
    return [x.detach() if isinstance(x, Tensor) else Tensor._of_numpy(np.array(x)) for x in numbers]


@functools.lru_cache(maxsize=1024, typed=True)
def _spacing(steps: int, kind: DType, base: float | None) -> Op:
    """Evenly spaced values between ends whose values are not known, or powers of ``base``."""
    wide = np.complex128 if kind.is_complex else np.float64

    def pure(start: Any, end: Any) -> Any:
        low, high = start.astype(wide), end.astype(wide)
        step = (high - low) / max(steps - 1, 1)
        i = np.arange(steps)
        spaced = jax.numpy.where((i < steps // 2) | (steps == 1), low + step * i, high - step * (steps - 1 - i))
        return (spaced if base is None else jax.numpy.power(wide(base), spaced)).astype(kind.numpy)

    return Op(pure, "linspace" if base is None else "logspace")


def _space_dtype(start: Any, end: Any, dtype: Any, out: Any) -> DType:
    if dtype is not None or out is not None:
        return as_dtype(out.dtype if dtype is None else dtype)
    is_complex = any(x.dtype.is_complex if isinstance(x, Tensor) else isinstance(x, complex) for x in (start, end))
    return dtypes.default().to_complex() if is_complex else dtypes.default()


@function()
def logspace(
    start: Any,
    end: Any,
    steps: int,
    base: float = 10.0,
    *,
    out: Any = None,
    dtype: Any = None,
    layout: Any = None,
    device: Any = None,
    pin_memory: bool = False,
    requires_grad: bool = False,
) -> Tensor:
    """``steps`` values from base**start to base**end, evenly spaced on a logarithmic scale: shape (steps,).

    Raises as `linspace`.
    """
    start, end, steps = _ends("logspace", start, end, steps)
    kind = _space_dtype(start, end, dtype, out)
    if isinstance(start, Tensor) or isinstance(end, Tensor):
        return to_out(out, call(_spacing(steps, kind, float(base)), _as_tensors(start, end)))
    wide = dtypes.complex128 if kind.is_complex else dtypes.float64

    def values() -> np.ndarray:
        return np.power(np.asarray(base, wide.numpy), _spaced(start, end, steps, wide)).astype(kind.numpy)

    return to_out(out, place_made(values, (steps,), kind.numpy, device, requires_grad), device)
