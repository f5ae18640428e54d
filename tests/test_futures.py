"""Futures, as PyTorch's: results, exceptions, callbacks, many together."""

from __future__ import annotations

import threading
import time

import pytest
import torch

import funtorch

BOTH = pytest.mark.parametrize("futures", [torch.futures, funtorch.futures], ids=["torch", "funtorch"])


@BOTH
def test_a_result_comes_from_another_thread(futures):
    future = futures.Future()
    thread = threading.Thread(target=lambda: (time.sleep(0.05), future.set_result({"a": 3})))
    thread.start()
    assert future.wait() == {"a": 3} and future.done() and future.value() == {"a": 3}
    thread.join()


@BOTH
def test_callbacks_and_chains(futures):
    future, seen = futures.Future(), []
    future.add_done_callback(lambda done: seen.append(done.value()))
    doubled = future.then(lambda done: 2 * done.value())
    plus_one = doubled.then(lambda done: done.value() + 1)
    assert not plus_one.done()
    future.set_result(5)
    assert plus_one.wait() == 11 and seen == [5]
    future.add_done_callback(lambda done: seen.append("late"))
    assert seen == [5, "late"]
    assert future.then(lambda done: "after").wait() == "after"


@BOTH
def test_exceptions(futures):
    future = futures.Future()
    following = future.then(lambda done: done.value())
    future.set_exception(ValueError("wrong"))
    for each in (future, following):
        assert each.done()
        # in PyTorch's chain of futures it is a RuntimeError with the text
        with pytest.raises(ValueError if each is future else (ValueError, RuntimeError), match="wrong"):
            each.wait()
    with pytest.raises(AssertionError):
        futures.Future().set_exception("no exception")
    with pytest.raises(RuntimeError):
        futures.Future().value()
    done = futures.Future()
    done.set_result(1)
    with pytest.raises(RuntimeError, match="completed"):
        done.set_result(2)


@BOTH
def test_many_together(futures):
    several = [futures.Future() for _ in range(3)]
    together = futures.collect_all(several)
    for number, future in reversed(list(enumerate(several))):
        assert not together.done()
        future.set_result(number)
    assert [future.value() for future in together.wait()] == [0, 1, 2]
    assert futures.wait_all(several) == [0, 1, 2]
    assert futures.wait_all([]) == []
    failed = futures.Future()
    failed.set_exception(KeyError("gone"))
    with pytest.raises(KeyError, match="gone"):
        futures.wait_all([several[0], failed])


@pytest.mark.filterwarnings("ignore::DeprecationWarning")
@pytest.mark.parametrize("lib", [torch, funtorch], ids=["torch", "funtorch"])
def test_fork_and_wait(lib):
    future = lib.jit.fork(lambda x, by: x * by, lib.ones(2), by=3)
    assert future.done() and lib.jit.wait(future).tolist() == [3, 3] == lib.wait(future).tolist()
    assert issubclass(lib.futures.Future, type(future))


def test_what_a_forked_function_raises():
    def fails():
        raise ValueError("no")

    future = funtorch.jit.fork(fails)
    with pytest.raises(ValueError, match="no"):
        funtorch.jit.wait(future)
