"""Sharing a dataset out among processes."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

from ...errors import ArgumentValueError
from . import _tensors
from .sampler import Sampler

__all__ = ["DistributedSampler"]


class DistributedSampler(Sampler[int]):
    r"""One process's share of a dataset's indices: all shares are of one size and together hold every index.

    With N samples and R processes, process r takes the places r, r + R, r + 2R, ... of an order common to
    all. Where R does not divide N, the order is continued from its beginning to :math:`R \lceil N / R \rceil`
    places, or, with ``drop_last``, cut to :math:`R \lfloor N / R \rfloor`.

    Args:
        dataset: N samples.
        num_replicas: R.
        rank: r, at least 0 and less than R.
        shuffle: take a random order, which depends on ``seed`` and on the epoch; call ``set_epoch`` before
            each epoch, or every epoch has the same one.
        seed: the same number in all processes.
        drop_last: cut the order rather than repeat its beginning.

    Differs from PyTorch: ``num_replicas`` and ``rank`` have to be given.

    Raises:
        ValueError: ``num_replicas`` or ``rank`` is missing, or ``rank`` is out of its range.

    Example:
        >>> list(DistributedSampler("abcde", num_replicas=2, rank=1, shuffle=False))
        [1, 3, 0]
    """

    def __init__(
        self,
        dataset: Any,
        num_replicas: int | None = None,
        rank: int | None = None,
        shuffle: bool = True,
        seed: int = 0,
        drop_last: bool = False,
    ) -> None:
        call = f"DistributedSampler(num_replicas={num_replicas!r}, rank={rank!r})"
        if num_replicas is None or rank is None:
            raise ArgumentValueError(f"{call}: give both the number of processes and this one's rank.")
        if not 0 <= rank < num_replicas:
            raise ArgumentValueError(f"{call}: rank must be at least 0 and less than num_replicas.")
        self.dataset = dataset
        self.num_replicas = num_replicas
        self.rank = rank
        self.epoch = 0
        self.drop_last = drop_last
        rounding = 0 if drop_last else num_replicas - 1
        self.num_samples = (len(dataset) + rounding) // num_replicas
        self.total_size = self.num_samples * num_replicas
        self.shuffle = shuffle
        self.seed = seed

    def __iter__(self) -> Iterator[int]:
        order = list(range(len(self.dataset)))
        if self.shuffle:
            generator = _tensors.seeded_generator(self.seed + self.epoch)
            order = _tensors.permutation(len(order), generator)
        places = itertools.islice(itertools.cycle(order), self.total_size)
        return itertools.islice(places, self.rank, None, self.num_replicas)

    def __len__(self) -> int:
        return self.num_samples

    def set_epoch(self, epoch: int) -> None:
        """Choose the epoch whose random order the next iteration takes."""
        self.epoch = epoch
