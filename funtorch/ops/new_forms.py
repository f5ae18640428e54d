"""``x.new_zeros(...)`` and the like: Tensors of the dtype of ``x`` and on its device."""

from __future__ import annotations

from typing import Any

from ..errors import ArgumentTypeError
from ..size import Size
from ..tensor import Tensor
from . import registry
from .creation import empty, full, ones, zeros
from .given_data import tensor


def _new(name: str, factory: Any) -> None:
    """Give Tensor the method ``name``: ``factory`` with the Tensor's own dtype and device."""
    names = {"new_full": {"size", "fill_value"}, "new_tensor": {"data"}}.get(name, {"size"})

    def method(
        self: Tensor,
        *args: Any,
        dtype: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        layout: Any = None,
        pin_memory: bool = False,
        **named: Any,
    ) -> Tensor:
        if named.keys() - names:
            raise ArgumentTypeError(f"{name}() got an unexpected keyword argument '{min(named.keys() - names)}'")
        return factory(
            *args,
            **named,
            dtype=self.dtype if dtype is None else dtype,
            device=self.device if device is None else device,
            requires_grad=requires_grad,
        )

    method.__name__ = name
    method.__doc__ = f"``{factory.__name__}`` with this Tensor's dtype and device."
    registry.add_method(name, method)


for _name, _factory in (
    ("new_zeros", zeros),
    ("new_ones", ones),
    ("new_empty", empty),
    ("new_full", full),
    ("new_tensor", tensor),
):
    _new(_name, _factory)


def _new_old(self: Tensor, *args: Any) -> Tensor:
    """PyTorch's old ``x.new(...)``: a Tensor of the same dtype and device from sizes or data."""
    if len(args) == 1 and not isinstance(args[0], (int, Size)):
        return tensor(args[0], dtype=self.dtype, device=self.device)
    return empty(*(args or (0,)), dtype=self.dtype, device=self.device)


registry.add_method("new", _new_old)
