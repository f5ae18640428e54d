"""What a profile is made of: events with their times, sums of them by name, and the table that shows these."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..errors import ArgumentValueError

__all__ = ["EventList", "FunctionEvent", "FunctionEventAvg"]


def _time(microseconds: float) -> str:
    for unit, size in (("s", 1e6), ("ms", 1e3)):
        if microseconds >= size:
            return f"{microseconds / size:.3f}{unit}"
    return f"{microseconds:.3f}us"


@dataclass
class FunctionEvent:
    """One call of an op, or one run of a part with a name; times in microseconds since the profile's start."""

    name: str
    start: float
    end: float = 0.0
    input_shapes: list[list[int]] = field(default_factory=list)
    is_user_annotation: bool = False
    cpu_children: list[FunctionEvent] = field(default_factory=list)
    count: int = 1

    @property
    def key(self) -> str:
        """The name."""
        return self.name

    @property
    def cpu_time_total(self) -> float:
        """From its start to its end."""
        return self.end - self.start

    cpu_time = cpu_time_total

    @property
    def self_cpu_time_total(self) -> float:
        """`cpu_time_total` without the events inside of it."""
        return self.cpu_time_total - sum(child.cpu_time_total for child in self.cpu_children)


@dataclass
class FunctionEventAvg:
    """The events of one name together; times in microseconds."""

    key: str
    input_shapes: list[list[int]] = field(default_factory=list)
    count: int = 0
    cpu_time_total: float = 0.0
    self_cpu_time_total: float = 0.0
    is_user_annotation: bool = False

    @property
    def cpu_time(self) -> float:
        """The mean time of a call."""
        return self.cpu_time_total / self.count if self.count else 0.0

    def add(self, event: FunctionEvent | FunctionEventAvg) -> FunctionEventAvg:
        """Take one more in."""
        self.count += event.count
        self.cpu_time_total += event.cpu_time_total
        self.self_cpu_time_total += event.self_cpu_time_total
        self.is_user_annotation |= event.is_user_annotation
        return self


# Column: its title, what it shows of an entry, given the sum of all own times.
_COLUMNS: tuple[tuple[str, Callable[[Any, float], str]], ...] = (
    ("Self CPU %", lambda e, total: f"{e.self_cpu_time_total / total:.2%}" if total else "NaN"),
    ("Self CPU", lambda e, total: _time(e.self_cpu_time_total)),
    ("CPU total %", lambda e, total: f"{e.cpu_time_total / total:.2%}" if total else "NaN"),
    ("CPU total", lambda e, total: _time(e.cpu_time_total)),
    ("CPU time avg", lambda e, total: _time(e.cpu_time)),
    ("# of Calls", lambda e, total: str(e.count)),
)
_SORTED_BY = ("cpu_time", "cpu_time_total", "self_cpu_time_total", "count")


class EventList(list):
    """A list of events, or of sums of them."""

    def key_averages(self, group_by_input_shape: bool = False) -> EventList:
        """The events summed by name, and by the shapes of what went in if asked for; the most own time first."""
        sums: dict[Any, FunctionEventAvg] = {}
        for event in self:
            shapes = event.input_shapes if group_by_input_shape else []
            sums.setdefault((event.key, str(shapes)), FunctionEventAvg(event.key, shapes)).add(event)
        return EventList(sums.values())

    def total_average(self) -> FunctionEventAvg:
        """All events together, under the name "Total"."""
        total = FunctionEventAvg("Total")
        for event in self:
            total.add(event)
        return total

    @property
    def self_cpu_time_total(self) -> float:
        """The sum of the events' own times, in microseconds."""
        return sum(event.self_cpu_time_total for event in self)

    def table(
        self,
        sort_by: str | None = None,
        row_limit: int = 100,
        max_src_column_width: int = 75,
        max_name_column_width: int = 55,
        max_shapes_column_width: int = 80,
        header: str | None = None,
        top_level_events_only: bool = False,
        time_unit: str | None = None,
    ) -> str:
        """The events as a table.

        Args:
            sort_by: "cpu_time", "cpu_time_total", "self_cpu_time_total" or "count", the largest first; names that end in
                "cuda_..." or "device_..." mean the CPU's, as there are no others.
            row_limit: how many rows; all for a negative number.
            max_name_column_width, max_shapes_column_width: longer texts are cut.
            header: a line above.
            max_src_column_width, top_level_events_only, time_unit: accepted, without effect.

        Returns:
            The text.

        Raises:
            ValueError: there is nothing of the name ``sort_by``.
        """
        rows = list(self)
        if sort_by is not None:
            name = sort_by.replace("device", "cpu").replace("cuda", "cpu")
            if name not in _SORTED_BY:
                raise ArgumentValueError(f"table(sort_by={sort_by!r}): expected one of {', '.join(_SORTED_BY)}")
            rows.sort(key=lambda event: -getattr(event, name))
        total = self.self_cpu_time_total
        shown = rows if row_limit < 0 else rows[:row_limit]
        lines = [["Name", *(title for title, _ in _COLUMNS)]]
        lines += [[_cut(event.key, max_name_column_width), *(show(event, total) for _, show in _COLUMNS)] for event in shown]
        if any(event.input_shapes for event in shown):
            for line, text in zip(lines, ["Input Shapes", *(str(event.input_shapes) for event in shown)], strict=True):
                line.append(_cut(text, max_shapes_column_width))
        widths = [max(len(line[i]) for line in lines) for i in range(len(lines[0]))]
        rule = "  ".join("-" * width for width in widths)
        body = ["  ".join(text.rjust(width) for text, width in zip(line, widths, strict=True)) for line in lines]
        return "\n".join(
            [*([header] if header else []), rule, body[0], rule, *body[1:], rule, f"Self CPU time total: {_time(total)}", ""]
        )

    def __str__(self) -> str:
        return self.table()

    def export_chrome_trace(self, path: str) -> None:
        """Write the events as a file for chrome://tracing and its like."""
        events = [
            {
                "name": e.name,
                "ph": "X",
                "ts": e.start,
                "dur": e.cpu_time_total,
                "pid": 0,
                "tid": 0,
                "args": {"shapes": e.input_shapes},
            }
            for e in self
        ]
        with open(path, "w") as file:
            json.dump({"traceEvents": events}, file)


def _cut(text: str, width: int) -> str:
    return text if len(text) <= width else text[: width - 3] + "..."
