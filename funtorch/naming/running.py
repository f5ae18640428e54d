"""``python -m funtorch run``: a script for which ``torch`` is funtorch, in this process and in those that it starts with
multiprocessing.

Libraries that import torch themselves see funtorch as well: every ``import torch.x`` gives the module object of ``funtorch.x``.
"""

from __future__ import annotations

import importlib
import importlib.util
import runpy
import sys
from collections.abc import Sequence
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

from ..errors import ArgumentValueError

ROOTS = {"torch": "funtorch", "functorch": "funtorch.functorch"}
VERSION = "2.13.0"  # of PyTorch, whose names and behaviour these are: libraries compare it


def renamed(name: str) -> str:
    """The module of funtorch's that stands for PyTorch's ``name``."""
    root, dot, rest = name.partition(".")
    return ROOTS[root] + dot + rest


class Alias(Loader):
    """Gives a module that exists under another name."""

    def __init__(self, name: str) -> None:
        self.name = name

    def create_module(self, spec: ModuleSpec) -> ModuleType:
        module = importlib.import_module(self.name)
        self.spec = module.__spec__  # the import system is about to put its own in place
        return module

    def exec_module(self, module: ModuleType) -> None:
        module.__spec__ = self.spec


class StandIn(MetaPathFinder):
    """Finds ``torch`` and ``torch.x``."""

    def find_spec(self, fullname: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        if fullname.partition(".")[0] not in ROOTS:
            return None
        name = renamed(fullname)
        try:
            found = importlib.util.find_spec(name)
        except ModuleNotFoundError:
            found = None
        if found is None:
            return None
        return ModuleSpec(fullname, Alias(name), is_package=found.submodule_search_locations is not None)


def stand_in() -> None:
    """Let ``torch`` mean funtorch from now on, in multiprocessing's new processes too.

    Raises RuntimeError if PyTorch itself is imported already.
    """
    import funtorch

    from .children import prepare

    present = sys.modules.get("torch")
    if present is not None and present is not funtorch:
        raise ArgumentValueError("stand_in(): PyTorch itself is imported already in this process")
    if present is None:
        sys.meta_path.insert(0, StandIn())
        funtorch.__version__ = funtorch.version.__version__ = VERSION
        importlib.import_module("torch")
        prepare()


def run(target: str, arguments: Sequence[str], as_module: bool = False) -> None:
    """Run a script (or with ``as_module`` a module) as Python would, with ``sys.argv`` being it and its arguments.

    Raises FileNotFoundError if there is no such script, and whatever it raises.
    """
    stand_in()
    sys.argv = [target, *arguments]
    if as_module:
        sys.path.insert(0, "")
        runpy.run_module(target, run_name="__main__", alter_sys=True)
        return
    if not Path(target).exists():
        raise FileNotFoundError(f"python -m funtorch run: there is no script {target}")
    sys.path.insert(0, str(Path(target).resolve().parent))
    _run_as_main(Path(target))


def _run_as_main(script: Path) -> None:
    """Run a file as the module ``__main__``, which stays: what is defined in it can be pickled, as ever."""
    main = ModuleType("__main__")
    main.__file__ = str(script)
    main.__builtins__ = __builtins__  # type: ignore[attr-defined]
    sys.modules["__main__"] = main
    exec(compile(script.read_bytes(), str(script), "exec"), vars(main))
