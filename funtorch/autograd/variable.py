"""``autograd.Variable``: a Tensor, under the name that it had once."""

from __future__ import annotations

from typing import Any

from ..cautions import caution
from ..core.handle import Handle
from ..tensor import Tensor

__all__ = ["Variable", "VariableMeta"]


class VariableMeta(type):
    """Every Tensor is a Variable."""

    def __instancecheck__(cls, other: Any) -> bool:
        return isinstance(other, Tensor)


class Variable(metaclass=VariableMeta):
    """``Variable(tensor, requires_grad=False)`` is ``tensor.detach()``, recorded on if asked for.

    >>> import funtorch as torch
    >>> torch.autograd.Variable(torch.ones(1), requires_grad=True)
    tensor([1.], requires_grad=True)
    """

    def __new__(cls, data: Any = None, requires_grad: bool = False, volatile: bool = False) -> Any:
        if volatile:
            caution("volatile was removed and now has no effect. Use `with torch.no_grad():` instead.")
        tensor = data if isinstance(data, Handle) else Tensor(*(() if data is None else (data,)))
        return tensor.detach().requires_grad_(requires_grad)
