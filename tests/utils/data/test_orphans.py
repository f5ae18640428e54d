"""Workers that lose the main process, or never get to their dataset; and what an error leaves behind."""

import functools
import gc
import operator
import os
import weakref

import pytest

from funtorch.utils.data import DataLoader
from funtorch.utils.data._orphans import is_orphan

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:RuntimeWarning", "ignore:.*fork:DeprecationWarning")


class Arrives(list):
    """A dataset that is, for another process, a call."""

    def __init__(self, *call):
        super().__init__(range(4))
        self.call = call

    def __reduce__(self):
        return self.call[0], self.call[1:]


def test_who_is_an_orphan():
    assert not is_orphan(os.getppid(), True) and is_orphan(os.getpid(), True) and not is_orphan(0, False)


def test_a_worker_of_the_forkserver_is_none():
    # It is no child of this process.
    asks = functools.partial(is_orphan, os.getpid())
    loader = DataLoader([False, True], batch_size=None, num_workers=1, collate_fn=asks, multiprocessing_context="forkserver")
    assert list(loader) == [False, True]


def test_a_dataset_that_cannot_be_unpickled():
    loader = DataLoader(Arrives(operator.truediv, 1, 0), num_workers=1, multiprocessing_context="spawn", persistent_workers=True)
    for _ in range(2):
        with pytest.raises(ZeroDivisionError, match="worker process 0, which was to unpickle the dataset"):
            next(iter(loader))
    assert loader.state_dict()["given"] == [0]


def test_a_worker_that_dies_before_it_is_ready():
    loader = DataLoader(Arrives(os._exit, 3), num_workers=1, multiprocessing_context="spawn")
    with pytest.raises(RuntimeError, match=r"exit code 3, before it was ready.*if __name__ == '__main__'"):
        next(iter(loader))


def test_an_error_keeps_no_workers():
    gc.disable()
    try:
        batches = iter(DataLoader(range(4), num_workers=1, collate_fn=lambda batch: 1 / 0))
        gone = weakref.ref(batches)
        with pytest.raises(ZeroDivisionError):
            next(batches)
        del batches
        assert gone() is None
    finally:
        gc.enable()
