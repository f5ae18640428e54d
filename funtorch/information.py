"""``funtorch info``: what funtorch runs on."""

from __future__ import annotations

import platform

import jax
import jaxlib
import numpy as np
from rich.console import Console
from rich.table import Table

from .core.disk_cache import folder
from .core.engine import mode_in_force
from .core.host import falls
from .devices import from_jax
from .version import __version__


def rows() -> list[tuple[str, str]]:
    """Names and values of what there is to know."""
    where = folder()
    kept = 0 if where is None or not where.is_dir() else sum(f.stat().st_size for f in where.iterdir() if f.is_file())
    return [
        ("funtorch", __version__),
        ("jax, jaxlib", f"{jax.__version__}, {jaxlib.__version__}"),
        ("numpy", np.__version__),
        ("Python", f"{platform.python_version()} on {platform.system()} {platform.machine()}"),
        ("devices", ", ".join(str(from_jax(d)) for d in jax.devices())),
        ("cache folder", "off (FUNTORCH_CACHE=0)" if where is None else f"{where} ({kept / 1e6:.1f} MB)"),
        ("engine", mode_in_force()),
    ]


def show(engine: bool = False) -> None:
    """Print a table of `rows`, and with ``engine`` the primitives that ran through XLA for want of a NumPy rule."""
    console = Console()
    table = Table(show_header=False, box=None)
    for name, value in rows():
        table.add_row(name, value)
    console.print(table)
    if engine:
        if not falls:
            console.print("Every primitive met so far had a NumPy rule.")
        for name, count in falls.most_common():
            console.print(f"{name}: {count} runs through XLA for want of a NumPy rule")
