"""The figures that a run must not fall below: for each name, a string of letters, one for each column."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from parity.pool import Row
from parity.verdict import FAIL, MISSING, NOTHING, PASS, Cell

PATH = Path(__file__).parent / "recorded.json"


def letters(row: Row, columns: list[str]) -> str:
    """The row as a string, one letter for each column."""
    return "".join(row.cells.get(column, Cell(NOTHING)).letter for column in columns)


def totals(rows: Iterable[Row], columns: list[str]) -> dict[str, tuple[int, int]]:
    """Passed and all (passed, failed and missing) by column. Excused pairs are in neither."""
    passed, tried = Counter(), Counter()
    for row in rows:
        for column in columns:
            letter = row.cells.get(column, Cell(NOTHING)).letter
            passed[column] += letter == PASS
            tried[column] += letter in (PASS, FAIL, MISSING)
    return {column: (passed[column], tried[column]) for column in columns if tried[column]}


def write(rows: list[Row], columns: list[str], path: Path = PATH) -> None:
    """Writes the rows as the new record. Names that were not run keep what they had."""
    old = read(path)
    names = dict(old["names"]) if old and old["columns"] == columns else {}
    for row in rows:
        before = names.get(row.name, NOTHING * len(columns))
        now = letters(row, columns)
        kept = (b if column not in row.cells else n for column, b, n in zip(columns, before, now, strict=True))
        names[row.name] = "".join(kept)
    lines = [f"  {json.dumps(name)}: {json.dumps(names[name])}" for name in sorted(names)]
    text = ",\n".join(lines)
    path.write_text(f'{{"columns": {json.dumps(columns)},\n"names": {{\n{text}\n}}}}\n')


def read(path: Path = PATH) -> dict | None:
    """The record, or None where there is none yet."""
    return json.loads(path.read_text()) if path.exists() else None


def regressions(rows: list[Row], path: Path = PATH) -> tuple[list[tuple[str, str]], list[str]]:
    """Pairs that passed in the record and do not now, and the columns whose total fell."""
    record = read(path)
    if record is None:
        return [], []
    lost: list[tuple[str, str]] = []
    change: Counter = Counter()
    for row in rows:
        before = dict(zip(record["columns"], record["names"].get(row.name, ""), strict=False))
        for column, cell in row.cells.items():
            was, now = before.get(column) == PASS, cell.letter == PASS
            change[column] += now - was
            if was and not now:
                lost.append((row.name, column))
    return lost, [column for column, difference in change.items() if difference < 0]
