"""Batches shared out among devices: here among one, so that programs written for several run as they are."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import MissingError
from ..module import Module

__all__ = ["DataParallel", "data_parallel"]

_ONE_DEVICE = (
    "{}(device_ids={}): a batch is not shared out among several devices; name one, or shard the arrays by JAX's own means"
)


class DataParallel(Module):
    """A module whose batches would be shared out among devices. There is one: it is called as it is.

    Args:
        module: it becomes ``.module``, and "module." the beginning of each name in the ``state_dict``.
        device_ids: at most one device; None for the one that there is.
        output_device: accepted, without effect.
        dim: accepted, without effect: the axis of the batch.

    Differs from PyTorch: with several devices only one is used.

    Raises:
        NotImplementedError: more than one device is named.

    Example:
        >>> list(nn.DataParallel(nn.Linear(1, 1)).state_dict())
        ['module.weight', 'module.bias']
    """

    def __init__(self, module: Module, device_ids: Sequence[Any] | None = None, output_device: Any = None, dim: int = 0) -> None:
        super().__init__()
        _check_one("DataParallel", device_ids)
        self.module = module
        self.dim = dim
        self.device_ids = list(device_ids or [])
        self.output_device = output_device

    def forward(self, *inputs: Any, **kwargs: Any) -> Any:
        """What the module returns."""
        return self.module(*inputs, **kwargs)


def data_parallel(
    module: Module,
    inputs: Any,
    device_ids: Sequence[Any] | None = None,
    output_device: Any = None,
    dim: int = 0,
    module_kwargs: dict[str, Any] | None = None,
) -> Any:
    """Call a module on a batch that would be shared out among devices. There is one: it is called as it is.

    Args:
        inputs: a tuple of arguments, or the only one.
        device_ids: at most one device; None for the one that there is.
        output_device, dim: accepted, without effect.
        module_kwargs: further arguments by name.

    Returns:
        What the module returns.

    Raises:
        NotImplementedError: more than one device is named.
    """
    _check_one("data_parallel", device_ids)
    args = inputs if isinstance(inputs, tuple) else () if inputs is None else (inputs,)
    return module(*args, **(module_kwargs or {}))


def _check_one(name: str, device_ids: Sequence[Any] | None) -> None:
    if device_ids is not None and len(device_ids) > 1:
        raise MissingError(_ONE_DEVICE.format(name, list(device_ids)))
