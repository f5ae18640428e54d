"""Payloads without data, for the device "meta": a shape and a dtype. Ops on them give such payloads, by JAX's shape rules."""

from __future__ import annotations

import math
from typing import Any

import jax
import numpy as np

from ..errors import FuntorchError, MissingError, OpError
from .engine import explained
from .handle import Handle, make
from .levels import WRAPPED, inner_of
from .op import Op

NO_DATA = "Cannot copy out of meta tensor; no data!"


class MetaArray:
    """What an array would be."""

    __slots__ = ("shape", "dtype")

    def __init__(self, shape: tuple[int, ...], dtype: Any) -> None:
        self.shape = tuple(shape)
        self.dtype = np.dtype(dtype)

    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        return self.size * self.dtype.itemsize

    def __array__(self, *args: Any, **kwargs: Any) -> np.ndarray:
        raise MissingError(NO_DATA)


def is_meta(tensor: Any) -> bool:
    """Whether a Tensor has no data, under all levels."""
    payload = tensor._payload
    while type(payload) in WRAPPED:
        payload = inner_of(payload)._payload
    return type(payload) is MetaArray


# Ops whose indices may have data: what they give has the shape all the same.
_PICKING = frozenset(
    "index index_put index_select index_reduce gather take put scatter scatter_add scatter_reduce view_scatter".split()
)


_RECURRENT = frozenset("rnn_tanh rnn_relu lstm gru".split())  # with the lengths of their sequences


def _may_have_data(name: str, number: int, value: Any) -> bool:
    """Whether an op's argument may have data beside others that have none: masks, first cotangents, indices, lengths."""
    if "backward" in name or "dropout" in name:
        return True
    if name.startswith("embedding"):  # whose indices come before the table
        return value.dtype.kind in "iu"
    plain = name.removesuffix("_jvp")
    if plain.removesuffix("_states") in _RECURRENT:
        return value.dtype.kind == "i"
    return number > 0 and plain in _PICKING


def run_meta(op: Op, args: Any, values: list[Any]) -> Any:
    """The shapes of what ``op`` gives.

    Raises RuntimeError where Tensors with data take part that are no single numbers, and for what the op can't work with.
    """
    for number, (arg, value) in enumerate(zip(args, values, strict=True)):
        if type(value) is MetaArray or not isinstance(arg, Handle) or not value.shape:
            continue
        if not _may_have_data(op.name, number, value):
            raise OpError(
                f"{op.name}(): Expected all tensors to be on the same device, but found at least two devices, meta and cpu!"
            )
    try:
        outs = jax.eval_shape(op.fn, *[jax.ShapeDtypeStruct(v.shape, v.dtype) for v in values])
    except FuntorchError:
        raise
    except (TypeError, ValueError, ZeroDivisionError) as error:
        raise explained(op, values, error) from error
    if isinstance(outs, (tuple, list)):
        return tuple(MetaArray(out.shape, out.dtype) for out in outs)
    return MetaArray(outs.shape, outs.dtype)


def constant_like(tensor: Handle, value: float, lead: tuple[int, ...] = ()) -> Any:
    """A Tensor of one number everywhere, of the shape and dtype of another: without data where that has none.

    ``lead``: sizes of dimensions that come before.
    """
    shape, dtype = (*lead, *tensor._payload.shape), tensor._payload.dtype
    return make(MetaArray(shape, dtype) if is_meta(tensor) else np.full(shape, value, dtype))
