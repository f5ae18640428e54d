"""A run that was stopped goes on from a file of its rows, one a line: each is written when it is finished."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path

from parity.pool import Row, Task
from parity.verdict import Cell


def append(path: Path, row: Row) -> None:
    """Writes one finished row at the end of the file."""
    with path.open("a") as file:
        file.write(json.dumps(asdict(row)) + "\n")


def read(path: Path, tasks: Iterable[Task]) -> list[Row]:
    """The rows of the file that are among the tasks and have all of their columns; the last where there are several."""
    wanted = {(suite, name): set(columns) for suite, name, columns in tasks}
    found: dict[tuple[str, str], Row] = {}
    for line in path.read_text().splitlines() if path.exists() else []:
        try:
            fields = json.loads(line)
        except ValueError:  # the run was stopped while it wrote this
            continue
        row = Row(**fields | {"cells": {column: Cell(**cell) for column, cell in fields["cells"].items()}})
        if wanted.get((row.suite, row.name)) == set(row.cells):
            found[row.suite, row.name] = row
    return list(found.values())
