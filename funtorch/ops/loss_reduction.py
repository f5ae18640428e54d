"""What the losses share: the reduction over all elements, its old arguments, and checks of sizes."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np

from ..cautions import caution
from ..errors import ArgumentValueError, OpError
from .declare import Array
from .operands import in_common

OLD_ARGUMENTS = "size_average and reduce args will be deprecated, please use reduction='{}' instead."
NO_REDUCTION = "{} is not a valid value for reduction"
BROADCAST = (
    "Using a target size ({}) that is different to the input size ({}). This will likely lead to incorrect results due to "
    "broadcasting. Please ensure they have the same size."
)
ELEMENTWISE = "reduction='elementwise_mean' is deprecated. Please use reduction='mean' instead."
REDUCTIONS = ("mean", "sum", "none")


def reduction_of(reduction: str, size_average: bool | None = None, reduce: bool | None = None) -> str:
    """The reduction that the arguments ask for: "mean", "sum" or "none".

    The old arguments win over ``reduction``, with a warning. Raises ValueError for another word.
    """
    if size_average is not None or reduce is not None:
        mean = size_average is None or size_average
        reduction = "none" if reduce is False else "mean" if mean else "sum"
        caution(OLD_ARGUMENTS.format(reduction))
    if reduction == "elementwise_mean":
        caution(ELEMENTWISE)
        return "mean"
    if reduction not in REDUCTIONS:
        raise ArgumentValueError(NO_REDUCTION.format(reduction))
    return reduction


def reduced(x: Array, reduction: str) -> Array:
    """The mean or the sum of all elements, or the elements."""
    if reduction == "none":
        return x
    total = jnp.sum(x)
    return total / np.asarray(x.size, x.dtype) if reduction == "mean" else total


def reducing(fn: Callable, reduction: str) -> Callable:
    """``fn`` of arrays, then the reduction, in the arrays' common type; all in float32 for halves."""
    return in_common(lambda *arrays: reduced(fn(*arrays), reduction))


def warn_of_broadcast(input: Any, target: Any) -> None:
    """Warn where the sizes of a loss's arguments differ."""
    if input.shape != target.shape:
        caution(BROADCAST.format(target.shape, input.shape))


def broadcast(*arrays: Array) -> tuple[Array, ...]:
    """The arrays, broadcast together. Raises RuntimeError with PyTorch's words."""
    rank = max(a.ndim for a in arrays)
    for at in range(rank):
        sizes = [a.shape[at - rank] if a.ndim >= rank - at else 1 for a in arrays]
        wide = [n for n in sizes if n != 1]
        for n in wide:
            if n != wide[0]:
                raise OpError(
                    f"The size of tensor a ({wide[0]}) must match the size of tensor b ({n}) at non-singleton dimension {at}"
                )
    return tuple(jnp.broadcast_arrays(*arrays))
