"""Python's operators on Tensors: each calls the op of PyTorch's name when it is used."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

import numpy as np

from ..core.promotion import NUMBERS
from ..dtypes import INTEGER
from ..errors import ArgumentTypeError
from ..tensor import Tensor
from . import registry

# operator -> (function, whether the operands change sides)
BINARY = {
    "__add__": ("add", False), "__radd__": ("add", True), "__sub__": ("sub", False), "__rsub__": ("sub", True),
    "__mul__": ("mul", False), "__rmul__": ("mul", False), "__truediv__": ("div", False),
    "__floordiv__": ("floor_divide", False), "__rfloordiv__": ("floor_divide", True),
    "__mod__": ("remainder", False), "__rmod__": ("remainder", True), "__pow__": ("pow", False), "__rpow__": ("pow", True),
    "__matmul__": ("matmul", False), "__rmatmul__": ("matmul", True),
    "__and__": ("bitwise_and", False), "__rand__": ("bitwise_and", True), "__or__": ("bitwise_or", False),
    "__ror__": ("bitwise_or", True), "__xor__": ("bitwise_xor", False), "__rxor__": ("bitwise_xor", True),
    "__lshift__": ("bitwise_left_shift", False), "__rlshift__": ("bitwise_left_shift", True),
    "__rshift__": ("bitwise_right_shift", False), "__rrshift__": ("bitwise_right_shift", True),
    "__eq__": ("eq", False), "__ne__": ("ne", False), "__lt__": ("lt", False), "__le__": ("le", False),
    "__gt__": ("gt", False), "__ge__": ("ge", False),
}  # fmt: skip
IN_PLACE = {
    "__iadd__": "add_", "__isub__": "sub_", "__imul__": "mul_", "__itruediv__": "div_", "__ifloordiv__": "floor_divide_",
    "__imod__": "remainder_", "__ipow__": "pow_", "__iand__": "bitwise_and_", "__ior__": "bitwise_or_",
    "__ixor__": "bitwise_xor_", "__ilshift__": "bitwise_left_shift_", "__irshift__": "bitwise_right_shift_",
}  # fmt: skip
UNARY = {"__neg__": "neg", "__pos__": "positive", "__abs__": "abs", "__invert__": "bitwise_not"}
_OPERANDS = (Tensor, *NUMBERS, np.generic, np.ndarray)


def _binary(operator: str, name: str, swapped: bool) -> Callable:
    function: Callable

    def first(x: Any, y: Any) -> Any:
        nonlocal function  # found when first used: the op files are imported in any order
        function = registry.names("torch")[name]
        return function(x, y)

    def plain(self: Any, other: Any) -> Any:
        return function(self, other) if isinstance(other, _OPERANDS) else NotImplemented

    def turned(self: Any, other: Any) -> Any:
        return function(other, self) if isinstance(other, _OPERANDS) else NotImplemented

    function = first
    method = turned if swapped else plain
    method.__name__ = operator
    return method


def _divided(self: Any, other: Any) -> Any:
    """A number by a Tensor: PyTorch takes the reciprocal first, and rounds it."""
    if not isinstance(other, _OPERANDS):
        return NotImplemented
    inverse = registry.names("torch")["reciprocal"](self)
    return inverse if other.__class__ in (int, float) and other == 1 else inverse * other


def _unary(operator: str, name: str) -> Callable:
    def method(self: Any) -> Any:
        if operator == "__invert__" and self.dtype.category > INTEGER:
            raise ArgumentTypeError("~ (operator.invert) is only implemented on integer and Boolean-type tensors")
        return registry.names("torch")[name](self)

    method.__name__ = operator
    return method


def _in_place(operator: str, name: str) -> Callable:
    def method(self: Any, other: Any) -> Any:
        if not isinstance(other, _OPERANDS):
            return NotImplemented
        return registry.methods[name](self, other)

    method.__name__ = operator
    return method


for _operator, (_name, _swapped) in BINARY.items():
    setattr(Tensor, _operator, _binary(_operator, _name, _swapped))
for _operator in ("__rtruediv__", "__rdiv__"):
    setattr(Tensor, _operator, _divided)
for _operator, _name in IN_PLACE.items():
    setattr(Tensor, _operator, _in_place(_operator, _name))
for _operator, _name in UNARY.items():
    setattr(Tensor, _operator, _unary(_operator, _name))


def _reversed(self: Any) -> Any:
    """The rows from the last to the first: a Tensor."""
    return registry.names("torch")["flip"](self, (0,)) if self.dim() else self


def _no_deletion(self: Any, index: Any) -> NoReturn:
    raise ArgumentTypeError("Tensor does not support deleting items")


for _operator, _method in (("__reversed__", _reversed), ("__delitem__", _no_deletion)):
    setattr(Tensor, _operator, _method)
