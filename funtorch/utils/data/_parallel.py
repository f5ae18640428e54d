"""One pass over a DataLoader whose batches come from worker processes, in PyTorch's order from the same seed.

Keys are dealt to the workers in turn, ``prefetch_factor`` for each ahead of what was yielded, and one more for each batch
that is yielded: so a sampler is asked as early, and as often, as by PyTorch.
"""

from __future__ import annotations

import os
import weakref
from typing import Any

from ...errors import OpError
from ._iterators import LoaderIterator
from ._loader_rules import as_context
from ._pool import WorkerPool
from ._remote_errors import RemoteError
from ._worker_loop import END, EPOCH, FETCH, STATE, Job

_NO_PREFETCH = "DataLoader(prefetch_factor=0, num_workers={!r}): prefetch_factor must be positive, or no worker is ever asked."
_TIMED_OUT = "DataLoader timed out after {} seconds: no worker has sent a batch (timeout={})."
_STOPPED = "The workers of this DataLoader iterator were stopped after an error; iterate over the DataLoader anew."


class WorkerIterator(LoaderIterator):
    """The batches of one epoch, or with ``persistent_workers`` of one after another."""

    pool: WorkerPool | None = None

    def __init__(self, loader: Any) -> None:
        self._workers = loader.num_workers
        self._ahead = 2 if loader.prefetch_factor is None else loader.prefetch_factor
        if self._ahead < 1:
            raise AssertionError(_NO_PREFETCH.format(loader.num_workers))
        self._timeout = loader.timeout
        self._in_order = loader.in_order
        self._persistent = loader.persistent_workers
        self._sent = 0
        self.broken = False
        super().__init__(loader)

    def begin(self, loader: Any) -> None:
        """Begin an epoch: with new workers, or with those that have persisted."""
        saved = loader._resumed
        super().begin(loader)
        self._owners: dict[int, int] = {}  # the workers of batches that were asked for and not yielded
        self._ready: dict[int, Any] = {}
        self._active = [True] * self._workers
        self._under_way = [0] * self._workers
        self._last = [-1] * self._workers  # the last batch of each that was yielded
        self._turn = self.progress.turn
        self._states: dict[int, Any] = {}
        if self.pool is None:
            self.pool = WorkerPool(self._jobs(loader, saved), as_context(loader.multiprocessing_context))
            self._finalizer = weakref.finalize(self, self.pool.stop)
            self._finalizer.atexit = False  # at the end of the program multiprocessing ends them without patience
        else:
            for worker in range(self._workers):
                self._send(worker, (EPOCH, self._sent, None))
        for _ in range(self._ahead * self._workers):
            self._deal()

    def _jobs(self, loader: Any, saved: dict[str, Any] | None) -> list[Job]:
        given, states = self.progress.given, saved and saved["workers"]
        if saved is None or len(saved["given"]) != self._workers:
            states = [None] * self._workers
        elif states is None:
            states = [{"given": count, "begun": None, "random": None, "dataset": None} if count else None for count in given]
        return [
            Job(
                source=loader._source,
                number=i,
                count=self._workers,
                base_seed=self.progress.base_seed,
                init_fn=loader.worker_init_fn,
                parent=os.getpid(),
                kept=2 * self._ahead + 2,
                batch_size=loader.batch_size or 1,
                resumed=state,
            )
            for i, state in enumerate(states)
        ]

    def __next__(self) -> Any:
        if self.broken:
            raise OpError(_STOPPED)
        try:
            number = self._next_number()
        except StopIteration:
            self.progress.finished = True
            if not self._persistent:
                self._stop()
            raise
        except BaseException:
            self.broken = True
            self._stop(at_once=True)
            raise
        return self._yielded(number)

    def _yielded(self, number: int) -> Any:
        worker, data = self._owners.pop(number), self._ready.pop(number)
        self._last[worker] = number
        self._deal()
        self.progress.turn = self._owners.get(min(self._owners, default=-1), 0)
        if isinstance(data, RemoteError):
            data.raise_here()
        self._counted(worker)
        return data

    def _next_number(self) -> int:
        """The number of the batch to yield, when it has come. Raises StopIteration where none is left."""
        while True:
            for number, worker in list(self._owners.items()):
                if number in self._ready:
                    return number
                if not self._active[worker]:
                    del self._owners[number]
                elif self._in_order:
                    break
            if not self._owners:
                raise StopIteration
            self._receive()

    def _deal(self) -> None:
        """Ask a worker for the next batch, if there is a key left and a worker whose stream has not ended."""
        try:
            keys = next(self._keys)
        except StopIteration:
            return
        turns = [(self._turn + i) % self._workers for i in range(self._workers)]
        for worker in turns:
            if self._active[worker] and (self._in_order or self._under_way[worker] < self._ahead):
                self._turn = (worker + 1) % self._workers
                self._owners[self._sent] = worker
                self._under_way[worker] += 1
                self._send(worker, (FETCH, self._sent, keys))
                self._sent += 1
                return

    def _send(self, worker: int, task: tuple) -> None:
        assert self.pool is not None
        while not self.pool.has_room(worker):
            self._receive()  # the worker may be waiting to be heard before it listens
        self.pool.send(worker, task)

    def _receive(self) -> None:
        """Take in one answer. Raises RuntimeError where a worker is dead or the time is up."""
        assert self.pool is not None
        answer = self.pool.receive(self._timeout or None)
        if answer is None:
            raise OpError(_TIMED_OUT.format(self._timeout, self._timeout))
        worker, (kind, number, data) = answer
        if kind == STATE:
            self._states[worker] = data
            return
        if number not in self._owners:
            return  # asked for in an epoch that was left early
        self._under_way[worker] -= 1
        if kind == END:
            self._active[worker] = False
            del self._owners[number]
            self._deal()
        else:
            self._ready[number] = data

    def worker_states(self) -> list[Any] | None:
        """The states of the workers after the last batch of each that was yielded."""
        if self.pool is None or self.broken:
            return None
        self._states = {}
        for worker, number in enumerate(self._last):
            self._send(worker, (STATE, number, None))
        while len(self._states) < self._workers:
            self._receive()
        return [self._states[worker] for worker in range(self._workers)]

    def _stop(self, at_once: bool = False) -> None:
        if self.pool is not None:
            self._finalizer.detach()
            self.pool.stop(at_once)
            self.pool = None
