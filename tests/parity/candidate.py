"""The library under test and the oracle: both are seen as "a module with PyTorch's names".

Everything that the harness does is written once, over a `Side`, and run on two of them.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from types import ModuleType
from typing import Any


class MissingError(Exception):
    """The candidate has no such name: counted as "missing", apart from failures."""


class SkipError(Exception):
    """The check has no meaning here (PyTorch itself refuses it): neither passed nor failed."""


class MismatchError(Exception):
    """The candidate answered, and differs from PyTorch; the text says where."""


@dataclass(frozen=True)
class Side:
    """A module with PyTorch's names, and how to find things in it."""

    name: str
    module: Any
    oracle: bool = False

    def find(self, path: str) -> Any:
        """The object at a dotted path such as ``nn.functional.conv2d``. Raises MissingError."""
        here = self.module
        for part in path.split("."):
            try:
                here = getattr(here, part)
            except AttributeError:
                here = self._submodule(here, part, path)
        return here

    def _submodule(self, here: Any, part: str, path: str) -> Any:
        if isinstance(here, ModuleType):
            try:
                return importlib.import_module(f"{here.__name__}.{part}")
            except ImportError:
                pass
        raise MissingError(f"{self.name}.{path}")

    def tensor_attribute(self, attribute: str) -> Any:
        """The method or property of Tensor with that name. Raises MissingError."""
        try:
            return getattr(self.module.Tensor, attribute)
        except AttributeError:
            raise MissingError(f"{self.name}.Tensor.{attribute}") from None

    def seed(self, number: int) -> None:
        """``manual_seed``, where the module has it: without, only random results differ."""
        getattr(self.module, "manual_seed", lambda number: None)(number)

    def is_tensor(self, value: Any) -> bool:
        return isinstance(value, self.module.Tensor)


def side(name: str, oracle: bool = False) -> Side:
    """The Side of an importable module: ``side("torch", oracle=True)`` is what the answers are held against."""
    return Side(name, importlib.import_module(name), oracle)
