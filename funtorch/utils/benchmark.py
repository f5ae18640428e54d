"""``funtorch.utils.benchmark``: the time that a statement takes, by Python's timeit, once the device has done all."""

from __future__ import annotations

import dataclasses
import enum
import timeit
from collections.abc import Callable, Iterable
from typing import Any

import jax
import numpy as np

from ..devices import device as Device  # noqa: N812
from ..errors import ArgumentTypeError, MissingError
from ..streams import finish

__all__ = ["Compare", "Language", "Measurement", "TaskSpec", "Timer", "select_unit", "timer", "unit_to_english"]

_UNITS = (("ns", 1e-9, "nanosecond"), ("us", 1e-6, "microsecond"), ("ms", 1e-3, "millisecond"), ("s", 1.0, "second"))


def timer() -> float:
    """The time in seconds, once JAX has done all that it was given."""
    for platform in {jax.default_backend(), "cpu"}:
        finish(Device({"gpu": "cuda"}.get(platform, platform)))
    return timeit.default_timer()


def select_unit(t: float) -> tuple[str, float]:
    """The unit, ns, us, ms or s, in which a time in seconds reads best, and its length in seconds."""
    name, size, _ = next((unit for unit in reversed(_UNITS) if t >= unit[1]), _UNITS[0])
    return name, size


def unit_to_english(u: str) -> str:
    """The name of a unit in words."""
    return next(word for name, _, word in _UNITS if name == u)


class Language(enum.Enum):
    """What a statement is written in."""

    PYTHON = 0
    CPP = 1


@dataclasses.dataclass(frozen=True)
class TaskSpec:
    """What is measured: the statement, and what it is called in tables."""

    stmt: str
    setup: str = "pass"
    global_setup: str = ""
    label: str | None = None
    sub_label: str | None = None
    description: str | None = None
    env: str | None = None
    num_threads: int = 1

    @property
    def title(self) -> str:
        """The label, or the statement."""
        return (self.label or self.stmt) + (f": {self.sub_label}" if self.sub_label else "")


@dataclasses.dataclass
class Measurement:
    """The times of one or more runs of a statement; in seconds, `times` each of one time through it."""

    number_per_run: int
    raw_times: list[float]
    task_spec: TaskSpec
    metadata: dict[Any, Any] | None = None

    @property
    def times(self) -> list[float]:
        """For each run the time of one time through."""
        return [each / self.number_per_run for each in self.raw_times]

    @property
    def mean(self) -> float:
        """Of the times."""
        return float(np.mean(self.times))

    @property
    def median(self) -> float:
        """Of the times."""
        return float(np.median(self.times))

    @property
    def iqr(self) -> float:
        """The distance between the first and the third quartile of the times."""
        return float(np.subtract(*np.percentile(self.times, [75, 25])))

    @property
    def title(self) -> str:
        """What was measured."""
        return self.task_spec.title

    @property
    def env(self) -> str:
        """Where it was measured, as was said."""
        return self.task_spec.env or "Unspecified env"

    @staticmethod
    def merge(measurements: Iterable[Measurement]) -> list[Measurement]:
        """Measurements of the same thing put together, in the order in which they came."""
        together: dict[TaskSpec, list[Measurement]] = {}
        for each in measurements:
            together.setdefault(each.task_spec, []).append(each)
        return [
            Measurement(1, [t for each in group for t in each.times], spec, group[0].metadata) for spec, group in together.items()
        ]

    def __repr__(self) -> str:
        unit, size = select_unit(self.median)
        lines = [f"<torch.utils.benchmark.utils.common.Measurement object at {id(self):#x}>", self.title]
        lines += [self.task_spec.description] if self.task_spec.description else []
        count = len(self.raw_times)
        if count == 1:
            lines.append(f"  {self.median / size:.2f} {unit}")
        else:
            lines += [f"  Median: {self.median / size:.2f} {unit}", f"  IQR:    {self.iqr / size:.2f} {unit}"]
        threads = self.task_spec.num_threads
        runs = f"{self.number_per_run} runs {'per measurement' if count > 1 else ''}".rstrip()
        lines.append(f"  {count} measurement{'s' * (count > 1)}, {runs} , {threads} thread{'s' * (threads > 1)}")
        return "\n".join(lines)


class Timer:
    """Measures a statement.

    Args:
        stmt: Python's.
        setup: run before each measurement.
        global_setup: must be empty: it is for C++.
        timer: what tells the time.
        globals: the names that the statement finds.
        label, sub_label, description, env: what it is called in tables.
        num_threads: shown in tables, without further effect: JAX's threads are those it started with.
        language: must be Python.

    Raises:
        NotImplementedError: the language is C++.
        TypeError: ``stmt`` is no string.

    Example:
        >>> timer = torch.utils.benchmark.Timer("x + 1", globals={"x": torch.ones(3)})
        >>> timer.timeit(10).median > 0
        True
    """

    def __init__(
        self,
        stmt: str = "pass",
        setup: str = "pass",
        global_setup: str = "",
        timer: Callable[[], float] = timer,
        globals: dict[str, Any] | None = None,
        label: str | None = None,
        sub_label: str | None = None,
        description: str | None = None,
        env: str | None = None,
        num_threads: int = 1,
        language: Language | str = Language.PYTHON,
    ) -> None:
        if not isinstance(stmt, str):
            raise ArgumentTypeError(f"Timer(): stmt must be a string, got {type(stmt).__name__}")
        if language not in (Language.PYTHON, "py", "python") or global_setup:
            raise MissingError("utils.benchmark.Timer measures Python only, not C++")
        self._task_spec = TaskSpec(stmt, setup, "", label, sub_label, description, env, num_threads)
        self._timer = timeit.Timer(stmt, setup, timer, {} if globals is None else globals)

    def _run(self, number: int) -> float:
        """The seconds of ``number`` times through, never 0."""
        return max(self._timer.timeit(number), 1e-9)

    def timeit(self, number: int = 1000000) -> Measurement:
        """Run it ``number`` times, after a few to warm up, as one measurement."""
        self._run(max(number // 100, 2))
        return Measurement(number, [self._run(number)], self._task_spec)

    def _number(self, shortest: float) -> int:
        """How many times through take at least ``shortest`` seconds."""
        number = 1
        while self._run(number) < shortest and number < 10**9:
            number *= 10
        return number

    def blocked_autorange(self, callback: Callable[[int, float], Any] | None = None, min_run_time: float = 0.2) -> Measurement:
        """Measure again and again, for at least so many seconds in all.

        Args:
            callback: called with the number of times through and the seconds of each measurement.
            min_run_time: in seconds.
        """
        number = self._number(max(min_run_time / 100, 1e-3))
        times: list[float] = []
        while not times or sum(times) < min_run_time:
            times.append(self._run(number))
            if callback is not None:
                callback(number, times[-1])
        return Measurement(number, times, self._task_spec)

    def adaptive_autorange(
        self,
        threshold: float = 0.1,
        *,
        min_run_time: float = 0.01,
        max_run_time: float = 10.0,
        callback: Callable[[int, float], Any] | None = None,
    ) -> Measurement:
        """Measure until the interquartile range is at most ``threshold`` of the median, or the time is over."""
        number = self._number(max(0.05 * min_run_time, 1e-3))
        times: list[float] = []
        while sum(times) < max_run_time:
            times.append(self._run(number))
            if callback is not None:
                callback(number, times[-1])
            found = Measurement(number, times, self._task_spec)
            if len(times) > 3 and sum(times) >= min_run_time and found.iqr <= threshold * found.median:
                break
        return Measurement(number, times, self._task_spec)


class Compare:
    """A table of measurements: a row for each sub-label, a column for each description.

    Args:
        results: the measurements.
    """

    def __init__(self, results: Iterable[Measurement]) -> None:
        self._results = list(results)

    def extend_results(self, results: Iterable[Measurement]) -> None:
        """Add measurements."""
        self._results.extend(results)

    def trim_significant_figures(self) -> None:
        """Nothing: three digits are shown."""

    def colorize(self, rowwise: bool = False) -> None:
        """Nothing: there are no colours."""

    def highlight_warnings(self) -> None:
        """Nothing: there are no warnings."""

    def __str__(self) -> str:
        found = Measurement.merge(self._results)
        tables = [
            self._table(label, [each for each in found if each.task_spec.label == label]) for label in _ordered(found, "label")
        ]
        return "\n\n".join(tables)

    @staticmethod
    def _table(label: str | None, found: list[Measurement]) -> str:
        unit, size = select_unit(min(each.median for each in found))
        columns = _ordered(found, "description")
        cells = {(e.task_spec.num_threads, e.task_spec.sub_label or e.task_spec.stmt, e.task_spec.description): e for e in found}
        lines = [["", *(str(each or "") for each in columns)]]
        for threads in sorted({key[0] for key in cells}):
            lines.append([f"{threads} threads:", *("" for _ in columns)])
            for row in dict.fromkeys(key[1] for key in cells if key[0] == threads):
                each = [cells.get((threads, row, column)) for column in columns]
                lines.append([f"  {row}", *("" if cell is None else f"{cell.median / size:.3g}" for cell in each)])
        widths = [max(len(line[i]) for line in lines) for i in range(len(columns) + 1)]
        body = [
            "  |  ".join([line[0].ljust(widths[0]), *(t.rjust(w) for t, w in zip(line[1:], widths[1:], strict=True))])
            for line in lines
        ]
        return "\n".join(
            [
                f"[{f' {label} ' if label else '':-^{len(body[0]) - 2}}]",
                *body,
                "",
                f"Times are in {unit_to_english(unit)}s ({unit}).",
            ]
        )

    def print(self) -> None:
        """Print the table."""
        print(self)


def _ordered(found: list[Measurement], name: str) -> list[Any]:
    """What the measurements have under a name, each once, in the order in which it came."""
    return list(dict.fromkeys(getattr(each.task_spec, name) for each in found))
