"""From keys of a dataset to what the loader yields: samples, made a batch by ``collate_fn``. The same in every process."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator
from typing import Any


@dataclasses.dataclass(frozen=True)
class Source:
    """What the options of a DataLoader say of fetching.

    Args:
        dataset: with ``__getitem__``, or a stream.
        is_stream: whether it is an ``IterableDataset``.
        batched: whether keys come in lists.
        join: ``collate_fn``.
        drop_last: of a stream, leave out a last batch that is not full.
    """

    dataset: Any
    is_stream: bool
    batched: bool
    join: Callable[[Any], Any]
    drop_last: bool

    def fetcher(self, skip: int = 0) -> Any:
        """The function from a key, or a list of them, to what is yielded. Of a stream, ``skip`` samples are passed over."""
        dataset, join = self.dataset, self.join
        if self.is_stream:
            return _StreamFetcher(self, skip)
        if not self.batched:
            return lambda key: join(dataset[key])
        if getattr(dataset, "__getitems__", None):
            return lambda keys: join(dataset.__getitems__(keys))
        return lambda keys: join([dataset[key] for key in keys])


class EndlessSampler:
    """The sampler of a stream, which has no keys: None for ever."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


class _StreamFetcher:
    """Takes samples from a stream until it ends; then raises StopIteration."""

    def __init__(self, source: Source, skip: int) -> None:
        self._samples = iter(source.dataset)
        self._source = source
        self._ended = False
        for _ in itertools.islice(self._samples, skip):
            pass

    def __call__(self, keys: Any) -> Any:
        source = self._source
        if not source.batched:
            return source.join(next(self._samples))
        # A stream that has ended is not asked again: some begin anew.
        batch = [] if self._ended else list(itertools.islice(self._samples, len(keys)))
        self._ended = len(batch) < len(keys)
        if not batch or (self._ended and source.drop_last):
            raise StopIteration
        return source.join(batch)
