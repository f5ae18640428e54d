"""Types that take over PyTorch's functions (``__torch_function__``): there are none, and code that asks is told so."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from .tensor import Tensor


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """False: no argument takes a function over."""
    return False


def has_torch_function_unary(arg: Any) -> bool:
    """False: see `has_torch_function`."""
    return False


def has_torch_function_variadic(*args: Any) -> bool:
    """False: see `has_torch_function`."""
    return False


def is_tensor_like(inp: Any) -> bool:
    """Whether a value is a Tensor, or of a type that takes PyTorch's functions over."""
    return isinstance(inp, Tensor) or hasattr(type(inp), "__torch_function__")
