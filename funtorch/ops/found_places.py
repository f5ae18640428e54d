"""Places of elements that are not zero, where somebody records: their number is a decision, and they stay in the program."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..core.call import call
from ..core.handle import value_of
from ..core.levels import WRAPPED
from ..core.op import Op
from ..core.state import state
from ..errors import TracedValueError
from .kept import kept

NO_SIZE = (
    "{}(): the size of the result depends on the values of a Tensor that is batched by vmap or part of a trace. Use {}, whose "
    "size is given, or do this outside."
)
MASKED = "torch.where(mask, x, other) on all elements, or torch.nonzero_static(mask, size=n)"
SIZED = {
    "nonzero": "torch.nonzero_static(x, size=n)",
    "argwhere": "torch.nonzero_static(x, size=n)",
    "unique": "torch.unique(x, size=n)",
    "unique_consecutive": "torch.unique_consecutive(x, size=n)",
    "bincount": "torch.bincount(x, size=n)",
    "repeat_interleave": "torch.repeat_interleave(x, repeats, output_size=n)",
}


def no_size(name: str) -> TracedValueError:
    """The error for a size that isn't known, which names what to use instead."""
    return TracedValueError(NO_SIZE.format(name, SIZED.get(name, MASKED)))


_COUNT = Op(jnp.count_nonzero, "count_nonzero")
ROWS = Op(lambda *columns: jnp.stack(columns, 1), "nonzero")


@kept("nonzero")
def _places(size: int) -> Any:
    return lambda mask: tuple(jnp.nonzero(jnp.atleast_1d(mask), size=size))


def recorded_places(mask: Any, name: str) -> tuple[Any, ...] | None:
    """The places as one int64 Tensor for each dimension; None where nobody records, or the Tensor is batched."""
    if state.recorder is None or type(value_of(mask)) in WRAPPED:
        return None
    count = call(_COUNT, (mask,), recording=False)
    try:
        size = int(count._host(f"the size of {name}").item())
    except TracedValueError:
        raise no_size(name) from None
    return call(_places(size), (mask,), recording=False)
