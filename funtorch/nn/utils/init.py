"""Making a module without drawing its parameters from the generator."""

from __future__ import annotations

import inspect
from typing import Any

from ...core.generators import default_generator
from ...errors import ArgumentTypeError, OpError
from ..module import Module

__all__ = ["skip_init"]


def skip_init(module_cls: type, *args: Any, **kwargs: Any) -> Any:
    """A module with arbitrary parameters. The generator of random numbers is left as it was.

    Args:
        module_cls: its class, whose constructor takes ``device``.
        args, kwargs: what the constructor gets.

    Raises:
        TypeError: no class.
        RuntimeError: no class of Module, or one without ``device``.

    Example:
        >>> import funtorch
        >>> skip_init(funtorch.nn.Linear, 3, 4).weight.shape
        torch.Size([4, 3])
    """
    if not isinstance(module_cls, type):
        raise ArgumentTypeError(f"skip_init(): expected a class of Module, got {module_cls!r}")
    if not issubclass(module_cls, Module):
        raise OpError(f"Expected a Module; got {module_cls}")
    if "device" not in inspect.signature(module_cls).parameters:
        raise OpError("Module must support a 'device' arg to skip initialization")
    before = default_generator.get_state()
    try:
        return module_cls(*args, **kwargs)
    finally:
        default_generator.set_state(before)
