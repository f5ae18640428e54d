"""What PyTorch says it was built with, asked by names at its top, and a switch of the processor's. What is deprecated warns."""

from __future__ import annotations

import importlib
from typing import Any

from .cautions import caution

# Each name: the function that answers it, in ``backends``, and whether PyTorch calls the name deprecated.
ASKED = {
    "has_cuda": ("cuda.is_built", True),
    "has_cudnn": ("cudnn.is_available", True),
    "has_mkldnn": ("mkldnn.is_available", True),
    "has_mps": ("mps.is_built", True),
    "has_mkl": ("mkl.is_available", False),
    "has_openmp": ("openmp.is_available", False),
}
has_lapack = has_spectral = True


def __getattr__(name: str) -> Any:
    if name not in ASKED:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    where, older = ASKED[name]
    if older:
        caution(f"'{name}' is deprecated, please use 'torch.backends.{where}()'")
    module, _, function = where.rpartition(".")
    return getattr(importlib.import_module(f".backends.{module}", __package__), function)()


def is_vulkan_available() -> bool:
    """False."""
    return False


def set_flush_denormal(mode: bool) -> bool:
    """False: how numbers smaller than the normal ones are treated is not changed, and stays as the processor has it."""
    return False
