"""The public names that the op files declare: by namespace, and the methods of Tensor."""

from __future__ import annotations

from collections.abc import Callable

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


def add_method(name: str, fn: Callable) -> None:
    """Make ``fn`` a method of Tensor. Raises if an op file has declared the name before."""
    if name in methods and methods[name] is not fn:
        raise FuntorchError(f"Tensor.{name} is declared in {methods[name].__module__} and again in {fn.__module__}")
    methods[name] = fn
    if name not in Tensor.__dict__:
        setattr(Tensor, name, fn)


def names(namespace: str) -> dict[str, Callable]:
    """All functions of a namespace."""
    return dict(_names.get(namespace, {}))


def namespaces() -> list[str]:
    """The namespaces that hold at least one function."""
    return sorted(_names)
