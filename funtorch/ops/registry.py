"""The public names that the op files declare: by namespace, and the methods of Tensor."""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType

from ..errors import FuntorchError
from ..tensor import Tensor

_names: dict[str, dict[str, Callable]] = {}
methods: dict[str, Callable] = {}


def add(namespace: str, name: str, fn: Callable) -> None:
    """Register ``fn`` as ``namespace.name``; a dotted ``name`` is taken from the top. Raises if the name is taken."""
    if "." in name:
        namespace, _, name = name.rpartition(".")
    held = _names.setdefault(namespace, {})
    if name in held and held[name] is not fn:
        raise FuntorchError(f"{namespace}.{name} is declared in {held[name].__module__} and again in {fn.__module__}")
    held[name] = fn
    if isinstance(fn, FunctionType) and fn.__name__.startswith("_") and not name.startswith("_"):
        fn.__name__ = name  # its first public one


def add_method(name: str, fn: Callable) -> None:
    """Make ``fn`` a method of Tensor. Raises if an op file has declared the name before."""
    if name in methods and methods[name] is not fn:
        raise FuntorchError(f"Tensor.{name} is declared in {methods[name].__module__} and again in {fn.__module__}")
    methods[name] = fn
    if name not in Tensor.__dict__:
        setattr(Tensor, name, fn)


def replace(fn: Callable, by: Callable) -> None:
    """Let another function stand wherever ``fn`` is public."""
    for held in (*_names.values(), methods):
        for name, found in held.items():
            if found is fn:
                held[name] = by
                if held is methods and Tensor.__dict__.get(name) is fn:
                    setattr(Tensor, name, by)


def names(namespace: str) -> dict[str, Callable]:
    """All functions of a namespace."""
    return dict(_names.get(namespace, {}))


def namespaces() -> list[str]:
    """The namespaces that hold at least one function."""
    return sorted(_names)


def name_publicly() -> None:
    """Give each function that its module does not have under its name the address where it is public, so that it can be pickled."""
    for namespace, held in _names.items():
        if namespace.rpartition(".")[0] in _names:
            continue  # of ours alone
        home = "funtorch" if namespace == "torch" else f"funtorch.{namespace}"
        for name, fn in held.items():
            if isinstance(fn, FunctionType) and not _is_at(fn.__module__, fn.__qualname__, fn):
                fn.__module__, fn.__qualname__ = home, name


def _is_at(module: str, name: str, fn: Callable) -> bool:
    return module in sys.modules and vars(sys.modules[module]).get(name) is fn
