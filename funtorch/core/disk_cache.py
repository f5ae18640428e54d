"""Kernels are kept on disk between runs, in the user's cache folder.

``FUNTORCH_CACHE_DIR`` moves the folder, ``FUNTORCH_CACHE=0`` stops it, ``FUNTORCH_CACHE_MEGABYTES`` bounds it.

Any number of processes may share the folder. JAX writes an entry in one go but not atomically: who reads it half written,
or finds it damaged, compiles anew. Damaged entries are deleted at the end of a process, so that they are written again.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import time
import warnings
import zlib
from collections.abc import Iterator
from pathlib import Path

import jax

from .bounded import limit_from

# What XLA makes faster than this is made anew: reading it back would cost as much.
MIN_SECONDS = 0.2
NOT_READ = "Error (reading|writing) persistent compilation cache entry"
# Events that JAX tells of.
ASKED, FOUND = "/jax/compilation_cache/compile_requests_use_cache", "/jax/compilation_cache/cache_hits"
CLOCK = 1.0  # seconds by which a file system's clock may lag
MARKER = ".checked"  # its time is that of the last look at the folder
ZSTANDARD = b"\x28\xb5\x2f\xfd"  # how entries begin where JAX found a library for it; else they are zlib's


def folder() -> Path | None:
    """Where kernels are kept, or None if they are not."""
    if os.environ.get("FUNTORCH_CACHE", "1") == "0":
        return None
    root = os.environ.get("XDG_CACHE_HOME") or os.path.join(os.path.expanduser("~"), ".cache")
    return Path(os.environ.get("FUNTORCH_CACHE_DIR") or os.path.join(root, "funtorch", "kernels"))


def limit() -> int:
    """How many bytes the folder may hold at the end of a process."""
    return limit_from("FUNTORCH_CACHE_MEGABYTES", 2048) << 20


def use_disk_cache() -> None:
    """Point JAX's persistent compilation cache to our folder, unless the user has chosen one."""
    where = folder()
    if where is None or jax.config.jax_compilation_cache_dir:  # type: ignore[attr-defined]  # made when JAX starts
        return
    jax.config.update("jax_compilation_cache_dir", str(where))
    jax.config.update("jax_persistent_cache_min_compile_time_secs", MIN_SECONDS)
    jax.config.update("jax_persistent_cache_min_entry_size_bytes", -1)
    # A cache that can't be read or written costs time and nothing else; where warnings are errors it would cost the call.
    warnings.filterwarnings("ignore", NOT_READ, UserWarning)
    # JAX's own bound on the size takes a lock and scans the folder at each write (0.2 s): the folder is tidied at the end instead.
    wanting = Wanting()
    jax.monitoring.register_event_listener(wanting)
    atexit.register(wanting.tidy, where, limit())


class Wanting:
    """Counts the kernels that were not to be had from disk: without any there is nothing to tidy at the end."""

    def __init__(self) -> None:
        self.count = 0

    def __call__(self, event: str, **_: object) -> None:
        self.count += (event == ASKED) - (event == FOUND)

    def tidy(self, where: Path, bound: int) -> None:
        """`tidy` the folder, if this process may have written to it."""
        if self.count:
            tidy(where, bound)


def tidy(where: Path, bound: int) -> None:
    """Delete damaged entries, and those used longest ago until the folder holds at most ``bound`` bytes.

    Nothing is looked at twice: an entry is checked by the first process to end after it was written.
    """
    marker, start = where / MARKER, time.time()
    with contextlib.suppress(OSError):  # the folder may be gone, or not ours to write to
        since = marker.stat().st_mtime if marker.exists() else 0.0
        for file, found in _entries(where):
            if found.st_mtime >= since - CLOCK and is_damaged(file):
                file.unlink(missing_ok=True)
        trim(where, bound)
        marker.touch()
        os.utime(marker, (start, start))


def trim(where: Path, bound: int) -> None:
    """Delete the entries used least recently until the folder holds at most ``bound`` bytes."""
    entries = [(max(found.st_mtime, found.st_atime), found.st_size, file) for file, found in _entries(where)]
    total = sum(size for _, size, _ in entries)
    for _, size, file in sorted(entries, key=lambda entry: entry[0]):
        if total <= bound:
            return
        with contextlib.suppress(OSError):
            file.unlink()
            total -= size


def _entries(where: Path) -> Iterator[tuple[Path, os.stat_result]]:
    for file in where.glob("*-cache"):
        with contextlib.suppress(OSError):  # another process may be tidying as well
            yield file, file.stat()


def is_damaged(file: Path) -> bool:
    """Whether JAX could not unpack the entry."""
    try:
        data = file.read_bytes()
        if not data.startswith(ZSTANDARD):
            zlib.decompress(data)
    except OSError:
        return False
    except zlib.error:
        return True
    return False
