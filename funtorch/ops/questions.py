"""What a Tensor is, asked of functions: numel, is_floating_point and the like; and methods that change nothing here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.views import alias
from ..errors import ArgumentTypeError, OpError
from ..tensor import Tensor
from . import registry
from .conversion import copy_
from .declare import function

_QUESTIONS = {
    "numel": "The number of elements.",
    "is_floating_point": "Whether the dtype is floating point.",
    "is_complex": "Whether the dtype is complex.",
    "is_signed": "Whether the dtype has negative values.",
    "is_inference": "Whether the Tensor was made in inference mode.",
    "detach": "A view of the values, without history.",
}


def _asked(name: str, text: str) -> Callable:
    def ask(input: Tensor) -> Any:
        if not isinstance(input, Tensor):
            raise ArgumentTypeError(f"{name}(): argument 'input' (position 1) must be Tensor, not {type(input).__name__}")
        return getattr(input, name)()

    ask.__name__ = ask.__qualname__ = name
    ask.__doc__ = text
    return ask


for _name, _text in _QUESTIONS.items():
    function(name=_name)(_asked(_name, _text))


def pin_memory(self: Tensor, device: Any = None) -> Tensor:
    """``self``: host memory is not pinned here, and copies to a device do not need it."""
    return self


def share_memory_(self: Tensor) -> Tensor:
    """``self``: arrays are immutable, and other processes get copies."""
    return self


def as_subclass(self: Tensor, cls: type) -> Any:
    """A Tensor of class ``cls`` with the same elements. Raises TypeError if it is not a class of Tensors."""
    if not (isinstance(cls, type) and issubclass(cls, Tensor)):
        raise ArgumentTypeError(f"as_subclass(): argument 'cls' must be a subclass of Tensor, got {cls!r}")
    seen = alias(self, detached=False)
    made = object.__new__(cls)
    made.__dict__.update(seen.__dict__)
    return made


def _write_host(self: Tensor, values: Any) -> Tensor:
    return copy_(self, Tensor._of_numpy(np.asarray(values, self._payload.dtype).reshape(tuple(self.shape))))


def apply_(self: Tensor, callable: Callable) -> Tensor:
    """Replace each element by what a Python function gives for it: slow, and not recorded."""
    return _write_host(self, [callable(v) for v in self.detach().numpy().reshape(-1).tolist()])


def map_(self: Tensor, tensor: Tensor, callable: Callable) -> Tensor:
    """Replace each element by ``callable(element, other element)``. Raises RuntimeError if the shapes differ."""
    if tuple(self.shape) != tuple(tensor.shape):
        raise OpError(f"map_(): sizes {list(self.shape)} and {list(tensor.shape)} do not match")
    pairs = zip(*(x.detach().numpy().reshape(-1).tolist() for x in (self, tensor)), strict=True)
    return _write_host(self, [callable(a, b) for a, b in pairs])


for _method in (pin_memory, share_memory_, as_subclass, apply_, map_):
    registry.add_method(_method.__name__, _method)
