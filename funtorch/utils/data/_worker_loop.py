"""What runs in a worker process: tasks come in, batches go out.

Worker processes are forked where the system can (Linux): they see whatever the script has made, lambdas and open files
too, and the script is not run again. That is safe beside JAX because a forked worker never calls XLA: funtorch's host
tier runs its Tensors with NumPy (see `core.forked`). Started by "spawn" or "forkserver" a worker has an XLA of its own, on
the CPU: it must never claim a GPU.

Funtorch's own compiling thread stands still while a worker is forked. A thread of the user's that is inside of JAX at that
very moment may hold a lock of jaxlib's, on which the worker would wait for ever, as soon as it traces something. So it traces
first of all, and then says that it is ready; one that does not is replaced (see `_pool`).
"""

from __future__ import annotations

import collections
import contextlib
import copy
import dataclasses
import functools
import gc
import pickle
import signal
from collections.abc import Callable, Sequence
from multiprocessing.reduction import ForkingPickler
from typing import Any

import numpy as np

from . import _resume
from ._channel import Channel
from ._fetching import Source
from ._orphans import end_with_parent, is_orphan
from ._remote_errors import RemoteError
from .worker import WorkerInfo, become

# Tasks: (kind, number, keys). Answers: (kind, number, batch, RemoteError or state), and once, before all others, READY.
FETCH, EPOCH, STATE = "fetch", "epoch", "state"
BATCH, ERROR, END, READY = "batch", "error", "end", "ready"


@dataclasses.dataclass
class Job:
    """What a worker needs to know.

    Args:
        number, count: which worker it is, of how many.
        kept: how many states of the past it keeps: as many as there can be batches under way.
        resumed: its state from another run, where it goes on from that.
        unreadable: what unpickling the dataset raised here.
    """

    source: Source
    number: int
    count: int
    base_seed: int
    init_fn: Callable[[int], None] | None
    parent: int
    kept: int
    batch_size: int
    resumed: dict[str, Any] | None = None
    unreadable: RemoteError | None = None


class Sent:
    """A job on its way to a process that is not forked: it arrives as a `Job`, also where it can't be unpickled there."""

    def __init__(self, job: Job) -> None:
        self.job = job

    def __reduce__(self) -> tuple:
        rest = dataclasses.replace(self.job, source=None, init_fn=None, resumed=None)  # type: ignore[arg-type]
        return _arrived, (bytes(ForkingPickler.dumps(self.job)), rest)


def _arrived(data: bytes, rest: Job) -> Job:
    try:
        return pickle.loads(data)  # type: ignore[no-any-return]
    except Exception as error:
        rest.unreadable = RemoteError(error, f"in DataLoader worker process {rest.number}, which was to unpickle the dataset")
        return rest


class OwnBackend:
    """Sent before all else to a process that was not forked: reading it keeps JAX there to the CPU."""

    def __reduce__(self) -> tuple:
        return _keep_to_cpu, ()


def _keep_to_cpu() -> None:
    import jax

    jax.config.update("jax_platforms", "cpu")


def work(own_backend: OwnBackend | None, job: Job, line: Channel, inherited: Sequence[Channel]) -> None:
    """The main function of a worker process.

    Args:
        own_backend: given to a process that was not forked.
        line: to the main process.
        inherited: of a forked process, the main process's ends of all lines: while a copy of one is open, nobody can tell
            that the main process is gone.
    """
    for end in inherited:
        end.close()
    # The main process decides when workers end, also after Ctrl-C, which the terminal sends to all. A handler that does
    # nothing, for what is ignored would stay ignored in programs that the dataset starts.
    signal.signal(signal.SIGINT, lambda *_: None)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    if own_backend is None:
        gc.freeze()  # what was inherited is never looked through, so its pages stay shared
        _keep_to_cpu()  # for what asks JAX where it runs, if nothing has asked yet
        from ...core.engine import stay_on_host
        from ...transforms.compiled import settings

        stay_on_host()
        settings.enabled = False
        _trace_something()
    end_with_parent(line.fileno(), functools.partial(is_orphan, job.parent, own_backend is None))
    # The main process no longer listens, or is gone.
    with contextlib.suppress(EOFError, BrokenPipeError, ConnectionResetError):
        line.send((READY, 0, None))
        _Worker(job, line).run()


def _trace_something() -> None:
    """Take the locks that ops take when they are traced. Where one was inherited locked, this never returns."""
    import jax
    import jax.numpy as jnp

    def function(x: Any) -> Any:  # new to JAX each time
        return jnp.where(jnp.sin(x) > 0, x, 0.0).sum()

    jax.make_jaxpr(jax.jit(function))(np.float32(1.0))


class _Worker:
    """The state of a worker between tasks."""

    def __init__(self, job: Job, line: Channel) -> None:
        self.job = job
        self.line = line
        self.where = f"in DataLoader worker process {job.number}"
        self.ended = False
        self.count = 0  # batches of this epoch
        self.begun: tuple | None = None  # the random numbers when the epoch began; of the first, the seeds tell
        self.past: collections.deque[tuple[int, dict]] = collections.deque(maxlen=job.kept)
        self.broken: RemoteError | None = job.unreadable
        if self.broken is None:
            self._set_up(job)
        self.first = self._state()

    def _set_up(self, job: Job) -> None:
        become(WorkerInfo(job.number, job.count, job.base_seed + job.number, job.source.dataset), job.base_seed)
        try:
            if job.init_fn is not None:
                job.init_fn(job.number)
            self.fetch = self._resumed(job.resumed) if job.resumed else job.source.fetcher()
        except Exception as error:
            self.broken = RemoteError(error, self.where)

    def run(self) -> None:
        """Do tasks until the main process hangs up."""
        while True:
            kind, number, keys = self.line.receive()
            if kind == FETCH:
                self._answer(number, keys)
            elif kind == EPOCH:
                self._begin()
            else:
                self.line.send((STATE, number, _told(dict(self.past).get(number, self.first))))

    def _begin(self) -> None:
        self.ended, self.count, self.begun = False, 0, _resume.note_random()
        if self.job.unreadable is not None:
            return
        try:
            self.fetch = self.job.source.fetcher()
        except Exception as error:
            self.broken = RemoteError(error, self.where)
        self.first = self._state()

    def _answer(self, number: int, keys: Any) -> None:
        """Fetch and send; what goes wrong, in pickling too, is sent instead."""
        if self.ended:
            return  # the main process expects nothing more of this epoch
        if self.broken is not None:
            self.line.send((ERROR, number, self.broken))
            return
        kind, data = self._fetched(keys)
        self.count += 1
        self.past.append((number, self._state()))
        try:
            self.line.send((kind, number, data))
        except (EOFError, BrokenPipeError, ConnectionResetError):
            raise
        except Exception as error:
            self.line.send((ERROR, number, RemoteError(error, self.where)))

    def _fetched(self, keys: Any) -> tuple[str, Any]:
        try:
            return BATCH, self.fetch(keys)
        except StopIteration as error:
            if not self.job.source.is_stream:
                return ERROR, RemoteError(error, self.where)
            self.ended = True
            return END, None
        except Exception as error:
            return ERROR, RemoteError(error, self.where)

    def _state(self) -> dict[str, Any]:
        dataset = None if self.job.unreadable else copy.deepcopy(_resume.dataset_state(self.job.source.dataset))
        return {"given": self.count, "begun": self.begun, "random": _resume.note_random(), "dataset": dataset}

    def _resumed(self, state: dict[str, Any]) -> Any:
        """The fetcher of an epoch that goes on, with the random numbers that would have come."""
        self.count = state["given"]
        told = _resume.restore_dataset(self.job.source.dataset, state["dataset"])
        _resume.restore_random_state(state["begun"] if self.count else state["random"])
        self.begun = _resume.note_random()
        fetch = self.job.source.fetcher(0 if told else self.count * self.job.batch_size)
        _resume.restore_random_state(state["random"])
        return fetch


def _told(state: dict[str, Any]) -> dict[str, Any]:
    """A state as it goes into the loader's ``state_dict``."""
    begun = state["begun"] and _resume.random_state(state["begun"])
    return state | {"begun": begun, "random": _resume.random_state(state["random"])}
