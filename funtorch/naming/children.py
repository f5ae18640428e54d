"""Processes that a script started by ``python -m funtorch run`` makes with multiprocessing: ``torch`` is funtorch there too.

A forked one inherits it. "spawn" and "forkserver" begin with a bare interpreter, which first reads the data that prepare it,
before the script is imported: what puts funtorch in place of torch goes along in these. Other programs are not touched.
"""

from __future__ import annotations

import multiprocessing.forkserver as forkserver
import multiprocessing.spawn as spawn
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

_KEY = "funtorch"
_ROOT = str(Path(__file__).parents[2])  # from where funtorch is imported here, which may be no place of the child's own path
_SOURCE = f"""\
import sys
sys.path.append({_ROOT!r})
try:
    from funtorch.naming.running import stand_in
    stand_in()
finally:
    sys.path.remove({_ROOT!r})
"""


class Preparation:
    """Read from a pickle, lets ``torch`` mean funtorch in the process that reads it."""

    def __reduce__(self) -> tuple:
        return exec, (_SOURCE, {})


def prepare() -> None:
    """Let the processes that multiprocessing starts anew from now on have funtorch as torch."""
    if getattr(spawn.get_preparation_data, "of_funtorch", False):
        return
    spawn.get_preparation_data = _with_funtorch(spawn.get_preparation_data)  # type: ignore[assignment]
    forkserver.set_forkserver_preload = _loaded_first(forkserver.set_forkserver_preload)  # type: ignore[assignment]
    forkserver.set_forkserver_preload(["__main__"])  # multiprocessing's default


def _with_funtorch(data_of: Callable[[str], dict[str, Any]]) -> Callable[[str], dict[str, Any]]:
    def get_preparation_data(name: str) -> dict[str, Any]:
        # Read in the order of its entries.
        return {_KEY: Preparation(), **data_of(name)}

    get_preparation_data.of_funtorch = True  # type: ignore[attr-defined]
    return get_preparation_data


def _loaded_first(preload: Callable[[list[str]], None]) -> Callable[[Sequence[str]], None]:
    """The server that forks the others may import modules for them: not the script, and not before `_preloaded`."""

    def set_forkserver_preload(modules_names: Sequence[str]) -> None:
        if not all(type(name) is str for name in modules_names):
            raise TypeError("module_names must be a list of strings")
        preload([f"{__package__}._preloaded", *(name for name in modules_names if name != "__main__")])

    return set_forkserver_preload
