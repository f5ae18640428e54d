"""The namespace of a kind of device: ``torch.cpu``, ``torch.cuda``, ..."""

from __future__ import annotations

import importlib
from types import ModuleType
from typing import Any

from . import accelerator
from .devices import device as Device  # noqa: N812
from .errors import OpError

__all__ = ["get_device_module"]


def get_device_module(device: Any = None) -> ModuleType:
    """The namespace of a device's kind.

    Args:
        device: a device or its name; the accelerator that is there unless given, or the CPU where there is none.

    Raises:
        RuntimeError: it is no device, or its kind has no namespace.
    """
    if device is None:
        found = accelerator.current_accelerator()
        kind = "cpu" if found is None else found.type
    elif isinstance(device, (str, Device)):
        kind = Device(device).type
    else:
        raise OpError(f"Invalid value of device '{device}', expect torch.device, str, or None")
    name = "accelerator" if kind == "tpu" else kind
    if name not in ("cpu", "cuda", "mps", "xpu", "accelerator"):
        raise OpError(f"Device '{kind}' does not have a corresponding module registered as 'torch.{kind}'.")
    return importlib.import_module(f"{__package__}.{name}")
