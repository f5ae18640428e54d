"""``torch.ops``: operators by the names of PyTorch's dispatcher. Those that are public functions too are these."""

from __future__ import annotations

import functools
import importlib
from typing import Any

from ..errors import MissingError

# PyTorch's own.
_OWN = frozenset(
    "aten prim prims profiler quantized c10d _c10d_functional inductor mkldnn mkl sparse rngprims higher_order".split()
)
# Those of extensions, of which there is nothing. PyTorch makes a name space of any name; here the module is funtorch's own, and
# tools that look for a name of theirs in each module (pytest: `setup_module`) must not find one.
_FOREIGN = frozenset(
    """
    detectron2 extra_decoders_ns fbgemm image pyg tfl torch_cluster torch_scatter torch_sparse torchao torchaudio torchtext
    torchvision vllm xformers
    """.split()
)
SPACES = _OWN | _FOREIGN


class Operators:
    """The operators of one name space."""

    def __init__(self, name: str) -> None:
        self.__name__ = f"torch.ops.{name}"
        self._name = name

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__") or self._name not in _OWN:
            raise AttributeError(f"torch.ops.{self._name} has no operator {name!r}: it is not loaded")
        return operator(self._name, name)

    def __repr__(self) -> str:
        return f"<{self.__name__}>"


class Operator:
    """An operator, or with ``overload`` one of its forms: which it is, the arguments tell."""

    def __init__(self, space: str, name: str, overload: str = "") -> None:
        self.__name__ = f"{name}.{overload}" if overload else name
        self.__qualname__ = f"torch.ops.{space}.{self.__name__}"
        self._parts = space, name, overload

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        space, name, _ = self._parts
        found = getattr(importlib.import_module("funtorch"), name, None) if space == "aten" else None
        if found is None or not callable(found):
            raise MissingError(f"{self.__qualname__} is not in funtorch")
        return found(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        space, own, overload = self._parts
        if name.startswith("__") or overload:
            raise AttributeError(f"{self.__qualname__} has no attribute {name!r}")
        return operator(space, own, name)

    def __repr__(self) -> str:
        return f"<{self.__qualname__}>"


@functools.cache
def operators(name: str) -> Operators:
    """The name space ``name``."""
    return Operators(name)


@functools.cache
def operator(space: str, name: str, overload: str = "") -> Operator:
    """One and the same object each time: operators are keys of tables."""
    return Operator(space, name, overload)
