"""Reductions of runs of elements along a dimension, given by their lengths or by where they begin."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.dims import wrap_dim
from ..core.views import concrete, of_all_lanes
from ..errors import OpError
from . import registry
from .activation import PURE
from .declare import Array, op
from .operands import is_floating
from .segments import REDUCTIONS

NAMES = {"sum": "sum", "mean": "mean", "max": "amax", "amax": "amax", "min": "amin", "amin": "amin", "prod": "prod"}
NEUTRAL = {"sum": 0.0, "mean": 0.0, "prod": 1.0, "amax": -np.inf, "amin": np.inf}
UNEVEN = "segment_reduce(): Expected all rows of lengths along axis to sum to data.size(lengths.dim()-1) when !unsafe."


@op(namespace=PURE, name="segment_reduce", out=False)
def _reduced(data: Array, ends: Array, reduce, axis, initial):
    """Each run reduced: the ends (*, S) of the runs tell which of them an element is in."""
    rows, count = data.shape[:axis], ends.shape[-1]
    size = data.shape[axis]
    place = jnp.arange(size)
    which = (place >= ends[..., None, :].swapaxes(-1, -2)).sum(-2) if count else jnp.zeros((*rows, size), np.int64)
    x = jnp.moveaxis(data, axis, -1) if data.ndim > axis + 1 else data
    inner = data.shape[axis + 1 :]
    which = which.reshape(*rows, *([1] * len(inner)), size)
    flat = jnp.broadcast_to(which, x.shape).reshape(-1, size)
    lanes = x.reshape(-1, size)
    at = (jnp.broadcast_to(jnp.arange(lanes.shape[0])[:, None], lanes.shape), flat)
    start = NEUTRAL[reduce] if initial is None else initial
    base = jnp.full((lanes.shape[0], count), start, data.dtype)
    if reduce == "mean":
        total = base.at[at].add(lanes, mode="drop")
        number = jnp.zeros(base.shape, data.dtype).at[at].add(1, mode="drop")
        empty = jnp.nan if initial is None else start
        found = jnp.where(number > 0, total / jnp.maximum(number, 1), empty).astype(data.dtype)
    else:
        found = _with_drop(base, at, lanes, reduce)
    found = found.reshape(*x.shape[:-1], count)
    return jnp.moveaxis(found, -1, axis) if inner else found


def _with_drop(base: Array, at: tuple, lanes: Array, reduce: str) -> Array:
    """The reduction with one more place at the end, for elements that are in no run."""
    wide = jnp.pad(base, ((0, 0), (0, 1)), constant_values=base.dtype.type(NEUTRAL[reduce]))
    return REDUCTIONS[reduce](wide, at, lanes, True)[:, :-1]


def segment_reduce(
    data: Any, reduce: str, *, lengths: Any = None, indices: Any = None, offsets: Any = None, axis: int = 0, unsafe: bool = False,
    initial: Any = None,
) -> Any:  # fmt: skip
    """Runs of elements along ``axis``, each reduced to one.

    Args:
        data: (*, N, ...) of floats, N along ``axis``.
        reduce: "sum", "mean", "max", "min" or "prod".
        lengths: (*, S): how long each run is; or offsets: (*, S + 1): where each begins, and where the last ends.
        axis: the number of dimensions before; it must be that of ``lengths`` less one.
        unsafe: leave out the check that the lengths add up to N.
        initial: what each run begins with.

    Returns:
        (*, S, ...). An empty run gives ``initial``, by default 0, 1, NaN or an infinity.

    Raises:
        RuntimeError: neither lengths nor offsets, another reduction, or lengths that don't add up.
    """
    if reduce not in NAMES:
        raise OpError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if lengths is None and offsets is None:
        raise OpError("segment_reduce(): Either lengths or offsets must be defined.")
    runs = offsets if lengths is None else lengths
    axis = wrap_dim(axis, data.dim())
    if axis != runs.dim() - 1:
        raise OpError(
            f"segment_reduce(): Expected axis to be the last dimension of lengths or offsets, got {axis} and {runs.dim()}"
        )
    if not is_floating(data._payload):
        raise OpError(f"segment_reduce(): Expected data of floating-point numbers, got {data.dtype}")
    if lengths is not None and not unsafe:
        known, lanes = concrete(runs), of_all_lanes(runs)
        if lanes is not None and (lanes < 0).any():
            raise OpError("segment_reduce(): lengths contains negative value!")
        if known is not None and (known.sum(-1) != data.shape[axis]).any():
            raise OpError(UNEVEN)
    if lengths is not None:
        ends = lengths.cumsum(-1)
    else:
        ends = offsets.narrow(-1, 1, offsets.shape[-1] - 1)
    return _reduced(data, ends, NAMES[reduce], axis, initial)


registry.add("torch", "segment_reduce", segment_reduce)
registry.add("torch", "_segment_reduce", segment_reduce)
