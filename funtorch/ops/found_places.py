"""Places of elements that are not zero, where somebody records: their number is a decision, and they stay in the program."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..core.call import call
from ..core.handle import value_of
from ..core.levels import WRAPPED
from ..core.op import Op
from ..core.state import state
from .kept import kept

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
    return call(_places(int(count._host(f"the size of {name}").item())), (mask,), recording=False)
