"""A worker process: takes names, sends one message per cell. It may crash or hang: `pool` looks after it."""

from __future__ import annotations

import os
import resource
import signal
import sys
import time
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

from parity.candidate import side
from parity.suites import Settings, excused, judge, suites
from parity.verdict import FAIL, Cell, describe

# Compiled kernels pile up over hundreds of ops; past this a worker asks to be replaced.
RETIRE_AT_KIB = 4 * 1024 * 1024
KERNELS = Path(__file__).resolve().parents[2] / "build" / "parity" / "kernels"


class OutOfTime(BaseException):
    """Not an Exception, so that no handler in the candidate takes it."""


def _raise_out_of_time(signum: int, frame: Any) -> None:
    raise OutOfTime


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Raises OutOfTime inside after so many seconds (of wall time, and only between bytecodes)."""
    signal.signal(signal.SIGALRM, _raise_out_of_time)
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)


def prepare_process() -> None:
    """One thread each, since the machine's cores are shared out among workers; no warnings."""
    import torch

    warnings.simplefilter("ignore")
    torch.set_num_threads(1)


@contextmanager
def quiet_environment() -> Iterator[None]:
    """A process started inside has one thread for each numerical library, no GPU, and its own folder of kernels.

    A cache without a bound on its size takes no lock and scans no folder at each write: a run compiles thousands of
    kernels, and the next run finds them.
    """
    before = dict(os.environ)
    os.environ.setdefault("JAX_COMPILATION_CACHE_DIR", str(KERNELS))
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS", "0")
    os.environ.setdefault("JAX_PERSISTENT_CACHE_MIN_ENTRY_SIZE_BYTES", "-1")
    os.environ.update(OMP_NUM_THREADS="1", MKL_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1", JAX_PLATFORMS="cpu")
    os.environ["XLA_FLAGS"] = f"{before.get('XLA_FLAGS', '')} --xla_cpu_multi_thread_eigen=false".strip()
    try:
        yield
    finally:
        os.environ.clear()
        os.environ.update(before)


def run_cell(suite: Any, name: str, column: str, settings: Settings) -> Cell:
    """One cell, within its time."""
    try:
        with time_limit(settings.seconds):
            return judge(suite, name, column, settings)
    except OutOfTime:
        cell = Cell(FAIL, f"took more than {settings.seconds} s")
    except Exception as error:  # a fault of the harness itself: shown as such, and the run goes on
        place = traceback.extract_tb(error.__traceback__)[-1]
        cell = Cell(FAIL, f"harness: {type(error).__name__}: {error} ({place.filename}:{place.lineno})")
    return excused(cell, name, column, settings.candidate)


def falls() -> dict[str, int]:
    """What ran through XLA for want of a NumPy rule since the last time: primitives, and how often."""
    module = sys.modules.get("funtorch.core.host_rules.falls")
    if module is None:
        return {}
    found = dict(module.falls)
    module.falls.clear()
    return found


def main(pipe: Connection, settings: Settings) -> None:
    """Messages in: (suite, name, columns), or None to stop. Messages out: ("cell", ...) for each column, then ("done", ...)."""
    prepare_process()
    try:
        side(settings.candidate)
    except Exception as error:
        pipe.send(("fatal", describe(error)))
        return
    table = suites(settings)
    while (task := pipe.recv()) is not None:
        suite, name, columns = task
        for column in columns:
            pipe.send(("start", column))
            start = time.perf_counter()
            cell = run_cell(table[suite], name, column, settings)
            pipe.send(("cell", column, cell.letter, cell.reason, time.perf_counter() - start))
        used = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        pipe.send(("done", used > RETIRE_AT_KIB, falls()))
