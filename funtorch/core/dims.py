"""Dimension numbers: negative ones count from the end; others out of range raise PyTorch's IndexError."""

from __future__ import annotations

from collections.abc import Sequence

from ..errors import ArgumentTypeError, OpError, OutOfBoundsError


def wrap_dim(dim: int, ndim: int) -> int:
    """``dim`` counted from the front. A Tensor without dimensions counts as having one. Raises IndexError.

    >>> wrap_dim(-1, 3)
    2
    """
    if type(dim) is int and 0 <= dim < ndim:
        return dim
    if not hasattr(dim, "__index__"):
        raise ArgumentTypeError(f"argument 'dim' must be int, not {type(dim).__name__}")
    span = max(ndim, 1)
    if not -span <= dim < span:
        raise OutOfBoundsError(f"Dimension out of range (expected to be in range of [{-span}, {span - 1}], but got {dim})")
    return dim % span


def wrap_dims(dims: int | Sequence[int] | None, ndim: int) -> tuple[int, ...]:
    """Several dimensions counted from the front; None and () mean all of them. Raises RuntimeError for a repeated one."""
    if dims is None or dims == ():
        return tuple(range(ndim))
    wrapped = tuple(wrap_dim(d, ndim) for d in ((dims,) if isinstance(dims, (int, str)) else dims))
    for d in wrapped:
        if wrapped.count(d) > 1:
            raise OpError(f"dim {d} appears multiple times in the list of dims")
    return wrapped if ndim else ()
