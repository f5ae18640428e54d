"""Payloads without data, for the device "meta": a shape and a dtype. Ops on them give such payloads, by JAX's shape rules."""

from __future__ import annotations

import math
from typing import Any

import jax
import numpy as np

from ..errors import MissingError, OpError
from .handle import Handle
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


def _mixes(name: str) -> bool:
    """Whether an op's own Tensors (masks, first cotangents, indices) may have data beside those that have none."""
    return any(part in name for part in ("index", "backward", "dropout"))


def run_meta(op: Op, args: Any, values: list[Any]) -> Any:
    """The shapes of what ``op`` gives. Raises RuntimeError where Tensors with data take part that are no single numbers."""
    for arg, value in zip(args, values, strict=True):
        if isinstance(arg, Handle) and type(value) is not MetaArray and value.shape and not _mixes(op.name):
            raise OpError(
                f"{op.name}(): Expected all tensors to be on the same device, but found at least two devices, meta and cpu!"
            )
    outs = jax.eval_shape(op.fn, *[jax.ShapeDtypeStruct(v.shape, v.dtype) for v in values])
    if isinstance(outs, (tuple, list)):
        return tuple(MetaArray(out.shape, out.dtype) for out in outs)
    return MetaArray(outs.shape, outs.dtype)
