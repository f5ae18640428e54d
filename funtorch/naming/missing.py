"""What stands for a name of PyTorch's that funtorch has nothing for: it can be imported, and raises when it is used."""

from __future__ import annotations

import functools
import importlib
from types import ModuleType
from typing import Any, NoReturn

from ..errors import MissingError
from .operators import SPACES, operators
from .table import modules


class NotThere(type):
    """The type of such things: classes, so that ``isinstance`` may be asked (nothing is an instance)."""

    def __call__(cls, *args: Any, **kwargs: Any) -> NoReturn:
        raise MissingError(f"{cls.__qualname__} is not in funtorch")

    def __getattr__(cls, name: str) -> NoReturn:
        if name.startswith("__"):
            raise AttributeError(name)
        raise MissingError(f"{cls.__qualname__} is not in funtorch, and so has no {name!r}")

    def __repr__(cls) -> str:
        return f"<{cls.__qualname__}: not in funtorch>"


class Base(metaclass=NotThere):
    """What all have in common: a class can't be derived from one."""

    def __init_subclass__(cls, **kwargs: Any) -> None:
        parent = cls.__mro__[1]
        if parent is not Base:
            raise MissingError(f"{parent.__qualname__} is not in funtorch, so that {cls.__name__} can't be derived from it")


@functools.lru_cache(maxsize=None)
def stand_in(path: str) -> type:
    """The thing that stands for the name ``path``. What is called an error may stand after ``except``: it is never raised."""
    name = path.rpartition(".")[2]
    shown = path.removeprefix("torch.") if path.startswith("torch.functorch.") else path
    return NotThere(
        name,
        (Base, Exception) if name.endswith(("Error", "Exception")) else (Base,),
        {"__qualname__": shown, "__module__": "funtorch", "__doc__": f"{shown} is not in funtorch."},
    )


def resolve(module: str, name: str) -> Any:
    """The attribute ``name`` of PyTorch's ``module``, where funtorch's has none.

    It's what funtorch has under another of its names, or a `stand_in`. Raises AttributeError for what is no name of PyTorch's.
    """
    if module == "torch.ops" and name in SPACES:
        return operators(name)
    other = modules().get(module, {}).get(name)
    if other is None and f"{module}.{name}" in modules():
        return importlib.import_module(f"fun{module}.{name}")
    if other is None:
        raise AttributeError(f"module 'fun{module}' has no attribute {name!r}")
    home, _, last = other.rpartition(".")
    if home != module:
        found = vars(importlib.import_module(f"fun{home}")).get(last)
        return getattr(importlib.import_module(f"fun{home}"), last) if found is None else found
    return stand_in(other)


def complete(module: ModuleType) -> None:
    """Let a module of funtorch's resolve all names that PyTorch has in the one of the same path."""
    path = module.__name__.removeprefix("fun")
    own = vars(module).get("__getattr__")

    @functools.cache
    def is_package() -> bool:  # asked by every import statement that runs, those within functions too
        return any(each.startswith(f"{path}.") for each in modules())

    def resolving(name: str) -> Any:
        if own is not None:
            try:
                return own(name)
            except AttributeError:
                pass
        if name == "__path__" and is_package():
            return []  # in PyTorch it is a package: the finder has its modules
        if name.startswith("__") and f"{path}.{name}" not in modules():
            raise AttributeError(f"module {module.__name__!r} has no attribute {name!r}")
        return resolve(path, name)

    vars(module)["__getattr__"] = resolving
