"""One pass over a DataLoader: keys of its sampler, and what they lead to. Here in the main process; in workers, `_parallel`."""

from __future__ import annotations

import itertools
import weakref
from typing import Any

from ...cautions import caution
from . import _resume, _tensors

_NO_TIMEOUT = "DataLoader(timeout={!r}, num_workers=0): there is no worker to wait for; leave timeout out."
_TOO_LONG = (
    "DataLoader: {}.__len__ said {}, and {} batches have come of it. Its __len__ and __iter__ must agree; with workers, each "
    "must yield a share of its own (see get_worker_info)."
)


class LoaderIterator:
    """The batches of one epoch. It does not hold its loader, so that dropping the loader ends its workers."""

    _base_seed: int | None = None

    def __init__(self, loader: Any) -> None:
        self.begin(loader)

    def begin(self, loader: Any) -> None:
        """Begin an epoch, or go on with the one whose state was given to the loader."""
        self._sampler = loader._index_sampler
        self._announced = loader._announced_length
        self._name = type(loader.dataset).__name__
        saved = loader._take_resumed()
        if saved is None:
            self._draw(loader, None)
            self._open(loader, None)
        else:
            with _resume.rewound(loader, saved):
                self._draw(loader, saved)
                self._open(loader, saved)
        loader._progress = self.progress

    def _open(self, loader: Any, saved: dict[str, Any] | None) -> None:
        """Begin with the dataset, where that is done in this process; the generators are as they were when the epoch began."""

    def _draw(self, loader: Any, saved: dict[str, Any] | None) -> None:
        states = _resume.generator_states(loader)
        self._keys = iter(self._sampler)
        # PyTorch draws a seed for the workers here, with or without any; drawing it keeps the generator in step.
        drew = self._base_seed is None if saved is None else saved["drew_seed"] or saved["base_seed"] is None
        if drew:
            self._base_seed = _tensors.random_seed(loader.generator)
        elif saved is not None:
            self._base_seed = saved["base_seed"]
        given, turn = [0] * max(loader.num_workers, 1), 0
        if saved is not None:
            if saved["drawn"]:
                self._pass_over(sum(saved["given"]))
            given, turn = _dealt(saved, len(given))
        assert self._base_seed is not None
        self.progress = _resume.Progress(states, self._base_seed, drew, given, turn, False, weakref.ref(self))

    def _pass_over(self, count: int) -> None:
        """Leave keys out. One more is drawn and kept: samplers draw when they are first asked, and the moment is now."""
        kept = list(itertools.islice(self._keys, count, count + 1))
        self._keys = itertools.chain(kept, self._keys)

    def __iter__(self) -> LoaderIterator:
        return self

    def __next__(self) -> Any:
        raise NotImplementedError

    def __len__(self) -> int:
        return len(self._sampler)

    def worker_states(self) -> list[Any] | None:
        """The states of the workers; None where there are none."""
        return None

    def _counted(self, worker: int) -> None:
        self.progress.given[worker] += 1
        count = sum(self.progress.given)
        if self._announced is not None and count == self._announced + 1:
            caution(_TOO_LONG.format(self._name, self._announced, count))


class MainIterator(LoaderIterator):
    """The batches of one epoch, loaded in the main process."""

    def __init__(self, loader: Any) -> None:
        if loader.timeout != 0:
            raise AssertionError(_NO_TIMEOUT.format(loader.timeout))
        super().__init__(loader)

    def _open(self, loader: Any, saved: dict[str, Any] | None) -> None:
        """Open the dataset; a stream goes on where it was, and leaves the random numbers as they are here."""
        told = saved is not None and _resume.restore_dataset(loader.dataset, saved["dataset"])
        passed = 0 if told else sum(self.progress.given) * (loader.batch_size or 1)
        before = _resume.random_state(_resume.note_random()) if passed else None
        self._fetch = loader._source.fetcher(passed)
        _resume.restore_random_state(before)

    def __next__(self) -> Any:
        try:
            data = self._fetch(next(self._keys))
        except StopIteration:
            self.progress.finished = True
            raise
        self._counted(0)
        return data


def _dealt(saved: dict[str, Any], workers: int) -> tuple[list[int], int]:
    """How many batches each worker has given, and whose turn it is; among other workers it does not matter who did."""
    given = saved["given"]
    return (list(given), saved["turn"]) if len(given) == workers else ([sum(given), *[0] * (workers - 1)], 0)
