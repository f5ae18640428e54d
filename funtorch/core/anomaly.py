"""Anomaly mode: a backward step that gives NaN raises, and shows where the forward call was."""

from __future__ import annotations

import traceback
import warnings
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import OpError
from .engine import CONCRETE
from .handle import Handle, value_of
from .levels import Batched, Dual
from .state import state

PACKAGE = str(Path(__file__).parents[1])
REFUSED = "anomaly mode is on, which looks at each step of the backward pass"


def note(node: Any) -> None:
    """Keep for ``node`` where in the user's code its forward call is. No program can show that, so that none is made."""
    frames = traceback.extract_stack()
    while len(frames) > 1 and (frames[-1].filename.startswith((PACKAGE, "<op "))):
        frames.pop()
    node.trace = "".join(traceback.format_list(frames))
    if state.recorder is not None:
        state.recorder.refuse(REFUSED)


def check(node: Any, grads: Sequence[Any]) -> None:
    """Raise RuntimeError if one of the gradients that ``node`` gave holds a NaN, in any lane or tangent."""
    if not state.anomaly_nan:
        return
    for number, grad in enumerate(grads):
        if grad is not None and any(np.isnan(array).any() for array in _arrays(grad)):
            if node.trace:
                warnings.warn(
                    f"Error detected in {node.name()}. Traceback of forward call that caused the error:\n{node.trace}",
                    stacklevel=2,
                )
            raise OpError(f"Function '{node.name()}' returned nan values in its {number}th output.")


def _arrays(tensor: Handle) -> Iterator[np.ndarray]:
    """The values below all levels that are known."""
    payload = value_of(tensor)
    if type(payload) is Batched:
        yield from _arrays(payload.inner)
    elif type(payload) is Dual:
        yield from _arrays(payload.primal)
        if payload.tangent is not None:
            yield from _arrays(payload.tangent)
    elif type(payload) in CONCRETE and np.dtype(payload.dtype).kind not in "biu":
        yield np.asarray(payload)
