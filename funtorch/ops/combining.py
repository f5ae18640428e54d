"""Every combination of several Tensors' elements: meshgrid, cartesian_prod, combinations."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from ..core.call import call
from ..errors import ArgumentTypeError, OpError
from ..tensor import Tensor
from .arguments import sequence_argument
from .declare import function
from .joining import stack
from .picking import picking_op


def _vectors(tensors: tuple, name: str) -> tuple:
    if len(tensors) == 1 and isinstance(tensors[0], (list, tuple)):
        tensors = tuple(tensors[0])
    return sequence_argument(tensors, name, "tensors", 1)


@function()
def meshgrid(*tensors: Any, indexing: str | None = None) -> tuple[Tensor, ...]:
    """The coordinates of the grid whose axes are the given vectors: one Tensor for each, as views.

    Args:
        tensors: n vectors, or numbers as Tensors without dimensions, of one dtype.
        indexing: "ij" (the default): dimension i runs along vector i; "xy" swaps the first two.

    Returns:
        n Tensors of n dimensions.

    Raises:
        RuntimeError: for other dimensions, mixed dtypes, or another ``indexing``.

    >>> torch.meshgrid(torch.arange(2), torch.arange(3), indexing="ij")[0].shape
    torch.Size([2, 3])
    """
    given = _vectors(tensors, "meshgrid")
    if not given:
        raise OpError("meshgrid expects a non-empty TensorList")
    for x in given:
        if x.dim() > 1:
            raise OpError(f"torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: {list(x.shape)}")
        if x.dtype is not given[0].dtype:
            raise OpError("torch.meshgrid expects all tensors to have the same dtype")
    if indexing not in (None, "ij", "xy"):
        raise OpError(f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}')
    swap = indexing == "xy" and len(given) > 1
    if swap:
        given = (given[1], given[0], *given[2:])
    sizes = tuple(x.numel() for x in given)
    rows = [[n if e == d else 1 for e in range(len(sizes))] for d, n in enumerate(sizes)]
    grids = [x.reshape(row).expand(sizes) for x, row in zip(given, rows, strict=True)]
    if swap:
        grids[:2] = grids[1], grids[0]
    return tuple(grids)


@function()
def cartesian_prod(*tensors: Any) -> Tensor:
    """All tuples with one element of each vector: (product of the lengths, n). Raises RuntimeError unless all are vectors."""
    given = _vectors(tensors, "cartesian_prod")
    for x in given:
        if x.dim() != 1:
            raise OpError(f"Expect a 1D vector, but got shape {list(x.shape)}")
    if not given:
        raise ArgumentTypeError("cartesian_prod(): expected at least one Tensor")
    if len(given) == 1:
        return given[0]
    return stack([g.flatten() for g in meshgrid(*given, indexing="ij")], 1)


@function(method=True)
def combinations(input: Tensor, r: int = 2, with_replacement: bool = False) -> Tensor:
    """All ways to choose ``r`` elements of a vector, in the order of their places. input (n), z (count, r).

    Raises:
        RuntimeError: if ``input`` is not a vector, or ``r`` is negative.

    >>> torch.combinations(torch.arange(3))
    tensor([[0, 1],
            [0, 2],
            [1, 2]])
    """
    if input.dim() != 1:
        raise OpError(f"Expect a 1D vector, but got shape {list(input.shape)}")
    if r < 0:
        raise OpError(f"Expect a non-negative number, but got {r}")
    if r == 0:
        return input[:0]
    choose = itertools.combinations_with_replacement if with_replacement else itertools.combinations
    chosen = np.array(list(choose(range(input.numel()), r)), np.int64).reshape(-1, r)
    return call(picking_op((True,), False), (input, chosen))
