"""unravel_index: flat positions as coordinates."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..core.views import of_all_lanes
from ..errors import ArgumentTypeError, ArgumentValueError
from .declare import Array, op


def _check(indices: Any, shape: Any) -> None:
    values = of_all_lanes(indices)
    if values is not None and values.dtype.kind not in "iu":
        raise ArgumentTypeError(f"unravel_index(): expected integer indices, got {indices.dtype}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(size < 0 for size in sizes):
        raise ArgumentValueError(f"unravel_index(): 'shape' cannot have negative values, but got {sizes}")
    total = 1
    for size in sizes:
        total *= int(size)
    if values is not None and ((values < 0) | (values >= total)).any():
        raise ArgumentValueError(f"unravel_index(): an index is out of bounds for shape {sizes} of {total} elements")


@op(check=_check, method=False, out=False)
def unravel_index(indices: Array, shape):
    """Coordinates of flat positions in a Tensor of ``shape``: one Tensor like ``indices`` (*) for each dimension.

    Raises ValueError for a position outside; torch returns a coordinate that does not exist.
    """
    return tuple(jnp.unravel_index(indices, (shape,) if isinstance(shape, int) else shape))
