"""What is compiled on another thread, and the switch to it at a count."""

import threading
import time

import numpy as np
import pytest

import funtorch
from funtorch.core import background, tiers
from funtorch.core.engine import run
from funtorch.core.op import Op


def test_a_task_runs_once_in_whichever_thread_comes_first():
    ran = []
    tasks = [background.start(lambda i=i: ran.append(i)) for i in range(50)]
    for task in tasks:
        task.finish()
        task.finish()
    assert sorted(ran) == list(range(50))


def test_whoever_wants_it_does_it_while_the_thread_is_busy():
    gate, done = threading.Event(), []
    blocking = background.start(gate.wait)
    background.start(lambda: done.append(threading.current_thread().name)).finish()
    assert done == [threading.current_thread().name]
    gate.set()
    blocking.finish()


def test_an_error_there_is_left_to_the_call_in_earnest():
    background.start(lambda: 1 / 0).finish()


@pytest.mark.skipif("not __import__('funtorch').core.engine.host_possible()")
def test_the_switch_comes_at_a_fixed_count_whatever_the_compiler_takes(monkeypatch):
    monkeypatch.setattr(tiers, "patience", lambda jaxpr: 8)
    op, seen = Op(lambda x: x * 2 + 1, "probe"), []
    kernels = op.new_kernel()

    def slow(*values):
        time.sleep(0.2)
        seen.append(threading.current_thread().name)
        return kernels(*values)

    monkeypatch.setattr(Op, "new_kernel", lambda self: slow)
    with funtorch.set_engine("auto"):
        kinds = []
        for _ in range(10):
            kinds.append(type(run(op, [np.ones(3, np.float32)])) is np.ndarray)
            time.sleep(0.02)  # the thread gets its turn
    assert kinds == [True] * 8 + [False] * 2
    assert seen[0] == "funtorch-compiler" and len(seen) == 3


def test_what_prints_is_not_begun_early(monkeypatch, capfd):
    def at_once(work):
        task = background.Task(work)
        task.run()
        return task

    monkeypatch.setattr(background, "start", at_once)
    for _ in range(9):
        funtorch.func.map(lambda x: (funtorch.func.debug_print("x = {}", x), x)[1], funtorch.arange(3.0))
    assert capfd.readouterr().out.splitlines() == ["x = 0.0", "x = 1.0", "x = 2.0"] * 9
