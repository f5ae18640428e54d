"""Modules of PyTorch's paths: those that funtorch has get all of PyTorch's names, the others are made of names alone."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

from .missing import complete


class Shadowing(ModuleType):
    """A module of the same path as a function, whose place it takes when it is imported: it can be called like that."""

    def __init__(self, name: str, function: Any) -> None:
        super().__init__(name)
        self.__wrapped__ = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.__wrapped__(*args, **kwargs)


class Nameless(Loader):
    """Makes a module that has nothing of its own."""

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        from .table import modules

        parent, _, last = spec.name.rpartition(".")
        if last not in modules().get(parent.removeprefix("fun"), {}):
            return None
        return Shadowing(spec.name, getattr(sys.modules[parent], last))

    def exec_module(self, module: ModuleType) -> None:
        module.__doc__ = f"PyTorch's {module.__name__.removeprefix('fun')}, of which funtorch has the names alone."
        complete(module)


class Finder(MetaPathFinder):
    """Finds ``funtorch.X`` for each ``torch.X`` of the table."""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        if not fullname.startswith("funtorch."):
            return None
        own = PathFinder.find_spec(fullname, path)
        if own is None:
            return self._of_names(fullname)
        if own.loader is not None and _is_public(fullname):
            execute = own.loader.exec_module

            def executed(module: ModuleType) -> None:
                execute(module)
                complete(module)

            own.loader.exec_module = executed  # type: ignore[method-assign]
        return own

    @staticmethod
    def _of_names(fullname: str) -> ModuleSpec | None:
        from .table import modules

        if fullname.removeprefix("fun") not in modules():
            return None
        return importlib.util.spec_from_loader(fullname, Nameless(), is_package=True)


# Parts of funtorch that are no path of PyTorch's: looked at by their first names, since the table is long.
OWN = frozenset(
    "core ops transforms models demo naming errors devices dtypes printing tensor cli information legacy_types numbers_info size"
    " chips absent assertions device_modules streams determinism matmul_precision threads".split()
)


def _is_public(fullname: str) -> bool:
    return fullname == "funtorch.ops" or fullname.split(".", 2)[1] not in OWN


def install() -> None:
    """Put the finder first among Python's."""
    if not any(isinstance(finder, Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, Finder())
