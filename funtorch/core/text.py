"""Tensors as text: their values where they have some, and otherwise what they stand for."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes, printing
from .engine import CONCRETE
from .handle import value_of
from .levels import WRAPPED, inner_of
from .meta import MetaArray


def describe(tensor: Any, prefix: str = "tensor") -> str:
    """The text that PyTorch shows for a Tensor; ``prefix`` stands before the parenthesis."""
    payload = value_of(tensor)
    if type(payload) in WRAPPED:
        level, inner = payload.level, describe(inner_of(payload))
        if level.name == "vmap":
            return f"BatchedTensor(lvl={level.depth}, shape={list(payload.shape)}, bdim={payload.axis}, value={inner})"
        tangent = "None" if payload.tangent is None else describe(payload.tangent)
        return f"DualTensor(lvl={level.depth}, shape={list(payload.shape)}, value={inner}, tangent={tangent})"
    if type(payload) is MetaArray:
        return _describe_meta(tensor, prefix)
    if type(payload) not in CONCRETE:
        return f"tensor(traced, size={tuple(payload.shape)}, dtype={tensor.dtype})"
    where = tensor.device
    return printing.tensor_text(
        np.asarray(payload),
        dtype_name=repr(tensor.dtype),
        default_dtype_name=repr(dtypes.default()),
        device=None if where.type == "cpu" else str(where),
        requires_grad=tensor._requires,
        grad_fn_name=tensor._node.name() if tensor._node is not None else None,
        prefix=prefix,
    )


def _describe_meta(tensor: Any, prefix: str) -> str:
    parts = ["device='meta'", f"size={tuple(tensor.shape)}"]
    if tensor.dtype is not dtypes.default():
        parts.append(f"dtype={tensor.dtype}")
    return printing.text_without_values(
        parts, tensor._requires, tensor._node.name() if tensor._node is not None else None, prefix
    )
