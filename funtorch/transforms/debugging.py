"""debug_print: what values are, in eager code, in every lane of a vmap, and in programs while they run."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from ..core.batching import at_front
from ..core.engine import CONCRETE
from ..core.handle import Handle, value_of
from ..core.levels import Batched, Dual
from ..core.retracing import Tracing
from ..core.state import state
from ..tensor import Tensor
from .control_flow.watching import Lifting


def debug_print(fmt: str, *values: Any) -> None:
    """Print ``fmt.format(*values)``: at once in eager code, when the program comes there in compiled code, loops and branches.

    A value that ``vmap`` maps over is printed for each lane in turn, one of ``jvp`` without its tangent.

    Args:
        fmt: as for `str.format`.
        values: Tensors, or anything else.

    >>> import funtorch as torch
    >>> _ = torch.vmap(lambda x: (torch.func.debug_print("x = {}", x), x)[1])(torch.tensor([1.0, 2.0]))
    x = 1.0
    x = 2.0
    """
    lanes: list[dict[int, int]] = []  # for each Tensor: the depths of the vmaps that map it, and their sizes
    arrays = []
    recording, state.grad = state.grad, False
    try:
        for value in values:
            if isinstance(value, Handle):
                array, sizes = _lanes_first(value)
                arrays.append(array)
                lanes.append(sizes)
    finally:
        state.grad = recording
    others = [None if isinstance(value, Handle) else (value,) for value in values]
    show = functools.partial(_show, fmt, others, lanes)
    if _is_staged() or any(type(array) not in CONCRETE for array in arrays):
        jax.debug.callback(show, *arrays)
    else:
        show(*arrays)


def _lanes_first(tensor: Handle) -> tuple[Any, dict[int, int]]:
    """The array below all levels with the lanes' axes first, outermost first, and what these are."""
    payload = value_of(tensor)
    if type(payload) is Dual:
        return _lanes_first(payload.primal)
    if type(payload) is not Batched:
        return payload, {}
    if payload.axis is None:
        return _lanes_first(payload.inner)
    array, sizes = _lanes_first(at_front(payload, payload.level.size))
    return array, {**sizes, payload.level.depth: payload.level.size}


def _is_staged() -> bool:
    """Whether the code that runs is being made into a program."""
    recorder = state.recorder
    while recorder is not None:
        if isinstance(recorder, (Tracing, Lifting)):
            return True
        recorder = recorder.before
    return False


def _show(fmt: str, others: Sequence[Any], lanes: Sequence[dict[int, int]], *arrays: Any) -> None:
    sizes = {depth: size for each in lanes for depth, size in each.items()}
    depths = sorted(sizes)
    watched, state.recorder = state.recorder, None  # formatting looks at values, which is no decision of the function
    try:
        for place in np.ndindex(*(sizes[d] for d in depths)):
            at = dict(zip(depths, place, strict=True))
            given = iter([np.asarray(a)[tuple(at[d] for d in each)] for a, each in zip(arrays, lanes, strict=True)])
            print(fmt.format(*(_tensor(next(given)) if other is None else other[0] for other in others)))
    finally:
        state.recorder = watched


def _tensor(array: Any) -> Any:
    """A Tensor that nobody is told of."""
    new = object.__new__(Tensor)
    new._payload = np.asarray(array)
    return new
