"""The worker processes of one DataLoader, as the main process sees them: it starts them, talks to them, and ends them."""

from __future__ import annotations

import contextlib
import multiprocessing
import os
import signal
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Iterator, Sequence
from multiprocessing.connection import wait
from typing import Any

from ...core.background import still
from ...errors import OpError
from ._channel import Channel, pair
from ._worker_loop import Job, OwnBackend, work

# How long workers have to finish what they are at, and then to obey SIGTERM.
_PATIENCE, _MORE_PATIENCE = 5.0, 1.0

_WORKERS_OF_WORKERS = (
    "DataLoader: this process is a worker itself (daemonic processes are not allowed to have children); use num_workers=0 in it."
)

# The main process's ends of all lines, which forked children inherit and must close. One start at a time, so that no child
# inherits the ends of a line that is just being made.
_our_ends: weakref.WeakSet[Channel] = weakref.WeakSet()
_starting = threading.Lock()


class WorkerPool:
    """Worker processes and the lines to them.

    Args:
        jobs: one for each worker.
        context: of `multiprocessing`; None for "fork" on Linux, and what `multiprocessing` takes elsewhere.
    """

    def __init__(self, jobs: Sequence[Job], context: Any) -> None:
        if multiprocessing.current_process().daemon:
            raise AssertionError(_WORKERS_OF_WORKERS)
        self.owner = os.getpid()
        self.context = context or _default_context()
        self.lines: list[Channel] = []
        self.processes: list[Any] = []
        try:
            for job in jobs:
                with _starting:
                    self._start(job)
        except BaseException:
            self.stop(at_once=True)
            raise

    def _start(self, job: Job) -> None:
        ours, theirs = pair()
        self.lines.append(ours)
        _our_ends.add(ours)
        forked = self.context.get_start_method() == "fork"
        first, inherited = (None, list(_our_ends)) if forked else (OwnBackend(), [])
        process = self.context.Process(target=work, args=(first, job, theirs, inherited), daemon=True)
        try:
            with _quiet(), still():
                process.start()
        finally:
            theirs.close()
        self.processes.append(process)

    def send(self, worker: int, task: Any) -> None:
        """Send a task. Raises RuntimeError where the worker is dead."""
        try:
            self.lines[worker].send(task)
        except OSError:
            raise self._died() from None

    def has_room(self, worker: int) -> bool:
        """Whether a task can be sent without waiting for the worker."""
        return self.lines[worker].has_room()

    def receive(self, timeout: float | None = None) -> tuple[int, Any] | None:
        """The number of a worker and what it sent; None when ``timeout`` seconds have passed.

        Raises RuntimeError as soon as a worker is dead; what unpickling raises.
        """
        workers = {line.fileno(): i for i, line in enumerate(self.lines)}
        found = wait([*workers, *(process.sentinel for process in self.processes)], timeout)
        if not found:
            return None
        ready = [workers[number] for number in found if number in workers]
        with contextlib.suppress(EOFError):
            if ready:
                return ready[0], self.lines[ready[0]].receive()
        raise self._died()

    def _died(self) -> OpError:
        """The error that tells which workers are dead, and what of."""
        sentinels = {process.sentinel: process for process in self.processes}
        dead = [sentinels[sentinel] for sentinel in wait([*sentinels], _MORE_PATIENCE)]
        _join(dead, _MORE_PATIENCE)  # its files are closed a moment before it has an exit code
        pids = ", ".join(str(process.pid) for process in dead)
        causes = "; ".join(_cause(process.exitcode) for process in dead)
        return OpError(f"DataLoader worker (pid(s) {pids}) exited unexpectedly: {causes}")

    def stop(self, at_once: bool = False) -> None:
        """End the processes; unless ``at_once``, they may finish what they are at. In a forked child: nothing."""
        if self.owner != os.getpid():
            return
        processes, self.processes = self.processes, []
        for line in self.lines:
            line.close()
        if not at_once:
            _join(processes, _PATIENCE)
        for end in ("terminate", "kill"):
            for process in processes:
                if process.is_alive():
                    getattr(process, end)()
            _join(processes, _MORE_PATIENCE)


def _join(processes: Sequence[Any], patience: float) -> None:
    limit = time.monotonic() + patience
    for process in processes:
        process.join(max(limit - time.monotonic(), 0))


def _cause(code: int | None) -> str:
    if code is None:
        return "it no longer answers"
    if code >= 0:
        return f"exit code {code}"
    with contextlib.suppress(ValueError):
        return f"killed by signal {signal.Signals(-code).name}"
    return f"killed by signal {-code}"


def _default_context() -> Any:
    chosen = multiprocessing.get_start_method(allow_none=True)
    return multiprocessing.get_context(chosen or ("fork" if sys.platform == "linux" else None))


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """JAX and Python warn of every fork beside threads; why this one is safe, `_worker_loop` says."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message=".*fork", category=RuntimeWarning)
        warnings.filterwarnings("ignore", message=".*fork", category=DeprecationWarning)
        yield
