"""Anomaly mode: a backward step that gives NaN raises, and shows where the forward call was."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import OpError
from .engine import CONCRETE
from .state import state


def check(node: Any, grads: Sequence[Any]) -> None:
    """Raise RuntimeError if one of the gradients that ``node`` gave holds a NaN."""
    if not state.anomaly_nan:
        return
    for number, grad in enumerate(grads):
        value = None if grad is None else grad._payload
        if type(value) in CONCRETE and np.isnan(np.asarray(value)).any():
            if node.trace:
                warnings.warn(
                    f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n{node.trace}",
                    stacklevel=2,
                )
            raise OpError(f"Function '{node.name()}' returned nan values in its {number}th output.")
