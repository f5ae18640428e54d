"""The values of a Tensor as Python sees them, or the error that says why there are none."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import ArgumentTypeError, MissingError, OpError, TracedValueError
from .engine import CONCRETE
from .forked import as_numpy
from .levels import WRAPPED
from .meta import NO_DATA, MetaArray


def host_array(payload: Any, asked: str) -> np.ndarray:
    """A concrete payload as a NumPy array; otherwise TracedValueError that says what to do instead."""
    if type(payload) in CONCRETE:
        return as_numpy(payload)
    if type(payload) in WRAPPED:
        name = payload.level.name
        payload.level.check_alive(payload)
        if name == "jvp":
            return host_array(payload.primal._payload, asked)
        if payload.axis is None:
            return host_array(payload.inner._payload, asked)
        raise TracedValueError(
            f"vmap: It looks like you're calling {asked} on a Tensor of shape {list(payload.shape)} that is mapped over "
            f"{payload.level.size} lanes: it has a value for each lane, not one. Use torch.where instead of a branch, or call "
            "the function in a loop."
        )
    if type(payload) is MetaArray:
        if asked == "numpy()":
            raise ArgumentTypeError("can't convert meta device type tensor to numpy: it has no data")
        if asked in ("item()", "bool()", "int()", "float()"):
            raise OpError("Tensor.item() cannot be called on meta tensors")
        raise MissingError(f"{asked}: {NO_DATA}")
    raise TracedValueError(
        f"{asked} of a Tensor of shape {list(payload.shape)} inside compiled or traced code: its value is not known while the "
        "program is being made. Use torch.where instead of a branch, or leave this part outside the compiled function."
    )
