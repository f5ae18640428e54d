"""One thread that compiles what will soon be wanted. Whoever wants it first waits for it, or does it, if it has not begun."""

from __future__ import annotations

import atexit
import contextlib
import os
import queue
import threading
from collections.abc import Callable, Iterator


class Task:
    """Work that runs once, on the thread or where it is `finish`ed."""

    def __init__(self, work: Callable[[], object]) -> None:
        self.work = work
        self._claim = threading.Lock()
        self._done = threading.Event()
        self._process = os.getpid()

    def run(self) -> None:
        """Do the work, unless someone has begun it. An error is left to whoever does the same in earnest."""
        if not self._claim.acquire(blocking=False):
            return
        try:
            with contextlib.suppress(Exception):
                self.work()
        finally:
            self.work = _nothing  # it holds arrays
            self._done.set()

    def finish(self) -> None:
        """Return when the work is done."""
        self.run()
        if self._process == os.getpid():  # the thread does not live on in a forked child
            self._done.wait()


def _nothing() -> None:
    """The work of a task that is done."""


class _Worker:
    """The thread, started with the first task. It ends with the program, after the task that it is at."""

    def __init__(self) -> None:
        self.tasks: queue.SimpleQueue[Task | None] = queue.SimpleQueue()
        self.thread: threading.Thread | None = None
        self.process = os.getpid()
        self.busy = threading.Lock()

    def submit(self, task: Task) -> None:
        if self.thread is None:
            self.thread = threading.Thread(target=self._loop, name="funtorch-compiler", daemon=True)
            self.thread.start()
            atexit.register(self._stop)
        self.tasks.put(task)

    def _loop(self) -> None:
        while (task := self.tasks.get()) is not None and self.thread is not None:
            with self.busy:
                task.run()
            del task

    def _stop(self) -> None:
        thread, self.thread = self.thread, None
        self.tasks.put(None)
        if thread is not None and self.process == os.getpid():
            thread.join()


_worker = _Worker()


@contextlib.contextmanager
def still() -> Iterator[None]:
    """Within it the thread does nothing: a process may be forked, and inherits no lock in the middle of JAX's tracing."""
    with _worker.busy:
        yield


def start(work: Callable[[], object]) -> Task:
    """Have ``work`` done in the background, if nobody wants it before."""
    task = Task(work)
    if _worker.process == os.getpid():
        _worker.submit(task)
    return task
