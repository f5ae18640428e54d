"""Tensors made from data: numbers, nested lists, NumPy's and others' arrays, bytes."""

from __future__ import annotations

import functools
from collections.abc import Iterator
from typing import Any

import jax
import numpy as np

from .. import dtypes
from ..cautions import caution, caution_once
from ..dtypes import FROM_NUMPY, as_dtype
from ..dtypes import dtype as DType
from ..errors import ArgumentTypeError, ArgumentValueError, OpError
from ..tensor import TO_NUMBER, Tensor
from .arguments import static
from .assignment import cast
from .declare import function
from .number_ranges import check_array
from .placing import place

COPY = (
    "To copy construct from a tensor, it is recommended to use source.detach().clone(), and .requires_grad_(True) on that, rather than "
    "torch.tensor(source) or new_tensor(source)."
)


@function()
def tensor(data: Any, *, dtype: Any = None, device: Any = None, requires_grad: bool = False, pin_memory: bool = False) -> Tensor:
    """A new leaf with a copy of ``data``: numbers, nested lists, NumPy arrays.

    dtype: of Python floats the default one, of ints int64, of bools bool, of NumPy arrays their own.
    Raises ValueError for lists of unequal lengths, TypeError for what holds no numbers.

    >>> import funtorch as torch
    >>> torch.tensor([[1, 2], [3, 4]])
    tensor([[1, 2],
            [3, 4]])
    """
    if isinstance(data, Tensor):
        caution(COPY)
        made = cast(data.detach(), data.dtype if dtype is None else as_dtype(dtype)).clone()
        return made.requires_grad_() if requires_grad else made
    return place(array_of(data, dtype), device, requires_grad)


def array_of(data: Any, dtype: Any) -> np.ndarray:
    """``data`` as a NumPy array of its own, in ``dtype`` or the one that PyTorch infers."""
    if isinstance(data, (np.ndarray, np.generic)):
        return _of_foreign(np.array(data), dtype)
    if hasattr(data, "__jax_array__") or isinstance(data, jax.Array):
        return _of_foreign(np.array(data), dtype)
    kind = None if dtype is None else as_dtype(dtype)
    if isinstance(data, (bool, int, float, complex)):
        kind = kind or dtypes.of_scalar(data)
        return _number_array(data, kind)
    plain = _plain(data)
    array = _list_array(plain)
    if kind is None:
        kind = _inferred(array, plain)
    check_array(array, kind)
    return array.astype(kind.numpy)


def _number_array(value: Any, kind: DType) -> np.ndarray:
    if type(value) is int and not -(1 << 63) <= value < 1 << 64:
        raise ArgumentValueError("tensor(): Overflow when unpacking long long")
    array = np.array(value)
    check_array(array, kind)
    return array.astype(kind.numpy)


def _of_foreign(array: np.ndarray, dtype: Any) -> np.ndarray:
    if array.dtype not in FROM_NUMPY and dtype is None:
        raise ArgumentTypeError(
            f"can't convert np.ndarray of type {array.dtype}. The only supported types are those of funtorch's dtypes."
        )
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    return array if dtype is None else array.astype(as_dtype(dtype).numpy)


def _plain(data: Any) -> Any:
    """Nested sequences with Tensors and NumPy scalars replaced by what Python has for them."""
    if isinstance(data, (list, tuple, range)):
        return [_plain(element) for element in data]
    if isinstance(data, Tensor):
        if data.requires_grad:
            caution_once(TO_NUMBER)
        return data.tolist() if data.dim() else data.item()
    if isinstance(data, (str, bytes)):
        raise ArgumentTypeError(f"new(): invalid data type '{type(data).__name__}'")
    if hasattr(data, "__array__"):
        if isinstance(data, np.ndarray):
            caution_once(
                "Creating a tensor from a list of numpy.ndarrays is slow: turn the list into one numpy.ndarray by numpy.array() first."
            )
        return np.asarray(data)
    return data


def _list_array(plain: Any) -> np.ndarray:
    try:
        array = np.array(plain)
    except ValueError as error:
        raise ArgumentValueError(f"tensor(): expected sequences of equal length at each level ({error})") from None
    except OverflowError:
        raise ArgumentValueError("tensor(): Overflow when unpacking long long") from None
    if array.dtype == object:
        odd = [type(x).__name__ for x in np.ravel(array) if type(x) is not int]
        if not odd:
            raise ArgumentValueError("tensor(): Overflow when unpacking long long")
        raise OpError(f"tensor(): Could not infer dtype of {odd[0]}")
    return array


def _inferred(array: np.ndarray, plain: Any) -> DType:
    if array.size == 0:
        return dtypes.default()
    first = plain
    while isinstance(first, list):
        first = next((p for p in first if not (isinstance(p, list) and not p)), None)
    if isinstance(first, (np.ndarray, np.generic)):
        return functools.reduce(dtypes.promote_types, {_leaf_type(x) for x in _leaves(plain)})
    return {"b": dtypes.bool_, "i": dtypes.int64, "u": dtypes.int64, "c": dtypes.default().to_complex()}.get(
        array.dtype.kind, dtypes.default()
    )


def _leaves(plain: Any) -> Iterator:
    for each in plain:
        if isinstance(each, list):
            yield from _leaves(each)
        else:
            yield each


def _leaf_type(leaf: Any) -> DType:
    return FROM_NUMPY[leaf.dtype] if isinstance(leaf, np.ndarray) else dtypes.of_scalar(leaf)


@function()
def scalar_tensor(
    s: Any, *, dtype: Any = None, layout: Any = None, device: Any = None, pin_memory: bool = False, requires_grad: bool = False
) -> Tensor:
    """A Tensor without dimensions, in the default dtype unless given."""
    return tensor(static(s), dtype=dtypes.default() if dtype is None else dtype, device=device, requires_grad=requires_grad)
