"""Checks on values: in eager code they raise at once, in a program they are looked at when it has run, before state changes."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ...core.call import call
from ...core.handle import Handle, value_of
from ...core.host_values import host_array
from ...core.levels import bottom
from ...core.op import Op
from ...core.state import state

_ALL = Op(lambda x: (x != 0).all(), "all")
_FIRST = Op(jnp.max, "max")


def _looked_at(tensor: Handle) -> np.ndarray:
    if state.recorder is not None:
        return state.recorder.decision(tensor, "bool()")
    return host_array(value_of(tensor), "bool()")


def require(condition: Any, error: type[Exception], message: str) -> None:
    """Raise ``error(message)`` unless a Tensor holds no zero, in any lane. Inside a loop's function: when the loop has run."""
    passed = call(_ALL, (bottom(condition),), recording=False, ceiling=0)
    if state.recorder is not None and state.recorder.check(value_of(passed), error, message):
        return
    if not _looked_at(passed):
        raise error(message)


def require_none_failed(failed: Any, checks: dict[Any, int]) -> None:
    """Raise the error of the check whose number is there, or tell it to the loop around this one."""
    first = call(_FIRST, (bottom(failed),), recording=False, ceiling=0)
    if state.recorder is not None:
        value = value_of(first)
        told = [state.recorder.check(value != number, *check) for check, number in checks.items()]
        if all(told):
            return
    number = int(_looked_at(first))
    for (error, message), which in checks.items():
        if which == number:
            raise error(message)
