"""Which options of a DataLoader go together: one table, looked through from the top."""

from __future__ import annotations

import dataclasses
import multiprocessing
import multiprocessing.context
import socket
from collections.abc import Callable
from typing import Any

from ...cautions import caution
from ...core.processors import usable
from ...errors import ArgumentTypeError, ArgumentValueError, MissingError

_NO_WORKERS = (
    "DataLoader(num_workers={o.num_workers!r}): worker processes need Unix sockets, which this system does not have. Pass "
    "num_workers=0, and the samples are loaded in the main process."
)
_NOT_A_CONTEXT = (
    "DataLoader(multiprocessing_context={!r}): must be one of {}, or a context of multiprocessing.get_context(), got {}."
)


_MANY = (
    "This DataLoader will create {0} worker processes in total, and this process may use {1} cores: so many may load more slowly, or even "
    "freeze. Pass num_workers={1} at most."
)


def warn_of_many(workers: int) -> None:
    """Warn of more workers than there are cores for this process."""
    cores = usable()
    if workers > cores:
        caution(_MANY.format(workers, cores))


@dataclasses.dataclass(frozen=True)
class Options:
    """The arguments of a DataLoader on which the rules bear."""

    iterable: bool
    batch_size: int | None
    shuffle: bool | None
    sampler: Any
    batch_sampler: Any
    num_workers: int
    drop_last: bool
    timeout: float
    multiprocessing_context: Any
    prefetch_factor: int | None
    persistent_workers: bool


Rule = tuple[Callable[[Options], bool], str]

_RULES: list[Rule] = [
    (lambda o: o.num_workers < 0, "num_workers={o.num_workers!r}): num_workers must not be negative"),
    (lambda o: o.timeout < 0, "timeout={o.timeout!r}): timeout must not be negative"),
    (
        lambda o: o.num_workers == 0 and o.prefetch_factor is not None,
        "num_workers=0, prefetch_factor={o.prefetch_factor!r}): prefetch_factor is for worker processes; leave it out",
    ),
    (
        lambda o: o.prefetch_factor is not None and o.prefetch_factor < 0,
        "prefetch_factor={o.prefetch_factor!r}): prefetch_factor must not be negative",
    ),
    (
        lambda o: o.num_workers == 0 and bool(o.persistent_workers),
        "num_workers=0, persistent_workers=True): persistent_workers is for worker processes; leave it out",
    ),
    (
        lambda o: o.num_workers == 0 and o.multiprocessing_context is not None,
        "num_workers=0, multiprocessing_context={o.multiprocessing_context!r}): multiprocessing_context is "
        "for worker processes; leave it out",
    ),
    (
        lambda o: o.iterable and o.shuffle not in (None, False),
        "shuffle={o.shuffle!r}): an IterableDataset has an order of its own; shuffle inside the dataset",
    ),
    (
        lambda o: o.iterable and o.sampler is not None,
        "sampler={o.sampler!r}): an IterableDataset has no keys to sample; leave it out",
    ),
    (
        lambda o: o.iterable and o.batch_sampler is not None,
        "batch_sampler={o.batch_sampler!r}): an IterableDataset has no keys to sample; leave it out",
    ),
    (
        lambda o: o.sampler is not None and bool(o.shuffle),
        "sampler=..., shuffle={o.shuffle!r}): the sampler sets the order; leave out one of the two",
    ),
    (
        lambda o: (
            o.batch_sampler is not None and (o.batch_size != 1 or bool(o.shuffle) or o.sampler is not None or bool(o.drop_last))
        ),
        "batch_sampler=..., batch_size={o.batch_size!r}, shuffle={o.shuffle!r}, sampler={o.sampler!r}, "
        "drop_last={o.drop_last!r}): the batch_sampler makes the batches; leave the other four out",
    ),
    (
        lambda o: o.batch_sampler is None and o.batch_size is None and bool(o.drop_last),
        "batch_size=None, drop_last={o.drop_last!r}): without batches there is no last one to drop",
    ),
]


def check(options: Options) -> None:
    """Check the options against each other.

    Raises:
        ValueError: two of them exclude each other, or one is out of its range.
        NotImplementedError: worker processes are asked for where the system has no Unix sockets.
    """
    for is_broken, message in _RULES:
        if is_broken(options):
            raise ArgumentValueError(f"DataLoader({message.format(o=options)}.")
    if options.num_workers > 0 and not hasattr(socket, "send_fds"):
        raise MissingError(_NO_WORKERS.format(o=options))


def as_context(value: Any) -> Any:
    """A context of `multiprocessing`, given as itself or by its name; None stays None.

    Raises:
        ValueError: no such name.
        TypeError: neither a name nor a context.
    """
    if value is None or isinstance(value, multiprocessing.context.BaseContext):
        return value
    names = multiprocessing.get_all_start_methods()
    if value in names:
        return multiprocessing.get_context(value)
    error = ArgumentValueError if isinstance(value, str) else ArgumentTypeError
    raise error(_NOT_A_CONTEXT.format(value, ", ".join(map(repr, names)), type(value).__name__))
