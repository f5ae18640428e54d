"""``funtorch.__config__``: what funtorch runs on, in words."""

from __future__ import annotations

import os
import platform

__all__ = ["parallel_info", "show"]


def show() -> str:
    """The versions and devices, a line each."""
    import jax
    import jaxlib
    import numpy as np

    from .version import __version__

    lines = (
        f"funtorch {__version__}, of PyTorch 2.13's interface",
        f"JAX {jax.__version__}, jaxlib {jaxlib.__version__}, NumPy {np.__version__}",
        f"Python {platform.python_version()} on {platform.system()} {platform.machine()}",
        f"devices: {', '.join(map(str, jax.devices()))}",
    )
    return "\n".join(("built with:", *(f"  - {line}" for line in lines), ""))


def parallel_info() -> str:
    """How many threads there are, and cores for them."""
    from .threads import get_num_interop_threads, get_num_threads

    return (
        f"torch.get_num_threads() : {get_num_threads()}\n"
        f"torch.get_num_interop_threads() : {get_num_interop_threads()}\n"
        f"os.cpu_count() : {os.cpu_count()}\n"
        "threads are XLA's and NumPy's\n"
    )
