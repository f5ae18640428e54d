"""The table on the screen, and the report with every failure's reason."""

from __future__ import annotations

import csv
from collections import Counter, defaultdict
from pathlib import Path

from parity.lookup import NAMESPACES
from parity.pool import Row
from parity.record import totals
from parity.verdict import EXCUSED, FAIL, MISSING, NOTHING, PASS

Census = dict[str, int]


def read_census(paths: list[Path]) -> Census:
    """From TSVs with the columns ``name`` and ``repos``: how many codebases use each name (``torch.x``, or a method ``x``)."""
    census: Census = {}
    for path in paths:
        with path.open() as lines:
            for row in csv.DictReader(lines, delimiter="\t"):
                census[row["name"]] = max(census.get(row["name"], 0), int(row["repos"]))
    return census


def uses(name: str, census: Census) -> int:
    """How many codebases use the op, module or optimiser of that database name, as a function or as a method."""
    plain = name.removeprefix("torch.")
    stem, _, variant = plain.rpartition(".")
    names = [plain] if stem in NAMESPACES or not stem else [plain, stem]
    return max(census.get(space + n, 0) for n in names for space in ("torch.", "torch.optim.", ""))


def percent(passed: int, tried: int) -> str:
    return f"{100 * passed / tried:6.2f} %" if tried else "     -"


def by_column(rows: list[Row], columns: list[str]) -> list[str]:
    """Lines: column, passed, tried, missing, excused, per cent."""
    lines = [f"{'aspect':20s} {'passed':>7s} {'of':>6s} {'missing':>8s} {'excused':>8s}"]
    figures = totals(rows, columns)
    for column in columns:
        found = Counter(row.cells[column].letter for row in rows if column in row.cells)
        if column in figures or found[EXCUSED]:
            passed, tried = figures.get(column, (0, 0))
            lines.append(f"{column:20s} {passed:7d} {tried:6d} {found[MISSING]:8d} {found[EXCUSED]:8d}  {percent(passed, tried)}")
    passed, tried = (sum(pair[i] for pair in figures.values()) for i in (0, 1))
    found = Counter(cell.letter for row in rows for cell in row.cells.values())
    lines.append(f"{'all pairs':20s} {passed:7d} {tried:6d} {found[MISSING]:8d} {found[EXCUSED]:8d}  {percent(passed, tried)}")
    return lines


def by_family(rows: list[Row], families: dict[str, str]) -> list[str]:
    """Lines: family, names, names that are absent, pairs passed."""
    grouped: dict[str, list[Row]] = defaultdict(list)
    for row in rows:
        grouped[families[row.name]].append(row)
    lines = [f"{'family':20s} {'names':>7s} {'absent':>7s} {'passed':>7s} {'of':>6s}"]
    for family, members in sorted(grouped.items()):
        letters = Counter(cell.letter for row in members for cell in row.cells.values())
        tried = letters[PASS] + letters[FAIL] + letters[MISSING]
        absent = sum(is_absent(row) for row in members)
        lines.append(f"{family:20s} {len(members):7d} {absent:7d} {letters[PASS]:7d} {tried:6d}  {percent(letters[PASS], tried)}")
    return lines


def is_absent(row: Row) -> bool:
    """Nothing passes or fails: whatever was tried is missing."""
    letters = {cell.letter for cell in row.cells.values()} - {NOTHING, EXCUSED}
    return letters == {MISSING}


def missing(rows: list[Row], census: Census) -> list[str]:
    """Names that are wholly absent, most used first."""
    names = sorted((row.name for row in rows if is_absent(row)), key=lambda name: (-uses(name, census), name))
    return [f"{uses(name, census):3d}  {name}" if census else name for name in names]


def used_but_wanting(rows: list[Row], census: Census, at_least: int = 2) -> list[str]:
    """Names that several codebases use, and in which some column fails or is missing."""
    wanting = [r for r in rows if {FAIL, MISSING} & {c.letter for c in r.cells.values()}]
    names = {row.name: uses(row.name, census) for row in wanting}
    ranked = sorted((n for n in names if names[n] >= at_least), key=lambda n: (-names[n], n))
    return [f"{names[name]:3d}  {name}" for name in ranked]


def failures(rows: list[Row], letter: str) -> list[str]:
    """Lines of tab-separated name, column, reason for the cells with that letter."""
    return [
        f"{row.name}\t{column}\t{' '.join(cell.reason.split())}"
        for row in rows
        for column, cell in row.cells.items()
        if cell.letter == letter
    ]


def slowest(rows: list[Row], count: int = 15) -> list[str]:
    """The names that took longest, with their slowest column."""
    ranked = sorted(rows, key=lambda row: -sum(row.seconds.values()))[:count]
    return [
        f"{sum(row.seconds.values()):6.1f} s  {row.name} (most in {max(row.seconds, key=row.seconds.get)})"
        for row in ranked
        if row.seconds
    ]


def falls(rows: list[Row]) -> list[str]:
    """Lines: how often a primitive ran through XLA for want of a NumPy rule, the primitive, the names that met it."""
    total: Counter[str] = Counter()
    met = defaultdict(list)
    for row in rows:
        total.update(row.falls)
        for primitive in row.falls:
            met[primitive].append(row.name)
    return [f"{count:6d}  {primitive} ({', '.join(met[primitive][:4])})" for primitive, count in total.most_common()]


def write(folder: Path, rows: list[Row], columns: list[str], families: dict[str, str], census: Census) -> None:
    """Writes report.txt, failures.tsv, missing.tsv and excused.tsv into the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, letter in (("failures", FAIL), ("missing", MISSING), ("excused", EXCUSED)):
        lines = failures(rows, letter)
        (folder / f"{name}.tsv").write_text("\n".join(["name\tcolumn\treason", *lines]) + "\n")
    untried = [row.name for row in rows if all(cell.letter == NOTHING for cell in row.cells.values())]
    parts = {
        "By aspect": by_column(rows, columns),
        "By family": by_family(rows, families),
        "Absent names": missing(rows, census),
        "Used by two or more codebases of the census, and not whole": used_but_wanting(rows, census),
        "PyTorch itself runs none of these here": untried,
        "Slowest": slowest(rows),
        "Primitives without a NumPy rule": falls(rows),
    }
    blocks = ["\n".join([title, "-" * len(title), *lines]) for title, lines in parts.items() if lines]
    (folder / "report.txt").write_text("\n\n".join(blocks) + "\n")
