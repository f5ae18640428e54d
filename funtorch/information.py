"""``funtorch info``: what funtorch runs on, and how its engine is set."""

from __future__ import annotations

import platform

import jax
import jaxlib
import numpy as np
from rich.console import Console
from rich.table import Table

from .core import tiers
from .core.disk_cache import folder, limit
from .core.engine import mode_in_force, programs
from .core.host import falls
from .core.host_rules.falls import KEPT, lines
from .core.host_rules.generation import TEXTS_KEPT
from .core.host_rules.lowering import SHORTCUTS
from .core.host_rules.table import RULES
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


def tier_rules() -> list[str]:
    """The rules between the tiers, in words."""
    compilation = f"{tiers.COMPILE / 1e3:g} ms and {tiers.COMPILE_STEP / 1e3:g} more for each primitive"
    return [
        "NumPy estimated to be as fast as a kernel: on the host for good",
        f"{tiers.LARGE:g} us and more, in at most {tiers.SHORT} primitives: a kernel at once",
        f"otherwise a kernel when it would have saved what compiling takes, estimated at {compilation};",
        f"sooner where a call saves more than {tiers.MUCH:g} us, and after {tiers.MOST_CALLS} calls at the latest",
    ]


def bounds() -> list[tuple[str, str]]:
    """What bounds the memory and disk that the engine takes, and the variable that sets it."""
    return [
        ("programs and kernels kept", f"{programs.limit}, of which {len(programs)} in use (FUNTORCH_PROGRAMS)"),
        ("kernels on disk", "none (FUNTORCH_CACHE=0)" if folder() is None else f"{limit() >> 20} MB (FUNTORCH_CACHE_MEGABYTES)"),
        ("texts of host programs kept", str(TEXTS_KEPT)),
        ("single primitives kept as kernels", str(KEPT)),
    ]


def fallen() -> list[str]:
    """Which primitives of this process ran through XLA, and how often."""
    if not falls:
        return ["In this process none yet. FUNTORCH_LOGS=falls lists those of a program at its end."]
    return [f"{falls.total()} runs of {len(falls)} primitives:", *lines()]


def show(engine: bool = False) -> None:
    """Print a table of `rows`; with ``engine`` also the tiers' rules, the bounds, the NumPy rules, and what had none."""
    console = Console()
    _print_pairs(console, rows())
    if not engine:
        return
    _print_heading(console, "From host to kernel, by the microseconds that NumPy is estimated to take")
    for line in tier_rules():
        console.print(f"  {line}")
    _print_heading(console, "Bounds")
    _print_pairs(console, bounds())
    known = sorted(name for name in {*RULES, *SHORTCUTS} if " " not in name)  # the others are steps of our own
    _print_heading(console, f"Primitives with a NumPy rule: {len(known)}")
    console.print(", ".join(known))
    _print_heading(console, "Primitives that ran through XLA for want of a NumPy rule")
    for line in fallen():
        console.print(f"  {line}")


def _print_heading(console: Console, text: str) -> None:
    console.print(f"\n[bold]{text}[/bold]")


def _print_pairs(console: Console, pairs: list[tuple[str, str]]) -> None:
    table = Table(show_header=False, box=None)
    for name, value in pairs:
        table.add_row(name, value)
    console.print(table)
