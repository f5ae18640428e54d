"""Parity with PyTorch: runs its operator, module and optimiser databases against funtorch. ``--help`` lists options.

Prints a table; writes every failure's reason under ``build/parity``; exits with 1 where a figure falls below the
recorded one, and names the pairs that were lost.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from dataclasses import asdict
from pathlib import Path

HERE = Path(__file__).resolve().parent
for place in (HERE.parents[1], HERE.parent):  # the checkout (for funtorch) and tests (for this package)
    if str(place) not in sys.path:
        sys.path.insert(0, str(place))

from parity import record, report, resuming  # noqa: E402
from parity.pool import NoCandidateError, Pool, Row, Task  # noqa: E402
from parity.suites import Settings, all_columns, suites, wanted  # noqa: E402

PROGRESS_EVERY = 25


def parse(arguments: list[str] | None = None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    words = {"type": lambda text: tuple(text.split(",")), "default": ()}
    parser.add_argument("--candidate", default="funtorch", help="module under test; torch proves the harness")
    parser.add_argument("--only", help="names or patterns: add,linalg.*", **words)
    parser.add_argument("--aspects", help="forward,grad,vmap,module.train,...", **words)
    parser.add_argument("--dtypes", help="of the columns with a dtype: float64,bool", **words)
    parser.add_argument("--samples", type=int, default=4, help="samples per op in the forward columns (4)")
    parser.add_argument("--jobs", type=int, default=2, help="worker processes (2)")
    parser.add_argument("--seconds", type=int, default=30, help="time limit of one op in one column (30)")
    parser.add_argument("--census", type=Path, nargs="+", default=[], help="TSVs of names and how many codebases use them")
    parser.add_argument("--out", type=Path, default=HERE.parents[1] / "build" / "parity", help="folder of the report")
    parser.add_argument("--json", type=Path, help="write all cells to this file")
    parser.add_argument("--resume", type=Path, help="file of finished rows: those in it are not run again, new ones are added")
    parser.add_argument("--record", action="store_true", help="make this run's figures the ones to keep")
    parser.add_argument("--modules", action="store_true", help="the module database too")
    parser.add_argument("--optimizers", action="store_true", help="the optimiser database too")
    return parser.parse_args(arguments)


def settings_of(options: argparse.Namespace) -> Settings:
    """The part of the options that workers need."""
    more = tuple(name for name in ("modules", "optimizers") if getattr(options, name))
    return Settings(
        candidate=options.candidate,
        suites=("ops", *more),
        only=options.only,
        aspects=options.aspects,
        dtypes=options.dtypes,
        samples=options.samples,
        seconds=options.seconds,
    )


def plan(settings: Settings) -> tuple[list[Task], dict[str, str]]:
    """The tasks, and the family of each name."""
    tasks: list[Task] = []
    families: dict[str, str] = {}
    for key, suite in suites(settings).items():
        for name in suite.names():
            if wanted(name, settings) and suite.columns:
                tasks.append((key, name, tuple(suite.columns)))
                families[name] = suite.family(name)
    return tasks, families


class Progress:
    """Collects rows, writes each to the file of a run that may be resumed, and prints a line now and then."""

    def __init__(self, total: int, rows: list[Row], file: Path | None):
        self.total, self.start, self.rows, self.file = total, time.monotonic(), rows, file

    def __call__(self, row: Row) -> None:
        self.rows.append(row)
        if self.file:
            resuming.append(self.file, row)
        if len(self.rows) % PROGRESS_EVERY == 0 or len(self.rows) == self.total:
            seconds = int(time.monotonic() - self.start)
            letters = "".join(record.letters(r, list(r.cells)) for r in self.rows)
            tried = sum(letters.count(letter) for letter in "PFM")
            print(
                f"[{len(self.rows):4d}/{self.total}] {seconds // 60:2d}:{seconds % 60:02d}  "
                f"{letters.count('P')} of {tried} pairs pass; last {row.name}",
                flush=True,
            )


def main(arguments: list[str] | None = None) -> int:
    """Runs, prints, writes. Returns the exit status."""
    options = parse(arguments)
    settings = settings_of(options)
    tasks, families = plan(settings)
    before = resuming.read(options.resume, tasks) if options.resume else []
    finished = {(row.suite, row.name) for row in before}
    progress = Progress(len(tasks), before, options.resume)
    stopped = False
    try:
        Pool(settings, options.jobs, progress).run(task for task in tasks if task[:2] not in finished)
    except NoCandidateError as error:
        print(f"{settings.candidate} cannot be imported: {error}", file=sys.stderr)
        return 2
    except KeyboardInterrupt:
        stopped = True
        print("stopped: this is what was run")
    order = {name: i for i, name in enumerate(families)}
    rows, columns = sorted(progress.rows, key=lambda row: order[row.name]), all_columns()
    census = report.read_census(options.census)
    report.write(options.out, rows, columns, families, census)
    print("\n".join(["", *report.by_column(rows, columns), "", *report.by_family(rows, families)]))
    print(f"\n{len(report.missing(rows, census))} names absent. Reasons and lists: {options.out}")
    if options.json:
        options.json.write_text(json.dumps([asdict(row) for row in rows], indent=1))
    if options.record:
        record.write(rows, columns)
        print(f"recorded in {record.PATH}")
        return 0
    return compare_with_record(rows, settings) or int(stopped)


def compare_with_record(rows: list[Row], settings: Settings) -> int:
    """Prints what was lost since the record; 1 where a column's total fell. A torch run must pass whole."""
    if settings.candidate == "torch":
        return int(any(cell.letter in "FM" for row in rows for cell in row.cells.values()))
    lost, fallen = record.regressions(rows)
    for name, column in lost:
        print(f"lost: {name} in {column}")
    if fallen:
        print(f"below the recorded figures in: {', '.join(fallen)}")
    return int(bool(fallen))


if __name__ == "__main__":
    sys.exit(main())
