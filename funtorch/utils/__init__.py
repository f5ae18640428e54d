"""``funtorch.utils``: data loading, checkpointing, hooks."""

import importlib
from typing import Any

_MODULES = ("_pytree", "benchmark", "checkpoint", "data", "dlpack", "hooks", "model_zoo", "tensorboard")


def __getattr__(name: str) -> Any:
    if name in _MODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name == "swap_tensors":
        from .swapping import swap_tensors

        return swap_tensors
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
