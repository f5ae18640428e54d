"""Timers and what they measure, with a clock of the test's own."""

from __future__ import annotations

import pytest
import torch.utils.benchmark
from funtorch.utils.benchmark.utils.common import Measurement as MeasurementByItsModule

import funtorch

benchmark = funtorch.utils.benchmark


class Clock:
    """Goes on by one second with each look at it."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


def test_timeit_counts_and_divides():
    calls = []
    timer = benchmark.Timer(
        "calls.append(x)", setup="x = 3", globals={"calls": calls}, timer=Clock(), label="add", sub_label="one"
    )
    found = timer.timeit(50)
    assert (found.number_per_run, found.raw_times, found.times) == (50, [1.0], [0.02])
    assert found.mean == found.median == 0.02 and found.iqr == 0
    assert calls == [3] * (50 + 2)
    assert found.title == "add: one" and "20.00 ms" in repr(found) and "1 measurement, 50 runs" in repr(found)
    assert isinstance(found, MeasurementByItsModule)


def test_measuring_until_there_is_enough():
    timer = benchmark.Timer("pass", timer=Clock())
    seen = []
    found = timer.blocked_autorange(callback=lambda number, seconds: seen.append((number, seconds)), min_run_time=5.0)
    assert found.raw_times == [1.0] * 5 and seen == [(1, 1.0)] * 5
    found = timer.adaptive_autorange(min_run_time=2.0)
    assert found.raw_times == [1.0] * 4 and found.iqr == 0
    assert "Median: 1.00 s" in repr(found)


def test_the_statement_runs_on_tensors():
    found = benchmark.Timer("x @ x", globals={"x": funtorch.ones(8, 8)}).blocked_autorange(min_run_time=0.01)
    assert 0 < found.median < 1


def test_measurements_of_one_thing_are_merged():
    spec = benchmark.TaskSpec("a", label="one")
    other = benchmark.TaskSpec("b", label="one")
    parts = [benchmark.Measurement(2, [4.0], spec), benchmark.Measurement(1, [7.0], other), benchmark.Measurement(1, [3.0], spec)]
    merged = benchmark.Measurement.merge(parts)
    assert [(each.task_spec, each.times) for each in merged] == [(spec, [2.0, 3.0]), (other, [7.0])]


def test_units_are_those_of_torch():
    for seconds in (3e-9, 5e-7, 2e-6, 0.004, 1.0, 70.0):
        assert benchmark.select_unit(seconds) == torch.utils.benchmark.select_unit(seconds)
    assert benchmark.unit_to_english("us") == torch.utils.benchmark.unit_to_english("us")


def test_a_table(capsys):
    def made(sub_label, description, seconds):
        return benchmark.Measurement(
            1, [seconds], benchmark.TaskSpec("x", label="sum", sub_label=sub_label, description=description)
        )

    table = benchmark.Compare([made("small", "old", 2e-6), made("small", "new", 1e-6)])
    table.extend_results([made("large", "old", 5e-6)])
    table.print()
    lines = capsys.readouterr().out.splitlines()
    assert " sum " in lines[0]
    assert [cell.strip() for cell in lines[1].split("|")] == ["", "old", "new"]
    assert [cell.strip() for cell in lines[3].split("|")] == ["small", "2", "1"]
    assert [cell.strip() for cell in lines[4].split("|")] == ["large", "5", ""]
    assert lines[-1] == "Times are in microseconds (us)."


def test_what_it_does_not_measure():
    with pytest.raises(NotImplementedError, match="Python only"):
        benchmark.Timer("int x;", language="cpp")
    with pytest.raises(TypeError, match="stmt must be a string, got function"):
        benchmark.Timer(lambda: None)
