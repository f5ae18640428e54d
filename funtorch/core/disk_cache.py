"""Kernels are kept on disk between runs, in the user's cache folder.

``FUNTORCH_CACHE_DIR`` moves the folder, ``FUNTORCH_CACHE=0`` stops it.
"""

from __future__ import annotations

import os
from pathlib import Path

import jax

MAX_BYTES = 2 << 30


def folder() -> Path | None:
    """Where kernels are kept, or None if they are not."""
    if os.environ.get("FUNTORCH_CACHE", "1") == "0":
        return None
    root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(os.environ.get("FUNTORCH_CACHE_DIR") or os.path.join(root, "funtorch", "kernels"))


def use_disk_cache() -> None:
    """Point JAX's persistent compilation cache to our folder, unless the user has chosen one."""
    where = folder()
    if where is None or jax.config.jax_compilation_cache_dir:
        return
    jax.config.update("jax_compilation_cache_dir", str(where))
    jax.config.update("jax_compilation_cache_max_size", MAX_BYTES)
    jax.config.update("jax_persistent_cache_min_compile_time_secs", 0)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
