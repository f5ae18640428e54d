"""The DataLoader: batches, orders, draws and errors, compared with torch.utils.data."""

import itertools
import warnings

import numpy as np
import pytest

import funtorch as torch
from funtorch.utils.data.dataset import IterableDataset


def stream(library, size, length=None):
    """A stream of ``size`` numbers; with a ``length``, one that claims to have that many."""

    class Stream(library.utils.data.IterableDataset):
        def __iter__(self):
            return iter(range(size))

    class Sized(Stream):
        def __len__(self):
            return length

    return Stream() if length is None else Sized()


class EagerOrder:
    """A sampler that draws its order already when it is asked for an iterator."""

    def __init__(self, library, size):
        self.library, self.size = library, size

    def __iter__(self):
        return iter(self.library.randperm(self.size).tolist())

    def __len__(self):
        return self.size


MAP_OPTIONS = [
    {},
    {"batch_size": 3},
    {"batch_size": 3, "drop_last": True},
    {"batch_size": 100},
    {"batch_size": 100, "drop_last": True},
    {"batch_size": None},
    {"shuffle": True},
    {"shuffle": 1},
    {"shuffle": True, "batch_size": 3},
    {"shuffle": True, "batch_size": None},
    {"sampler": [3, 1, 1]},
    {"sampler": [3, 1, 1], "batch_size": 2},
    {"sampler": [3, 1, 1], "batch_size": None},
    {"batch_sampler": [[0, 1], [4], [2, 2, 2]]},
    {"collate_fn": list},
    {"collate_fn": sum, "batch_size": 4},
    {"collate_fn": str, "batch_size": None},
    {"timeout": 0.0, "pin_memory": False, "in_order": False, "worker_init_fn": print},
]


@pytest.mark.parametrize("options", MAP_OPTIONS, ids=str)
@pytest.mark.parametrize("seeded", [False, True], ids=["default generator", "own generator"])
def test_epochs(same, options, seeded):
    def epochs(t):
        generator = t.Generator().manual_seed(5) if seeded else None
        loader = t.utils.data.DataLoader(range(10), generator=generator, **options)
        first, second = list(loader), list(loader)
        # The last draws show that both generators have moved equally far.
        return [len(loader), first, second, t.rand(1), t.rand(1, generator=generator)]

    same(epochs)


@pytest.mark.parametrize("batch_size", [1, 2, None])
def test_a_sampler_that_draws_early(same, batch_size):
    def epochs(t):
        loader = t.utils.data.DataLoader(range(6), batch_size, sampler=EagerOrder(t, 6))
        return [list(loader), list(loader), t.rand(1)]

    same(epochs)


def test_iterators_do_not_disturb_each_other(same):
    def interleave(t):
        loader = t.utils.data.DataLoader(range(6), shuffle=True)
        return [[int(a), int(b)] for a, b in zip(loader, loader, strict=True)]

    same(interleave)


@pytest.mark.parametrize("size", [0, 1, 6, 7])
@pytest.mark.parametrize("batch_size", [1, 3, None])
@pytest.mark.parametrize("drop_last", [False, True])
def test_streams(same, size, batch_size, drop_last):
    def epochs(t):
        loader = t.utils.data.DataLoader(stream(t, size, size), batch_size, drop_last=drop_last)
        return [list(loader), list(loader), len(loader), t.rand(1)]

    same(epochs)


def test_streams_without_length(same):
    assert same(lambda t: len(t.utils.data.DataLoader(stream(t, 4)))) is TypeError
    same(lambda t: list(t.utils.data.DataLoader(stream(t, 4), shuffle=False)))


def test_a_stream_longer_than_it_said():
    loader = torch.utils.data.DataLoader(stream(torch, 3, length=2))
    assert len([*iter(loader)]) == 3  # no word before anyone asked for the length
    assert len(loader) == 2
    batches = iter(loader)
    with warnings.catch_warnings(action="error"):
        next(batches), next(batches)
    with pytest.warns(UserWarning, match="said 2, and 3"):
        next(batches)


def test_a_stream_that_begins_anew_ends_all_the_same():
    class Again(IterableDataset):
        def __iter__(self):
            return self

        def __init__(self):
            self.numbers = itertools.count()

        def __next__(self):
            number = next(self.numbers)
            if number % 4 == 3:
                raise StopIteration
            return number

    assert [b.tolist() for b in torch.utils.data.DataLoader(Again(), 2)] == [[0, 1], [2]]


def test_a_dataset_that_fetches_batches(same):
    def fetch(t):
        class Batched(t.utils.data.Dataset):
            def __len__(self):
                return 5

            def __getitem__(self, index):
                return index

            def __getitems__(self, indices):
                return [-index for index in indices]

        load = t.utils.data.DataLoader
        return [list(load(Batched(), 2)), list(load(Batched(), None)), list(load([0] * 5, sampler=[1]))]

    same(fetch)


def test_keys_of_any_kind(same):
    same(lambda t: list(t.utils.data.DataLoader({"a": 1.0, "b": 2.0}, 2, sampler=["b", "a"])))


def test_arrays_and_tuples(same):
    data = [(np.full((2, 2), i, np.float32), i, f"name {i}") for i in range(5)]
    same(lambda t: list(t.utils.data.DataLoader(data, 2)))
    same(lambda t: list(t.utils.data.DataLoader(data, None)))


def test_tensor_dataset(same):
    def epochs(t):
        data = t.utils.data.TensorDataset(t.arange(12.0).reshape(6, 2), t.arange(6))
        return list(t.utils.data.DataLoader(data, 4, shuffle=True, generator=t.Generator().manual_seed(1)))

    same(epochs)


@pytest.mark.parametrize(
    "options",
    [
        {"num_workers": -1}, {"timeout": -1}, {"prefetch_factor": 2}, {"persistent_workers": True},
        {"sampler": [0], "shuffle": True}, {"batch_sampler": [[0]], "batch_size": 2},
        {"batch_sampler": [[0]], "batch_size": None}, {"batch_sampler": [[0]], "shuffle": True},
        {"batch_sampler": [[0]], "sampler": [0]}, {"batch_sampler": [[0]], "drop_last": True},
        {"batch_size": None, "drop_last": True}, {"batch_size": 0}, {"batch_size": -1}, {"batch_size": 1.5},
        {"batch_size": True}, {"drop_last": 1}, {"multiprocessing_context": "spawn"},
        {"num_workers": 1, "prefetch_factor": -1}, {"num_workers": "a"}, {"num_workers": None},
    ],
    ids=str,
)  # fmt: skip
def test_options_that_do_not_go_together(same, options):
    assert same(lambda t: t.utils.data.DataLoader(range(4), **options)) in (ValueError, TypeError)


@pytest.mark.parametrize(
    "options",
    [{"shuffle": True}, {"shuffle": 1}, {"sampler": [0]}, {"batch_sampler": [[0]]}, {"batch_size": 0}],
    ids=str,
)
def test_options_that_streams_do_not_take(same, options):
    assert same(lambda t: t.utils.data.DataLoader(stream(t, 4), **options)) is ValueError


def test_an_empty_dataset(same):
    assert same(lambda t: list(t.utils.data.DataLoader([]))) == ("list", [])
    assert same(lambda t: list(t.utils.data.DataLoader([], shuffle=True))) is ValueError


def test_a_timeout_without_workers(same):
    assert same(lambda t: len(t.utils.data.DataLoader(range(4), timeout=3))) == 4
    assert same(lambda t: list(t.utils.data.DataLoader(range(4), timeout=3))) is AssertionError
    with pytest.raises(AssertionError, match=r"timeout=3.*num_workers=0"):
        iter(torch.utils.data.DataLoader(range(4), timeout=3))


FIXED = ["dataset", "batch_size", "sampler", "drop_last", "batch_sampler", "persistent_workers"]


@pytest.mark.parametrize("name", [*FIXED, "num_workers", "collate_fn", "generator", "of my own"])
def test_attributes_set_later(same, name):
    want = same(lambda t: setattr(t.utils.data.DataLoader(range(4)), name, None))
    assert want is (ValueError if name in FIXED else None)


@pytest.mark.parametrize(
    "options",
    [{}, {"batch_size": 3, "drop_last": True}, {"batch_size": None}, {"batch_sampler": [[1]]}],
    ids=str,
)
def test_attributes(same, options):
    names = ["batch_size", "drop_last", "num_workers", "prefetch_factor", "pin_memory", "pin_memory_device"]
    names += [
        "timeout",
        "worker_init_fn",
        "multiprocessing_context",
        "persistent_workers",
        "in_order",
        "generator",
    ]
    same(lambda t: [getattr(t.utils.data.DataLoader(range(9), **options), name) for name in names])


@pytest.mark.parametrize(
    "options, parts",
    [
        ({"num_workers": -1}, ["num_workers=-1", "not be negative"]),
        ({"timeout": -2}, ["timeout=-2"]),
        ({"prefetch_factor": 2}, ["prefetch_factor=2", "num_workers=0"]),
        ({"persistent_workers": True}, ["persistent_workers=True", "num_workers=0"]),
        ({"sampler": [0], "shuffle": True}, ["sampler", "shuffle=True"]),
        ({"batch_sampler": [[0]], "batch_size": 2}, ["batch_sampler", "batch_size=2"]),
        ({"batch_size": None, "drop_last": True}, ["batch_size=None", "drop_last=True"]),
    ],
)
def test_messages(options, parts):
    with pytest.raises(ValueError) as caught:
        torch.utils.data.DataLoader(range(4), **options)
    assert all(part in str(caught.value) for part in ["DataLoader(", *parts]), caught.value


def test_a_failing_dataset_is_heard():
    with pytest.raises(KeyError, match="lost"):
        list(torch.utils.data.DataLoader({0: 1, 2: 3}, sampler=[0, "lost"]))
