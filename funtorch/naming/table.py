"""The table of PyTorch's public names, ``names.txt``: read when a name is asked for that is not there."""

from __future__ import annotations

import functools
from pathlib import Path


@functools.lru_cache(maxsize=1)
def modules() -> dict[str, dict[str, str]]:
    """For each module of PyTorch its names, and for each of these the shortest name of the same thing."""
    found = {}
    for line in Path(__file__).with_name("names.txt").read_text().splitlines():
        if line.startswith("#"):
            continue
        path, _, names = line.partition(":")
        pairs = (name.partition("=") for name in names.split())
        found[path] = {name: other or f"{path}.{name}" for name, _, other in pairs}
    return found
