"""Processes that run a function together: their results, their errors, and that none is left behind."""

from __future__ import annotations

import os
import pickle
import signal
import time
from multiprocessing.connection import Connection

import pytest

import funtorch
from funtorch.multiprocessing.spawn import ProcessException

mp = funtorch.multiprocessing


def fill(index: int, out, factor: int) -> None:
    out[index] = factor * (index + 1)


def fail(index: int, seconds: float) -> None:
    if index == 1:
        raise ValueError(f"wrong in {index}")
    time.sleep(seconds)


def leave(index: int, code: int) -> None:
    if code < 0:
        os.kill(os.getpid(), -code)
    os._exit(code)


def mean(connection: Connection, queue) -> None:
    x = queue.get()
    connection.send(x.mean())


def test_each_process_gets_its_number():
    out = mp.get_context("spawn").Array("i", 2)
    assert mp.start_processes(fill, (out, 5), nprocs=2, start_method="spawn") is None
    assert list(out) == [5, 10]


def test_without_waiting_a_context_is_returned():
    out = mp.get_context("spawn").Array("i", 1)
    context = mp.spawn(fill, args=(out, 2), join=False, daemon=True)
    assert isinstance(context, mp.ProcessContext) and len(context.pids()) == 1 and context.processes[0].daemon
    assert not context.join(timeout=0)
    while not context.join():
        pass
    assert list(out) == [2]


def test_an_error_in_one_ends_the_others():
    start = time.monotonic()
    with pytest.raises(
        mp.ProcessRaisedException, match=r"-- Process 1 terminated with the following error:\n[\s\S]*wrong in 1"
    ) as error:
        mp.start_processes(fail, (60.0,), nprocs=2, start_method="spawn")
    assert time.monotonic() - start < 30
    assert error.value.error_index == 1 and error.value.pid > 0
    assert "in fail" in str(error.value)
    assert not mp.active_children()


@pytest.mark.parametrize(
    ("code", "name", "text"),
    [
        (7, None, "process 0 terminated with exit code 7"),
        (-signal.SIGKILL, "SIGKILL", "process 0 terminated with signal SIGKILL"),
    ],
)
def test_a_process_that_ends_by_itself(code, name, text):
    with pytest.raises(mp.ProcessExitedException, match=text) as error:
        mp.start_processes(leave, (code,), nprocs=1, start_method="spawn")
    assert (error.value.exit_code, error.value.signal_name) == (code, name)
    again = pickle.loads(pickle.dumps(error.value))
    assert (str(again), again.exit_code, again.pid) == (str(error.value), code, error.value.pid)
    assert isinstance(again, ProcessException)


def test_tensors_go_through_queues_and_pipes():
    context = mp.get_context("spawn")
    queue, (here, there) = context.Queue(), context.Pipe()
    process = context.Process(target=mean, args=(there, queue))
    process.start()
    queue.put(funtorch.arange(5.0))
    assert here.poll(60)
    assert here.recv().item() == 2.0
    process.join()
    assert process.exitcode == 0


def test_names_of_the_standard_library():
    import torch  # not where the processes would import it too

    for name in (
        "Process",
        "Queue",
        "Pool",
        "Manager",
        "Lock",
        "Value",
        "set_start_method",
        "cpu_count",
        "get_all_start_methods",
    ):
        assert hasattr(mp, name) and hasattr(torch.multiprocessing, name)
    assert mp.get_sharing_strategy() == "file_descriptor"
    assert mp.get_all_sharing_strategies() == torch.multiprocessing.get_all_sharing_strategies()
    with pytest.raises(ValueError, match="nothing_of_the_kind"):
        mp.set_sharing_strategy("nothing_of_the_kind")
