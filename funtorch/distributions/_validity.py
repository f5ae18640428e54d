"""Whether a condition on values holds everywhere: in all elements, and in all lanes of a vmap."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax

from ..core.handle import value_of
from ..core.levels import bottom
from ..core.state import state
from ..tensor import Tensor


def is_traced(tensor: Any) -> bool:
    """Whether the Tensor has no values yet."""
    return isinstance(value_of(bottom(tensor)), jax.core.Tracer)


def require(valid: Tensor, error: type[Exception], short: str, say: Callable[[], str]) -> None:
    """Raise ``error(say())`` unless all is true; in the program of a loop ``error(short)``, when the loop has run."""
    every = bottom(valid).all()
    if state.recorder is not None and is_traced(every) and state.recorder.check(value_of(every), error, short):
        return
    if not holds(every):
        raise error(say())


def holds(valid: Tensor) -> bool:
    """Whether all elements are true. Under a raw JAX trace, which has no values to look at, the answer is yes.

    In a function that is being compiled this is a decision like any other, which its program checks.
    """
    values = bottom(valid)
    if state.recorder is None and is_traced(values):
        return True
    return bool(values.all())
