"""One pass over a DataLoader: keys of its sampler, samples of its dataset, batches by its ``collate_fn``."""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Iterator
from typing import Any

from . import _tensors

_NO_TIMEOUT = "DataLoader(timeout={!r}, num_workers=0): there is no worker to wait for; leave timeout out."


class LoaderIterator:
    """The batches of one epoch, loaded in the main process."""

    def __init__(self, loader: Any) -> None:
        if loader.timeout != 0:
            raise AssertionError(_NO_TIMEOUT.format(loader.timeout))
        self._loader = loader
        self._keys = iter(loader._index_sampler)
        # PyTorch draws a seed for the workers here, with or without any; drawing it keeps the generator in
        # step.
        self._base_seed = _tensors.random_seed(loader.generator)
        self._fetch = _fetcher(loader)
        self._count = 0

    def __iter__(self) -> LoaderIterator:
        return self

    def __next__(self) -> Any:
        data = self._fetch(next(self._keys))
        self._count += 1
        expected = self._loader._announced_length
        if expected is not None and self._count > expected:
            warnings.warn(
                f"DataLoader: {type(self._loader.dataset).__name__}.__len__ said {expected}, and "
                f"{self._count} batches have come of it. Its __len__ and __iter__ must agree.",
                stacklevel=2,
            )
        return data

    def __len__(self) -> int:
        return len(self._loader._index_sampler)


class EndlessSampler:
    """The sampler of a stream, which has no keys: None for ever."""

    def __iter__(self) -> Iterator[None]:
        return itertools.repeat(None)


def _fetcher(loader: Any) -> Any:
    """The function from a key, or a list of them, to what the loader yields."""
    if loader._is_stream:
        return _StreamFetcher(loader)
    dataset, join = loader.dataset, loader.collate_fn
    if not loader._auto_collation:
        return lambda key: join(dataset[key])
    if getattr(dataset, "__getitems__", None):
        return lambda keys: join(dataset.__getitems__(keys))
    return lambda keys: join([dataset[key] for key in keys])


class _StreamFetcher:
    """Takes samples from a stream until it ends; then raises StopIteration."""

    def __init__(self, loader: Any) -> None:
        self._samples = iter(loader.dataset)
        self._join = loader.collate_fn
        self._batched = loader._auto_collation
        self._drop_last = loader.drop_last
        self._ended = False

    def __call__(self, keys: Any) -> Any:
        if not self._batched:
            return self._join(next(self._samples))
        # A stream that has ended is not asked again: some begin anew.
        batch = [] if self._ended else list(itertools.islice(self._samples, len(keys)))
        self._ended = len(batch) < len(keys)
        if not batch or (self._ended and self._drop_last):
            raise StopIteration
        return self._join(batch)
