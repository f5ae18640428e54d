"""Several processes that run one function, joined together: where one fails, the others are ended and its error is raised."""

from __future__ import annotations

import multiprocessing
import multiprocessing.connection
import signal
import sys
import time
import traceback
from collections.abc import Callable, Sequence
from typing import Any

__all__ = [
    "ProcessContext", "ProcessException", "ProcessExitedException", "ProcessRaisedException", "SpawnContext", "spawn", "start_processes",
]  # fmt: skip

ENV_VAR_PARALLEL_START = "TORCH_MP_PARALLEL_START"
GRACE = 5.0  # seconds that a process has to end before it is killed


class ProcessException(Exception):
    """Base of the others: ``error_index`` is the process's number, ``pid`` the system's."""

    def __init__(self, msg: str, error_index: int, error_pid: int) -> None:
        super().__init__(msg)
        self.msg, self.error_index, self.pid = msg, error_index, error_pid

    def __reduce__(self) -> tuple:
        return type(self), (self.msg, self.error_index, self.pid)


class ProcessRaisedException(ProcessException):
    """The function raised in a process; the message ends with the traceback there."""


class ProcessExitedException(ProcessException):
    """A process ended by itself or by a signal, with an ``exit_code``."""

    def __init__(self, msg: str, error_index: int, error_pid: int, exit_code: int, signal_name: str | None = None) -> None:
        super().__init__(msg, error_index, error_pid)
        self.exit_code, self.signal_name = exit_code, signal_name

    def __reduce__(self) -> tuple:
        return type(self), (self.msg, self.error_index, self.pid, self.exit_code, self.signal_name)


def _run(fn: Callable, index: int, args: tuple, failures: Any) -> None:
    """What a process does: the function, and word of how it failed."""
    try:
        fn(index, *args)
    except KeyboardInterrupt:
        pass  # the parent has it too, and ends us
    except Exception:
        failures.put(traceback.format_exc())
        sys.exit(1)


class ProcessContext:
    """Processes that were started together.

    Args:
        processes: they.
        error_queues: of each, where it puts the traceback with which it failed.
    """

    def __init__(self, processes: Sequence[Any], error_queues: Sequence[Any]) -> None:
        self.processes, self.error_queues = list(processes), list(error_queues)
        self.sentinels = {process.sentinel: index for index, process in enumerate(self.processes)}

    def pids(self) -> list[int]:
        """The system's numbers of the processes."""
        return [process.pid for process in self.processes]

    def join(self, timeout: float | None = None, grace_period: float | None = None) -> bool:
        """Wait until a process has ended; if it failed, end the others.

        Args:
            timeout: the longest to wait, in seconds; without limit unless given.
            grace_period: the seconds that the others have to end by themselves after a failure; none unless given.

        Returns:
            Whether all have ended.

        Raises:
            ProcessRaisedException: the function raised in one.
            ProcessExitedException: one ended with another exit code than 0.
        """
        ready = multiprocessing.connection.wait(list(self.sentinels), timeout) if self.sentinels else []
        failed = None
        for sentinel in ready:
            index = self.sentinels.pop(sentinel)  # type: ignore[call-overload]
            process = self.processes[index]
            process.join()
            if process.exitcode != 0 and failed is None:
                failed = index
        if failed is None:
            return not self.sentinels
        self._end(GRACE if grace_period is None else grace_period, at_once=grace_period is None)
        raise self._failure(failed)

    def _end(self, grace: float, at_once: bool) -> None:
        """End the processes that still run: ask them to, and kill those that have not ended after ``grace`` seconds."""
        end = time.monotonic() + grace
        for ask in (() if at_once else (None,)) + ("terminate", "kill"):
            for process in self.processes:
                if ask is not None and process.is_alive():
                    getattr(process, ask)()
            for process in self.processes:
                process.join(max(0.0, end - time.monotonic()) if ask != "kill" else None)
            end = time.monotonic() + GRACE

    def _failure(self, index: int) -> ProcessException:
        process, failures = self.processes[index], self.error_queues[index]
        if not failures.empty():
            message = f"\n\n-- Process {index} terminated with the following error:\n{failures.get()}"
            return ProcessRaisedException(message, index, process.pid)
        code = process.exitcode
        if code >= 0:
            return ProcessExitedException(f"process {index} terminated with exit code {code}", index, process.pid, code)
        try:
            name = signal.Signals(-code).name
        except ValueError:
            name = f"<Unknown signal {-code}>"
        return ProcessExitedException(f"process {index} terminated with signal {name}", index, process.pid, code, name)


class SpawnContext(ProcessContext):
    """`ProcessContext` under its older name."""


def start_processes(
    fn: Callable, args: tuple = (), nprocs: int = 1, join: bool = True, daemon: bool = False, start_method: str = "spawn"
) -> ProcessContext | None:
    """Call ``fn(i, *args)`` for i = 0, ..., nprocs - 1, each in a process of its own.

    Args:
        fn: a function at the top of a module, so that it can be pickled.
        args: what it gets after the process's number; a tuple.
        nprocs: how many processes.
        join: whether to wait for all of them.
        daemon: whether they are ended when this process ends.
        start_method: "spawn", "fork" or "forkserver".

    Returns:
        None after waiting, else the `ProcessContext`.

    Raises:
        ProcessRaisedException: ``fn`` raised in one; the others have been ended.
        ProcessExitedException: one ended with another exit code than 0; the others have been ended.
    """
    there = multiprocessing.get_context(start_method)
    processes, failures = [], []
    for index in range(nprocs):
        failures.append(there.SimpleQueue())
        process = there.Process(target=_run, args=(fn, index, args, failures[-1]), daemon=daemon)  # type: ignore[attr-defined]
        process.start()
        processes.append(process)
    context = SpawnContext(processes, failures)
    if not join:
        return context
    while not context.join():
        pass
    return None


def spawn(
    fn: Callable, args: tuple = (), nprocs: int = 1, join: bool = True, daemon: bool = False, start_method: str = "spawn"
) -> ProcessContext | None:
    """`start_processes` with the method "spawn", whatever ``start_method`` says.

    Differs from PyTorch: another ``start_method`` raises no warning.
    """
    return start_processes(fn, args, nprocs, join, daemon, start_method="spawn")
