"""Kernels are kept on disk between runs, in the user's cache folder.

``FUNTORCH_CACHE_DIR`` moves the folder, ``FUNTORCH_CACHE=0`` stops it.
"""

from __future__ import annotations

import atexit
import contextlib
import os
from pathlib import Path

import jax

MAX_BYTES = 2 << 30
# What XLA makes faster than this is made anew: reading it back would cost as much.
MIN_SECONDS = 0.2


def folder() -> Path | None:
    """Where kernels are kept, or None if they are not."""
    if os.environ.get("FUNTORCH_CACHE", "1") == "0":
        return None
    root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(os.environ.get("FUNTORCH_CACHE_DIR") or os.path.join(root, "funtorch", "kernels"))


def use_disk_cache() -> None:
    """Point JAX's persistent compilation cache to our folder, unless the user has chosen one."""
    where = folder()
    if where is None or jax.config.jax_compilation_cache_dir:  # type: ignore[attr-defined]  # made when JAX starts
        return
    jax.config.update("jax_compilation_cache_dir", str(where))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", MIN_SECONDS)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    # JAX's own bound on the size takes a lock and scans the folder at each write (0.2 s): the folder is trimmed at the end instead.
    atexit.register(trim, where, MAX_BYTES)


def trim(where: Path, limit: int) -> None:
    """Delete the entries used least recently until the folder holds at most ``limit`` bytes."""
    entries = []
    with contextlib.suppress(OSError):  # another process may be trimming as well
        for file in where.iterdir():
            found = file.stat()
            entries.append((found.st_mtime, found.st_size, file))
    total = sum(size for _, size, _ in entries)
    for _, size, file in sorted(entries, key=lambda entry: entry[0]):
        if total <= limit:
            return
        with contextlib.suppress(OSError):
            file.unlink()
            total -= size
