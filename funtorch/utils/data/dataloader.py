"""The DataLoader: batches from a dataset, epoch by epoch."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, Generic, TypeVar

from ...errors import ArgumentValueError
from . import _loader_rules, _resume
from ._fetching import EndlessSampler, Source
from ._iterators import LoaderIterator, MainIterator
from ._parallel import WorkerIterator
from .collate import default_collate, default_convert
from .dataset import IterableDataset
from .sampler import BatchSampler, RandomSampler, SequentialSampler
from .worker import get_worker_info

__all__ = ["DataLoader", "default_collate", "default_convert", "get_worker_info"]

T = TypeVar("T", covariant=True)

# PyTorch's names for these, which public code asks for.
_BaseDataLoaderIter = LoaderIterator
_SingleProcessDataLoaderIter = MainIterator
_MultiProcessingDataLoaderIter = WorkerIterator

# The sampler and the batch sampler were made from these, and would not follow a change.
_FIXED = {"batch_size", "batch_sampler", "sampler", "drop_last", "dataset", "persistent_workers"}


class _DatasetKind:
    """The two kinds of datasets, under the names by which older programs ask ``loader._dataset_kind``."""

    Map = 0
    Iterable = 1


class DataLoader(Generic[T]):
    """Loads a dataset in batches; iterating over it is one epoch.

    Args:
        dataset: anything with ``__getitem__`` and ``__len__``, or an ``IterableDataset``.
        batch_size: samples in a batch; None yields single samples, converted by ``default_convert``.
        shuffle: take a new random order each epoch.
        sampler: an iterable of the dataset's keys, in place of ``shuffle``.
        batch_sampler: an iterable of lists of keys, in place of ``batch_size``, ``shuffle``, ``sampler`` and
            ``drop_last``.
        num_workers: processes that load ahead; with 0 the main process loads.
        collate_fn: makes a batch of a list of samples (with ``batch_size=None``: converts one sample);
            ``default_collate`` where None.
        pin_memory, pin_memory_device: accepted, without effect.
        drop_last: leave out a last batch that is not full.
        timeout: seconds to wait for a batch from the workers; 0 waits as long as they live.
        worker_init_fn: called with its number in each worker, once it is seeded.
        multiprocessing_context: how workers are started: "fork" (the default on Linux), "forkserver" or "spawn", or such a
            context. Forked ones see all that the script has made, and compute with NumPy alone; the others get the
            dataset pickled, and import the script.
        prefetch_factor: batches that each worker loads ahead; 2 where None.
        persistent_workers: keep the workers, with their copies of the dataset, from epoch to epoch.
        in_order: yield batches in the order of their keys; otherwise as they come.
        generator: draws the order; the default generator where None. The orders are PyTorch's for the same
            seed.

    Differs from PyTorch: there is ``state_dict``, from which another DataLoader goes on; Ctrl-C does not end workers by
    itself, the main process does.

    Raises:
        ValueError: options that exclude each other or are out of range; and when ``dataset``, ``batch_size``,
            ``sampler``, ``batch_sampler``, ``drop_last`` or ``persistent_workers`` is set later.
        TypeError: ``multiprocessing_context`` is neither a name nor a context.
        RuntimeError: when iterating, where a worker has died, or ``timeout`` is over. What the dataset, ``collate_fn`` or
            ``worker_init_fn`` raises in a worker is raised as the same class, with the worker's traceback as its text.

    Example:
        >>> [batch.tolist() for batch in DataLoader(range(5), batch_size=2)]
        [[0, 1], [2, 3], [4]]
    """

    _initialized = False
    _announced_length: int | None = None  # what `len` said last of a stream
    _progress: _resume.Progress | None = None
    _resumed: dict[str, Any] | None = None  # where the next epoch goes on
    _kept: WorkerIterator | None = None  # workers that persist

    def __init__(
        self,
        dataset: Any,
        batch_size: int | None = 1,
        shuffle: bool | None = None,
        sampler: Iterable | None = None,
        batch_sampler: Iterable[list] | None = None,
        num_workers: int = 0,
        collate_fn: Callable[[Any], T] | None = None,
        pin_memory: bool = False,
        drop_last: bool = False,
        timeout: float = 0,
        worker_init_fn: Callable[[int], None] | None = None,
        multiprocessing_context: Any = None,
        generator: Any = None,
        *,
        prefetch_factor: int | None = None,
        persistent_workers: bool = False,
        pin_memory_device: str = "",
        in_order: bool = True,
    ) -> None:
        self._is_stream = isinstance(dataset, IterableDataset)
        _loader_rules.check(
            _loader_rules.Options(
                iterable=self._is_stream,
                batch_size=batch_size,
                shuffle=shuffle,
                sampler=sampler,
                batch_sampler=batch_sampler,
                num_workers=num_workers,
                drop_last=drop_last,
                timeout=timeout,
                multiprocessing_context=multiprocessing_context,
                prefetch_factor=prefetch_factor,
                persistent_workers=persistent_workers,
            )
        )
        self._dataset_kind = _DatasetKind.Iterable if self._is_stream else _DatasetKind.Map
        self.dataset: Any = dataset
        self.num_workers = num_workers
        self.prefetch_factor = 2 if num_workers > 0 and prefetch_factor is None else prefetch_factor
        self.pin_memory = pin_memory
        self.pin_memory_device = pin_memory_device
        self.timeout = timeout
        self.worker_init_fn = worker_init_fn
        self.multiprocessing_context = _loader_rules.as_context(multiprocessing_context)
        self.persistent_workers = persistent_workers
        self.in_order = in_order
        self.generator = generator
        self.sampler = self._default_sampler(shuffle) if sampler is None else sampler
        self.batch_sampler: Any = batch_sampler
        if batch_sampler is None and batch_size is not None:
            self.batch_sampler = BatchSampler(self.sampler, batch_size, drop_last)
        self.batch_size = batch_size if batch_sampler is None else None
        self.drop_last = drop_last
        default = default_collate if self._auto_collation else default_convert
        self.collate_fn = default if collate_fn is None else collate_fn
        _loader_rules.warn_of_many(num_workers)
        self._initialized = True

    def __setattr__(self, name: str, value: Any) -> None:
        if self._initialized and name in _FIXED:
            raise ArgumentValueError(
                f"DataLoader.{name} = {value!r}: {name} is fixed when the DataLoader is made; make a new one."
            )
        super().__setattr__(name, value)

    def __getstate__(self) -> dict[str, Any]:
        """What a copy takes along: not the epoch under way, nor the workers."""
        return {name: value for name, value in self.__dict__.items() if name not in ("_progress", "_kept")}

    def __iter__(self) -> LoaderIterator:
        if self.num_workers == 0:
            return MainIterator(self)
        if not self.persistent_workers:
            return WorkerIterator(self)
        if self._kept is None or self._kept.broken:
            self._kept = WorkerIterator(self)
        else:
            self._kept.begin(self)
        return self._kept

    def __len__(self) -> int:
        """The number of batches; for an ``IterableDataset``, what its own ``__len__`` leads one to expect.

        Raises:
            TypeError: the dataset or the sampler has no length.
        """
        if not self._is_stream:
            return len(self._index_sampler)
        self._announced_length = length = len(self.dataset)
        if self.batch_size is None:
            return length
        full, rest = divmod(length, self.batch_size)
        return full + (1 if rest and not self.drop_last else 0)

    def state_dict(self) -> dict[str, Any]:
        """How far the epoch under way has come: batches that were yielded, the generators, the workers' random numbers.

        Where the dataset has ``state_dict`` and ``load_state_dict``, its own state (in workers, that of each one's copy) is
        part of it; a stream without them is read over up to its place.

        Returns:
            A dict of plain values and Tensors, for `torch.save`.

        Example:
            >>> loader = DataLoader(range(4))
            >>> batches = iter(loader)
            >>> _ = next(batches), next(batches)
            >>> other = DataLoader(range(4))
            >>> other.load_state_dict(loader.state_dict())
            >>> list(other)
            [tensor([2]), tensor([3])]
        """
        return _resume.fresh_state(self) if self._progress is None else self._progress.state(self)

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Let the next iteration go on from where another DataLoader, of the same options, was.

        Args:
            state_dict: what its ``state_dict()`` returned.

        Raises:
            ValueError: it is no such state, or of another number of workers, where each has a stream of its own.
        """
        _resume.check_state(self, state_dict)
        self._resumed = state_dict
        self._kept = None

    def _take_resumed(self) -> dict[str, Any] | None:
        state, self._resumed = self._resumed, None
        return state

    @property
    def _source(self) -> Source:
        return Source(self.dataset, self._is_stream, self._auto_collation, self.collate_fn, self.drop_last)

    @property
    def _auto_collation(self) -> bool:
        return self.batch_sampler is not None

    @property
    def _index_sampler(self) -> Any:
        return self.batch_sampler if self._auto_collation else self.sampler

    def _default_sampler(self, shuffle: bool | None) -> Any:
        if self._is_stream:
            return EndlessSampler()
        return RandomSampler(self.dataset, generator=self.generator) if shuffle else SequentialSampler(self.dataset)
