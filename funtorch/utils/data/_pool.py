"""The worker processes of one DataLoader, as the main process sees them: it starts them, talks to them, and ends them."""

from __future__ import annotations

import atexit
import contextlib
import dataclasses
import math
import multiprocessing
import multiprocessing.util  # its own work at the end of the program is registered before ours, and so done after it
import os
import pickle
import signal
import sys
import threading
import time
import warnings
import weakref
from collections.abc import Iterator, Sequence
from multiprocessing.connection import wait
from multiprocessing.reduction import ForkingPickler
from typing import Any

from ...core.background import still
from ...errors import OpError
from ._channel import Channel, pair
from ._worker_loop import READY, Job, OwnBackend, Sent, work

# How long workers have to finish what they are at, and then to obey SIGTERM.
_PATIENCE, _MORE_PATIENCE = 5.0, 1.0

# How long a forked worker has to say that it is ready, start by start. It takes milliseconds where nothing holds it up.
LIMITS = (2.0, 4.0, 8.0, 16.0, 32.0)

_NEVER_READY = (
    "DataLoader worker {} did not get ready in {} starts: each time it was forked, a thread of this program was inside of JAX and "
    "left it a lock that nobody opens. Start the workers anew instead: DataLoader(..., multiprocessing_context='spawn')"
)
_WORKERS_OF_WORKERS = (
    "DataLoader: this process is a worker itself (daemonic processes are not allowed to have children); use num_workers=0 in it."
)

_NOT_BEGUN = (
    ", before it was ready; what it wrote to stderr says why. Workers that are started by {!r} run the script again, as a module, and "
    "unpickle the dataset: whatever the script does, and not only defines, must stand under `if __name__ == '__main__':`, and classes "
    "and functions that the loader uses must be importable. Or use multiprocessing_context='fork'"
)

# The main process's ends of all lines, which forked children inherit and must close. One start at a time, so that no child
# inherits the ends of a line that is just being made.
_our_ends: weakref.WeakSet[Channel] = weakref.WeakSet()
_starting = threading.Lock()


@dataclasses.dataclass
class _Awaited:
    """A worker that has not said yet that it is ready: it has not seen the dataset, and can be started again.

    Args:
        job: what it is to do.
        limit: until when it has to.
        starts: how many times it has been started.
        tasks: pickles of what was sent to it.
    """

    job: Job
    limit: float
    starts: int = 1
    tasks: list[bytes] = dataclasses.field(default_factory=list)


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
        self.forked = self.context.get_start_method() == "fork"
        self.lines: list[Channel] = []
        self.processes: list[Any] = []
        self.awaited: dict[int, _Awaited] = {}
        self.begun: set[int] = set()  # the workers that have said that they are ready
        _pools.add(self)
        try:
            for number, job in enumerate(jobs):
                self._start(number, job)
                if self.forked:  # what begins with a bare interpreter inherits no locks
                    self.awaited[number] = _Awaited(job, time.monotonic() + LIMITS[0])
        except BaseException:
            self.stop(at_once=True)
            raise

    def _start(self, number: int, job: Job) -> None:
        with _starting:
            ours, theirs = pair()
            self.lines[number:] = [ours, *self.lines[number + 1 :]]
            _our_ends.add(ours)
            first, sent, inherited = (None, job, list(_our_ends)) if self.forked else (OwnBackend(), Sent(job), [])
            process = self.context.Process(target=work, args=(first, sent, theirs, inherited), daemon=True)
            try:
                with _quiet(), still():
                    process.start()
            finally:
                theirs.close()
            self.processes[number:] = [process, *self.processes[number + 1 :]]

    def _start_again(self, number: int) -> None:
        """Put another process in the place of one that hangs before it has begun. Raises RuntimeError after the last try."""
        awaited = self.awaited[number]
        self.processes[number].kill()
        self.processes[number].join()
        self.lines[number].close()
        if awaited.starts == len(LIMITS):
            raise OpError(_NEVER_READY.format(number, awaited.starts))
        self._start(number, awaited.job)
        awaited.limit, awaited.starts = time.monotonic() + LIMITS[awaited.starts], awaited.starts + 1
        for task in awaited.tasks:
            self.send(number, pickle.loads(task), again=True)

    def send(self, worker: int, task: Any, again: bool = False) -> None:
        """Send a task; ``again`` to a worker in another's place. Raises RuntimeError where the worker is dead."""
        if worker in self.awaited and not again:
            self.awaited[worker].tasks.append(bytes(ForkingPickler.dumps(task)))
        try:
            self.lines[worker].send(task)
        except OSError:
            raise self._died() from None

    def has_room(self, worker: int) -> bool:
        """Whether a task can be sent without waiting for the worker."""
        return self.lines[worker].has_room()

    def receive(self, timeout: float | None = None) -> tuple[int, Any] | None:
        """The number of a worker and what it sent; None when ``timeout`` seconds have passed since all are ready.

        Raises RuntimeError as soon as a worker is dead, or where one does not get ready; what unpickling raises.
        """
        limit = math.inf if timeout is None else time.monotonic() + timeout
        while True:
            soonest = min((awaited.limit for awaited in self.awaited.values()), default=limit)
            answer = self._next(None if soonest == math.inf else max(soonest - time.monotonic(), 0))
            if answer is None and not self.awaited and time.monotonic() >= limit:
                return None
            if answer is None:
                self._replace()
            elif answer[1][0] == READY:
                self.awaited.pop(answer[0], None)
                self.begun.add(answer[0])
            else:
                return answer
            if self.awaited and timeout is not None:
                limit = time.monotonic() + timeout

    def _next(self, timeout: float | None) -> tuple[int, Any] | None:
        """The number of a worker and what it sent; None when ``timeout`` seconds have passed."""
        workers = {line.fileno(): i for i, line in enumerate(self.lines)}
        found = wait([*workers, *(process.sentinel for process in self.processes)], timeout)
        if not found:
            return None
        ready = [workers[number] for number in found if number in workers]
        with contextlib.suppress(EOFError):
            if ready:
                return ready[0], self.lines[ready[0]].receive()
        raise self._died()

    def _replace(self) -> None:
        """Start those again that should be ready by now."""
        now = time.monotonic()
        for number in [number for number, awaited in self.awaited.items() if awaited.limit <= now]:
            self._start_again(number)

    def _died(self) -> OpError:
        """The error that tells which workers are dead, and what of."""
        sentinels = {process.sentinel: process for process in self.processes}
        dead = [sentinels[sentinel] for sentinel in wait([*sentinels], _MORE_PATIENCE)]
        _join(dead, _MORE_PATIENCE)  # its files are closed a moment before it has an exit code
        pids = ", ".join(str(process.pid) for process in dead)
        causes = "; ".join(_cause(process.exitcode) for process in dead)
        early = any(self.processes.index(process) not in self.begun for process in dead) and not self.forked
        why = _NOT_BEGUN.format(self.context.get_start_method()) if early else ""
        return OpError(f"DataLoader worker (pid(s) {pids}) exited unexpectedly: {causes}{why}")

    def stop(self, at_once: bool = False) -> None:
        """End the processes; unless ``at_once``, they may finish what they are at. In a forked child: nothing."""
        if self.owner != os.getpid():
            return
        self.kill_awaited()
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

    def kill_awaited(self) -> None:
        """End the forked processes that have not begun: they may hang, and not even obey SIGTERM."""
        if self.owner == os.getpid():
            for number in [number for number in self.awaited if number < len(self.processes)]:
                self.processes[number].kill()


# Those that are still there when the program ends: multiprocessing would wait for processes that hang.
_pools: weakref.WeakSet[WorkerPool] = weakref.WeakSet()


@atexit.register
def _kill_awaited() -> None:
    for pool in list(_pools):
        pool.kill_awaited()


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
