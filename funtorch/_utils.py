"""PyTorch's address of the functions that its files name, and of small ones that public code imports from there."""

from __future__ import annotations

from typing import Any

from .dtypes import dtype
from .serialization.rebuilding import (  # noqa: F401
    _rebuild_parameter,
    _rebuild_parameter_with_state,
    _rebuild_sparse_tensor,
    _rebuild_tensor,
    _rebuild_tensor_v2,
    _rebuild_tensor_v3,
)


def _element_size(dtype: dtype) -> int:
    """The bytes of one element of a type."""
    return dtype.itemsize


def _get_device_index(device: Any, optional: bool = False, allow_cpu: bool = False) -> int:
    """The index of a device: a number, a name, or a device. Raises ValueError for one that has none."""
    from .devices import current_index
    from .devices import device as Device
    from .errors import ArgumentValueError

    if isinstance(device, int) and not isinstance(device, bool):
        return device
    if device is None and optional:
        return current_index("gpu")
    where = Device(device) if isinstance(device, str) else device
    if isinstance(where, Device):
        if where.type == "cpu" and allow_cpu:
            return -1
        if where.index is not None:
            return where.index
        if optional and where.type != "cpu":
            return current_index("gpu")
    raise ArgumentValueError(f"Expected a torch.device with a specified index or an integer, but got: {device!r}")
