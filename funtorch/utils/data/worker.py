"""What the code of a dataset can learn of the process that it runs in, and the seeds of that process."""

from __future__ import annotations

import random
from typing import Any

import numpy as np

from ...errors import OpError
from . import _tensors

__all__ = ["WorkerInfo", "get_worker_info"]

_current: WorkerInfo | None = None


class WorkerInfo:
    """A loader's worker process, as seen from inside it.

    Args:
        id: its number, 0 to ``num_workers`` - 1.
        num_workers: how many there are.
        seed: what its generators were seeded with; it differs between workers and between epochs.
        dataset: this process's copy of the dataset.
    """

    def __init__(self, id: int, num_workers: int, seed: int, dataset: Any) -> None:
        self.id = id
        self.num_workers = num_workers
        self.seed = seed
        self.dataset = dataset
        self._made = True

    def __setattr__(self, name: str, value: Any) -> None:
        if "_made" in self.__dict__:
            raise OpError(f"WorkerInfo.{name} = {value!r}: what it says of the worker can't be changed.")
        super().__setattr__(name, value)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={value}" for name, value in self.__dict__.items() if name != "_made")
        return f"WorkerInfo({shown})"


def get_worker_info() -> WorkerInfo | None:
    """Describe the loader's worker process that the call is made in; None in the main process.

    A dataset that is a stream asks it for its share: worker ``id`` of ``num_workers``.

    Example:
        >>> get_worker_info() is None
        True
    """
    return _current


def become(info: WorkerInfo, base_seed: int) -> None:
    """Make this process the worker that ``info`` tells of: seed ``random``, the default generator and NumPy."""
    global _current
    _current = info
    random.seed(info.seed)
    _tensors.seed_default(info.seed)
    np.random.seed(numpy_seed(base_seed, info.id))


def numpy_seed(base_seed: int, worker: int) -> np.ndarray:
    """The seed of a worker's NumPy: hashed, so that NumPy's and Python's twisters do not run alike; PyTorch's numbers."""
    words = [worker, base_seed & 0xFFFFFFFF, base_seed >> 32, 0]
    return np.random.SeedSequence(words).generate_state(4)
