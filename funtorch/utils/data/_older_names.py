"""What public code takes from PyTorch's ``torch.utils.data._utils``, with the meaning that it has there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ._fetching import Source

MP_STATUS_CHECK_INTERVAL = 5.0  # seconds
HAS_NUMPY = True
python_exit_status = False


class _BaseDatasetFetcher:
    """From keys to what the loader yields.

    Args:
        dataset: with ``__getitem__``, or a stream.
        auto_collation: whether keys come in lists.
        collate_fn: makes a batch of the samples, or converts a single one.
        drop_last: of a stream, leave out a last batch that is not full.
    """

    is_stream = False

    def __init__(self, dataset: Any, auto_collation: bool, collate_fn: Callable[[Any], Any], drop_last: bool) -> None:
        self.dataset, self.auto_collation, self.collate_fn, self.drop_last = dataset, auto_collation, collate_fn, drop_last
        self._fetch = Source(dataset, self.is_stream, auto_collation, collate_fn, drop_last).fetcher()

    def fetch(self, possibly_batched_index: Any) -> Any:
        """The batch of a list of keys, or the sample of one. Raises StopIteration where a stream has ended."""
        return self._fetch(possibly_batched_index)


class _MapDatasetFetcher(_BaseDatasetFetcher):
    """`_BaseDatasetFetcher` of a dataset with keys."""


class _IterableDatasetFetcher(_BaseDatasetFetcher):
    """`_BaseDatasetFetcher` of a stream."""

    is_stream = True


def pin_memory(data: Any, device: Any = None) -> Any:
    """``data`` as it is: memory is not pinned (see `DataLoader`)."""
    return data
