"""Tensors to differentiate by, and Tensors as they were at a call."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import OpError
from .handle import Handle, make, value_of
from .levels import Batched, Dual
from .meta import constant_like, is_meta
from .op import is_differentiable
from .state import state
from .tape import place_of, set_place
from .views import alias


def variable(tensor: Handle, outside: bool) -> Any:
    """A Tensor with the values of ``tensor`` to differentiate by. It stays connected to ``tensor`` if ``outside`` records."""
    if tensor._foreign:
        raise OpError(
            "a transform can't differentiate by a sparse Tensor: give it the values, and make the Tensor of them inside"
        )
    depth = len(state.levels)
    payload = value_of(tensor)
    connected = outside and tensor._requires
    if connected and depth and tensor._level < depth:
        # It has a tape further out, where it stays connected: on the tape of this level it is a leaf of its own.
        payload, connected = state.levels[-1].lifted(tensor), False
    if not connected:
        return make(payload, depth).requires_grad_()
    new = alias(tensor, detached=False)
    new._base, new._source, new._chain = None, None, ()
    return new


def unit_vectors(tensors: Sequence[Handle]) -> list[Any]:
    """Unit vectors along each element of each Tensor: for Tensor i, shape (sum of elements, *its shape); without data for none."""
    sizes = [math.prod(t._payload.shape) for t in tensors]
    total = sum(sizes)
    result: list[Any] = []
    at = 0
    for tensor, size in zip(tensors, sizes, strict=True):
        if is_meta(tensor):
            result.append(constant_like(tensor, 0, (total,)))
        else:
            block = np.zeros((total, size), tensor._payload.dtype)
            block[at : at + size] = np.eye(size, dtype=block.dtype)
            result.append(make(block.reshape(total, *tensor._payload.shape)))
        at += size
    return result


def frozen(tensor: Handle) -> Any:
    """``tensor`` as it is now, at the same places of the tape, for a node to keep: later writes do not reach it."""
    payload: Any = value_of(tensor)
    if tensor._foreign:
        kind: Any = type(tensor)
        return kind.of(payload.with_tensors(frozen))
    if type(payload) is Batched:
        payload = Batched(payload.level, frozen(payload.inner), payload.axis)
    elif type(payload) is Dual:
        tangent = payload.tangent
        payload = Dual(payload.level, frozen(payload.primal), None if tangent is None else frozen(tangent))
    new = make(payload, tensor._birth)
    new._kept = True
    if tensor._requires:
        set_place(new, *place_of(tensor))
    return new


def depends(tensor: Handle) -> bool:
    """Whether a derivative is followed through ``tensor``, at its level or one below."""
    if not is_differentiable(tensor._payload.dtype):
        return False
    if tensor._requires:
        return True
    payload = value_of(tensor)
    if type(payload) is Dual:
        return payload.tangent is not None or depends(payload.primal)
    return type(payload) is Batched and depends(payload.inner)
