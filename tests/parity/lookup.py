"""From a callable of PyTorch to the candidate's own: by name, or by moving a small test function over.

Many entries of the operator database hold a lambda such as ``lambda x, n: torch.polygamma(n, x)``. Such a function
is rebuilt with the same code and with the candidate in place of the global name ``torch``.
"""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable
from typing import Any

import torch
from parity.candidate import MissingError, Side
from torch.testing._internal.opinfo.core import OpInfo

SEED = 42
TESTING = "torch.testing"
NAMESPACES = (
    "",
    "nn.functional",
    "linalg",
    "fft",
    "special",
    "masked",
    "sparse",
    "signal.windows",
    "nn",
    "nn.init",
)
METHOD_TYPES = (types.MethodDescriptorType, types.WrapperDescriptorType, types.GetSetDescriptorType)


@functools.cache
def public_paths() -> dict[int, str]:
    """The dotted path of each public callable of torch, by identity."""
    torch_side = Side("torch", torch)
    paths: dict[int, str] = {}
    for space in NAMESPACES:
        holder = torch_side.find(space) if space else torch
        for name in dir(holder):
            value = getattr(holder, name, None)
            if callable(value) and not name.startswith("_"):
                paths.setdefault(id(value), f"{space}.{name}" if space else name)
    return paths


def counterpart(function: Any, side: Side) -> Any:
    """What ``function`` is on the Side. Builtins and plain Python pass unchanged. Raises MissingError."""
    if isinstance(function, OpInfo):
        return function  # an entry of the database that a sample's own function asks about
    if side.module is torch and not isinstance(function, (types.FunctionType, functools.partial)):
        return function
    if isinstance(function, functools.partial):
        arguments = [counterpart(item, side) if callable(item) else item for item in function.args]
        keywords = {k: counterpart(v, side) if callable(v) else v for k, v in function.keywords.items()}
        return functools.partial(counterpart(function.func, side), *arguments, **keywords)
    if isinstance(function, METHOD_TYPES):
        return side.tensor_attribute(function.__name__)
    module = getattr(function, "__module__", None) or ""
    if module.startswith(TESTING):  # what is callable there but no function is an entry of a database
        return transplant(function, side) if isinstance(function, types.FunctionType) else function
    if module == "torch._tensor":
        return side.tensor_attribute(function.__name__)
    if id(function) in public_paths():
        return side.find(public_paths()[id(function)])
    if module.startswith("torch"):
        raise MissingError(f"{side.name}: nothing for {module}.{getattr(function, '__name__', function)}")
    return function


def transplant(function: types.FunctionType, side: Side) -> types.FunctionType:
    """The same code, with the Side's module as its ``torch``; helpers it calls are moved likewise."""
    if function.__name__ == "wrapper_set_seed":
        return _seeded(side)
    return _transplant(function, side, {})


def _transplant(function: types.FunctionType, side: Side, moved: dict[int, Any]) -> types.FunctionType:
    if id(function) in moved:
        return moved[id(function)]
    scope = dict(function.__globals__)
    made = types.FunctionType(function.__code__, scope, function.__name__, function.__defaults__, _cells(function, side))
    made.__kwdefaults__ = function.__kwdefaults__
    moved[id(function)] = made
    for name in _global_names(function.__code__):
        value = scope.get(name)
        if isinstance(value, types.FunctionType) and value.__module__.startswith(TESTING):
            scope[name] = _transplant(value, side, moved)
    scope.update(torch=side.module, wrapper_set_seed=_seeded(side))
    if "F" in scope:
        scope["F"] = side.find("nn.functional")
    return made


def _cells(function: types.FunctionType, side: Side) -> tuple[types.CellType, ...] | None:
    if function.__closure__ is None:
        return None
    values = [cell.cell_contents for cell in function.__closure__]
    return tuple(types.CellType(counterpart(v, side) if callable(v) else v) for v in values)


def _global_names(code: types.CodeType) -> set[str]:
    nested = [_global_names(const) for const in code.co_consts if isinstance(const, types.CodeType)]
    return set(code.co_names).union(*nested)


def _seeded(side: Side) -> Callable:
    def wrapper_set_seed(op: Callable, *args: Any, **kwargs: Any) -> Any:
        side.seed(SEED)
        return op(*args, **kwargs)

    return wrapper_set_seed


def op_function(info: Any, side: Side) -> Callable:
    """The function form of a database entry on the Side. Raises MissingError."""
    function = info.op
    if isinstance(function, (*METHOD_TYPES, types.FunctionType)) and _is_local(function):
        return counterpart(function, side)
    if side.module is torch:
        return function
    path = info.name.removeprefix("torch.")
    return side.find(path)


def _is_local(function: Any) -> bool:
    module = getattr(function, "__module__", None) or ""
    return isinstance(function, METHOD_TYPES) or module.startswith((TESTING, "torch._tensor"))


def method_form(info: Any, side: Side) -> Callable | None:
    """``Tensor.name`` on the Side, or None where PyTorch has no such method."""
    return None if info.method_variant is None else counterpart(info.method_variant, side)


def inplace_form(info: Any, side: Side) -> Callable | None:
    """``Tensor.name_`` on the Side, or None where PyTorch has none."""
    return None if info.inplace_variant is None else counterpart(info.inplace_variant, side)


def operator_form(info: Any, side: Side) -> Callable | None:
    """Python's operator for the op (``operator.add``), the same on both sides."""
    form = info.operator_variant
    return form if form is None or form.__module__ == operator.add.__module__ else None
