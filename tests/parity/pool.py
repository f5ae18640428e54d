"""Worker processes under supervision: a crash or a hang costs one cell, and the rest of the run goes on."""

from __future__ import annotations

import contextlib
import multiprocessing
import time
from collections import deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from multiprocessing.connection import wait
from typing import Any

from parity import worker
from parity.suites import Settings, excused
from parity.verdict import FAIL, Cell

# Beyond the worker's own limit: code that holds the interpreter (a compiler, a LAPACK call) hears no signal.
GRACE = 20
START_UP = 180

Task = tuple[str, str, tuple[str, ...]]  # suite, name, columns still to do


@dataclass
class Row:
    """One name's cells and times, by column."""

    suite: str
    name: str
    cells: dict[str, Cell] = field(default_factory=dict)
    seconds: dict[str, float] = field(default_factory=dict)
    falls: dict[str, int] = field(default_factory=dict)  # primitives without a NumPy rule: times that each was met


class NoCandidateError(Exception):
    """The candidate cannot be imported."""


class Worker:
    """One process, its pipe, and what it is at."""

    def __init__(self, settings: Settings):
        context = multiprocessing.get_context("spawn")
        self.settings = settings
        self.pipe, theirs = context.Pipe()
        self.process = context.Process(target=worker.main, args=(theirs, settings), daemon=True)
        with worker.quiet_environment():
            self.process.start()
        theirs.close()
        self.row: Row | None = None
        self.left: list[str] = []
        self.column: str | None = None
        self.deadline = 0.0

    def give(self, task: Task, row: Row) -> None:
        self.row, self.left, self.column = row, list(task[2]), None
        self.deadline = time.monotonic() + START_UP
        with contextlib.suppress(BrokenPipeError):  # it's dead already: the pipe's end tells when it is heard
            self.pipe.send(task)

    def stop(self) -> None:
        if self.process.is_alive():
            self.process.kill()
        self.process.join()
        self.pipe.close()

    def hear(self) -> str | None:
        """Takes one message. Returns "done", "retire" or None. Raises NoCandidateError."""
        kind, *content = self.pipe.recv()
        if kind == "fatal":
            raise NoCandidateError(content[0])
        self.deadline = time.monotonic() + self.settings.seconds + GRACE
        if kind == "start":
            self.column = content[0]
            return None
        if kind == "cell":
            column, letter, reason, seconds = content
            self.row.cells[column] = Cell(letter, reason)
            self.row.seconds[column] = seconds
            self.left.remove(column)
            self.column = None
            return None
        self.row.falls.update(content[1])
        return "retire" if content[0] else "done"

    def blame(self, reason: str) -> None:
        """The process is lost: the column it was at has failed."""
        column = self.column or (self.left[0] if self.left else None)
        if column is not None:
            cell = Cell(FAIL, reason)
            self.row.cells[column] = excused(cell, self.row.name, column, self.settings.candidate)
            self.left.remove(column)


class Pool:
    """Runs tasks on ``jobs`` workers, and calls ``finished`` with each Row."""

    def __init__(self, settings: Settings, jobs: int, finished: Callable[[Row], None]):
        self.settings, self.finished = settings, finished
        self.workers = [Worker(settings) for _ in range(jobs)]

    def run(self, tasks: Iterable[Task]) -> None:
        """Runs all tasks; returns when the last is finished. Raises NoCandidateError."""
        self.queue = deque(tasks)
        try:
            self._run()
        finally:
            for each in self.workers:
                each.stop()

    def _run(self) -> None:
        for each in self.workers:
            self._next(each)
        while busy := [w for w in self.workers if w.row is not None]:
            ready = wait([w.pipe for w in busy], timeout=1.0)
            for each in busy:
                self._attend(each, ready)

    def _attend(self, each: Worker, ready: list[Any]) -> None:
        if each.pipe in ready:
            try:
                verdict = each.hear()
            except (EOFError, OSError):
                self._replace(each, f"the process died (exit code {_exit_code(each)})")
                return
            if verdict:
                self._finish(each, retire=verdict == "retire")
        elif time.monotonic() > each.deadline:
            self._replace(each, f"hung for more than {self.settings.seconds + GRACE} s")

    def _next(self, each: Worker) -> None:
        each.row = None
        if self.queue:
            suite, name, columns = self.queue.popleft()
            each.give((suite, name, columns), Row(suite, name))

    def _finish(self, each: Worker, retire: bool) -> None:
        self.finished(each.row)
        if retire:
            each = self._fresh(each)
        self._next(each)

    def _fresh(self, old: Worker) -> Worker:
        old.stop()
        new = Worker(self.settings)
        self.workers[self.workers.index(old)] = new
        return new

    def _replace(self, each: Worker, reason: str) -> None:
        each.blame(reason)
        row, left = each.row, tuple(each.left)
        new = self._fresh(each)
        if left:
            new.give((row.suite, row.name, left), row)
        else:
            self.finished(row)
            self._next(new)


def _exit_code(each: Worker) -> Any:
    each.process.join(5)
    return each.process.exitcode
