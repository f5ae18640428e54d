"""The three databases behind one face: names, columns, and a check of one cell."""

from __future__ import annotations

from dataclasses import dataclass
from fnmatch import fnmatch
from typing import Any, Protocol

from parity import modules, ops, optimizers
from parity.candidate import Side, side
from parity.columns import COLUMNS, choose
from parity.exceptions import excuse
from parity.verdict import EXCUSED, FAIL, MISSING, Cell


@dataclass(frozen=True)
class Settings:
    """What a run covers. ``suites``: some of ops, modules, optimizers. Empty filters let everything through."""

    candidate: str = "funtorch"
    suites: tuple[str, ...] = ("ops", "modules", "optimizers")
    only: tuple[str, ...] = ()
    aspects: tuple[str, ...] = ()
    dtypes: tuple[str, ...] = ()
    samples: int = 4
    seconds: int = 30


class Suite(Protocol):
    """A database of names, each checked in each of the columns."""

    columns: list[str]

    def names(self) -> list[str]: ...

    def family(self, name: str) -> str: ...

    def check(self, name: str, column: str, candidate: Side) -> Cell: ...


class Ops:
    """The operator database. torch as candidate skips compile: that column is about funtorch's own compiler."""

    def __init__(self, settings: Settings):
        chosen = choose(settings.aspects, settings.dtypes, settings.samples)
        if settings.candidate == "torch":
            chosen = [column for column in chosen if column.name != "compile"]
        self._columns = {column.name: column for column in chosen}
        self.columns = list(self._columns)

    def names(self) -> list[str]:
        return list(ops.database())

    def family(self, name: str) -> str:
        return ops.family(ops.database()[name])

    def check(self, name: str, column: str, candidate: Side) -> Cell:
        return ops.check(name, self._columns[column], candidate)


class Programs:
    """The module or the optimiser database: a table of programs per entry."""

    def __init__(self, settings: Settings, source: Any, family: str):
        self.source, self._family = source, family
        self.columns = [c for c in source.PROGRAMS if not settings.aspects or c in settings.aspects]

    def names(self) -> list[str]:
        return list(self.source.database())

    def family(self, name: str) -> str:
        return self._family

    def check(self, name: str, column: str, candidate: Side) -> Cell:
        return self.source.check(name, column, candidate)


def suites(settings: Settings) -> dict[str, Suite]:
    """The chosen suites by name."""
    table = {
        "ops": lambda: Ops(settings),
        "modules": lambda: Programs(settings, modules, "module"),
        "optimizers": lambda: Programs(settings, optimizers, "optimizer"),
    }
    return {name: table[name]() for name in settings.suites}


def all_columns() -> list[str]:
    """Every column's name, in the order of the table."""
    return [column.name for column in COLUMNS] + list(modules.PROGRAMS) + list(optimizers.PROGRAMS)


def wanted(name: str, settings: Settings) -> bool:
    """Whether ``--only`` lets the name through; its entries are names or patterns such as ``linalg.*``."""
    return not settings.only or any(fnmatch(name, pattern) for pattern in settings.only)


def judge(suite: Suite, name: str, column: str, settings: Settings) -> Cell:
    """The cell, with documented differences marked as excused."""
    cell = suite.check(name, column, side(settings.candidate))
    return excused(cell, name, column, settings.candidate)


def excused(cell: Cell, name: str, column: str, candidate: str) -> Cell:
    """Turns a failure or an absence for which `exceptions` has a reason into an X."""
    if cell.letter not in (FAIL, MISSING):
        return cell
    reason = excuse(name, column, candidate)
    return cell if reason is None else Cell(EXCUSED, f"{reason} [{cell.reason}]")
