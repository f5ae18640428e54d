"""What a profile notes: ops, the backward pass, optimisers, parts with names; sums, tables, schedules, traces."""

from __future__ import annotations

import json
import warnings

import pytest
import torch

import funtorch
from funtorch.profiler import ProfilerAction, profile, record_function, schedule


def run():
    layer = funtorch.nn.Linear(3, 2)
    optimizer = funtorch.optim.SGD(layer.parameters(), lr=0.1)
    with record_function("forward"):
        loss = layer(funtorch.ones(4, 3)).relu().sum()
    loss.backward()
    optimizer.step()


def test_every_op_is_noted_once_per_call():
    x = funtorch.ones(3)
    with profile(record_shapes=True) as prof:
        for _ in range(3):
            x = x.exp() * 2
    x.exp()
    entries = {entry.key: entry for entry in prof.key_averages()}
    assert (entries["exp"].count, entries["mul"].count) == (3, 3)
    assert [event.name for event in prof.events()] == ["exp", "mul"] * 3
    assert prof.events()[0].input_shapes == [[3]]
    assert len(prof.key_averages(group_by_input_shape=True)) == 2


def test_parts_contain_what_runs_in_them():
    with profile() as prof:
        run()
    entries = {entry.key: entry for entry in prof.key_averages()}
    assert {"forward", "linear", "relu", "sum", "backward", "Optimizer.step#SGD.step"} <= set(entries)
    forward = next(event for event in prof.events() if event.name == "forward")
    assert [child.name for child in forward.cpu_children][-3:] == ["linear", "relu", "sum"]
    assert forward.is_user_annotation and not entries["linear"].is_user_annotation
    inner = sum(child.cpu_time_total for child in forward.cpu_children)
    assert forward.self_cpu_time_total == pytest.approx(forward.cpu_time_total - inner)
    own = sum(event.self_cpu_time_total for event in prof.events())
    assert prof.events().total_average().self_cpu_time_total == pytest.approx(own)
    assert all(0 <= event.start <= event.end for event in prof.events())


def test_nothing_is_noted_when_it_is_over():
    with funtorch.autograd.profiler.profile() as prof:
        funtorch.ones(2) + 1
    count = len(prof.function_events)
    funtorch.ones(2) + 1
    with record_function("later"):
        pass
    assert len(prof.function_events) == count > 0
    with funtorch.autograd.profiler.profile(enabled=False) as none:
        funtorch.ones(2) + 1
    assert not none.function_events


def test_an_error_leaves_the_profile_whole():
    with profile() as prof, pytest.raises(RuntimeError), record_function("wrong"):
        funtorch.ones(2) @ funtorch.ones(3)
    with profile() as after:
        funtorch.ones(2).exp()
    assert "wrong" in {event.name for event in prof.events()}
    assert "wrong" not in {event.name for event in after.events()}


def test_vmap_and_its_inner_ops_are_one():
    with profile() as prof:
        funtorch.vmap(lambda x: x.exp())(funtorch.ones(2, 3))
    assert [event.name for event in prof.events()].count("exp") == 1


def test_table():
    with profile() as prof:
        run()
    text = prof.key_averages().table(sort_by="cpu_time_total", row_limit=3, header="mine")
    lines = text.splitlines()
    assert lines[0] == "mine" and lines[2].split()[0] == "Name"
    for title in ("Self CPU %", "CPU total", "CPU time avg", "# of Calls"):
        assert title in lines[2]
    assert len(lines) == 9 and lines[-1].startswith("Self CPU time total: ")
    with pytest.raises(ValueError, match="sort_by='colour'"):
        prof.key_averages().table(sort_by="colour")


@pytest.mark.parametrize(
    "options",
    [
        {"wait": 1, "warmup": 1, "active": 2},
        {"wait": 1, "warmup": 1, "active": 2, "repeat": 2, "skip_first": 1},
        {"wait": 0, "warmup": 0, "active": 1, "repeat": 1},
        {"wait": 2, "warmup": 1, "active": 1, "skip_first": 2, "skip_first_wait": 1},
    ],
)
def test_schedules_are_those_of_torch(options):
    mine = schedule(**options)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of a schedule without warm-up
        theirs = torch.profiler.schedule(**options)
    assert [mine(step).name for step in range(15)] == [theirs(step).name for step in range(15)]


def test_a_schedule_of_steps_hands_on_each_cycle():
    seen = []
    steps = schedule(wait=1, warmup=1, active=2, repeat=2)
    with profile(schedule=steps, on_trace_ready=lambda p: seen.append((p.step_num, len(p.events())))) as prof:
        for _ in range(10):
            funtorch.ones(2).exp()
            prof.step()
    assert seen == [(3, 2), (7, 2)]
    assert prof.current_action is ProfilerAction.NONE
    with pytest.raises(ValueError, match="active=0"):
        schedule(wait=0, warmup=0, active=0)


def test_traces_are_written(tmp_path):
    with profile(on_trace_ready=funtorch.profiler.tensorboard_trace_handler(str(tmp_path / "log"), "me")):
        run()
    (path,) = (tmp_path / "log").iterdir()
    assert path.name.startswith("me.") and path.name.endswith(".pt.trace.json")
    events = json.loads(path.read_text())["traceEvents"]
    assert {"linear", "forward"} <= {event["name"] for event in events}
    assert all(event["dur"] >= 0 for event in events)
