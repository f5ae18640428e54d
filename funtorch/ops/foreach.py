"""``_foreach_*``: one op on each Tensor of a list. Other arguments are one for all, or a list with one for each."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ..errors import OpError
from ..tensor import Tensor
from . import registry
from .given_data import tensor

_UNARY = (
    "abs", "acos", "asin", "atan", "ceil", "cos", "cosh", "erf", "erfc", "exp", "expm1", "floor", "frac", "lgamma", "log", "log10", "log1p",
    "log2", "neg", "reciprocal", "round", "rsqrt", "sigmoid", "sign", "sin", "sinh", "sqrt", "tan", "tanh", "trunc",
)  # fmt: skip
_BINARY = ("add", "clamp_max", "clamp_min", "div", "maximum", "minimum", "mul", "pow", "sub")
_OF_NUMBERS = {"maximum": "clamp_min", "minimum": "clamp_max"}  # what those are with a number


def _spread(value: Any, count: int) -> Sequence[Any]:
    """One value for each of ``count`` Tensors."""
    if not isinstance(value, (list, tuple)):
        return [value] * count
    if len(value) != count:
        raise OpError(f"Tensor lists must have the same number of tensors, got {count} and {len(value)}")
    return value


def _each(name: str, fn: Callable, tensors: Any, *others: Any, **named: Any) -> list[Any]:
    if len(tensors) == 0:
        raise OpError(f"_foreach_{name}(): Tensor list must have at least one tensor.")
    spread = [_spread(other, len(tensors)) for other in others]
    return [fn(*each, **named) for each in zip(tensors, *spread, strict=True)]


def _function(name: str) -> Callable:
    return registry.names("torch")[name]


def _written(name: str) -> Callable:
    """The in-place form of an op; for one that has none, its result copied."""
    method = registry.methods.get(f"{name}_")
    return method or (lambda x, *args, **named: x.copy_(_function(name)(x, *args, **named)))


def _on_operand(x: Tensor, other: Any, name: str, form: Callable, **named: Any) -> Tensor:
    return form(_OF_NUMBERS.get(name, name) if not isinstance(other, Tensor) else name)(x, other, **named)


def _declare(name: str, function: Callable, words: str) -> None:
    function.__name__ = function.__qualname__ = f"_foreach_{name}"
    function.__doc__ = words
    registry.add("torch", function.__name__, function)


def _unary(name: str) -> None:
    _declare(name, lambda self: tuple(_each(name, _function(name), self)), f"`{name}` of each Tensor.")
    _declare(f"{name}_", lambda self: _each(name, _written(name), self), f"`{name}` of each Tensor, in place.")


def _binary(name: str) -> None:
    def apart(self: Any, other: Any, **named: Any) -> tuple:
        if name == "pow" and not isinstance(self, (list, tuple)):  # of one number
            return tuple(_each(name, lambda y: _function(name)(self, y), other))
        return tuple(_each(name, lambda x, y: _on_operand(x, y, name, _function, **named), self, other))

    def in_place(self: Any, other: Any, **named: Any) -> list:
        return _each(name, lambda x, y: _on_operand(x, y, name, _written, **named), self, other)

    _declare(name, apart, f"`{name}` of each Tensor and another operand.")
    _declare(f"{name}_", in_place, f"`{name}` of each Tensor and another operand, in place.")


def _values(value: Any) -> Any:
    """Factors of products: a Tensor of one dimension holds one for each."""
    return value.tolist() if isinstance(value, Tensor) and value.dim() == 1 else value


def _product(name: str) -> None:
    def apart(self: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> tuple:
        return tuple(_each(name, lambda x, a, b, v: _function(name)(x, a, b, value=v), self, tensor1, tensor2, _values(value)))

    def in_place(self: Any, tensor1: Any, tensor2: Any, value: Any = 1) -> list:
        return _each(name, lambda x, a, b, v: _written(name)(x, a, b, value=v), self, tensor1, tensor2, _values(value))

    _declare(name, apart, f"`{name}` of each Tensor and two more.")
    _declare(f"{name}_", in_place, f"`{name}` of each Tensor and two more, in place.")


for _name in _UNARY:
    _unary(_name)
for _name in _BINARY:
    _binary(_name)
for _name in ("addcmul", "addcdiv"):
    _product(_name)

_declare("lerp", lambda self, end, weight: tuple(_each("lerp", _function("lerp"), self, end, weight)), "`lerp` of each Tensor.")
_declare(
    "lerp_", lambda self, end, weight: _each("lerp", _written("lerp"), self, end, weight), "`lerp` of each Tensor, in place."
)
_declare("mm", lambda self, mat2: tuple(_each("mm", _function("mm"), self, mat2)), "`mm` of each pair of matrices.")
_declare("clone", lambda self: tuple(_each("clone", _function("clone"), self)), "A copy of each Tensor.")
_declare("max", lambda self: tuple(_each("max", _function("max"), self)), "The largest element of each Tensor.")
_declare(
    "norm",
    lambda self, ord=2, dtype=None: tuple(_each("norm", lambda x: x.norm(ord, dtype=dtype), self)),
    "The norm of each Tensor.",
)
_declare(
    "powsum",
    lambda self, ord=2, dtype=None: tuple(_each("powsum", lambda x: x.abs().pow(ord).sum(dtype=dtype), self)),
    "The sum of each Tensor's absolute elements to a power.",
)
_declare("zero_", lambda self: _each("zero", registry.methods["zero_"], self), "Zero each Tensor.")
_declare("copy_", lambda self, src: _each("copy", registry.methods["copy_"], self, src), "Copy a Tensor into each.")


def _shape_as_tensor(self: Tensor) -> Tensor:
    """The shape (dim,) as an int64 Tensor."""
    return tensor(tuple(self.shape), dtype=int)


registry.add("torch", "_shape_as_tensor", _shape_as_tensor)
