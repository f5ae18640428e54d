"""The processors of the machine that this process may use."""

from __future__ import annotations

import os


def usable() -> int:
    """How many there are: as many threads do XLA and NumPy start."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
