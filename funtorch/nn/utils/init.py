"""Making a module without drawing its parameters."""

from __future__ import annotations

import inspect
from typing import Any

from ...errors import OpError
from ..module import Module

__all__ = ["skip_init"]


def skip_init(module_cls: type, *args: Any, **kwargs: Any) -> Any:
    """A module with arbitrary parameters, made without the time it takes to draw them.

    Args:
        module_cls: its class, whose constructor takes ``device``.
        args, kwargs: what the constructor gets.

    Raises:
        RuntimeError: no Module class, or one without ``device``.

    Example:
        >>> import funtorch
        >>> skip_init(funtorch.nn.Linear, 3, 4).weight.shape
        torch.Size([4, 3])
    """
    if not (isinstance(module_cls, type) and issubclass(module_cls, Module)):
        raise OpError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise OpError("Module must support a 'device' arg to skip initialization")
    device = kwargs.pop("device", "cpu")
    return module_cls(*args, **kwargs, device="meta").to_empty(device=device)
