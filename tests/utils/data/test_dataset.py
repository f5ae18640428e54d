"""Datasets and their combinations, compared with torch.utils.data."""

import pytest
import torch as oracle

import funtorch as torch

LETTERS = list("abcdefg")


def stream_class(library):
    class Stream(library.utils.data.IterableDataset):
        def __init__(self, size):
            self.size = size

        def __iter__(self):
            return iter(range(self.size))

        def __len__(self):
            return self.size

    return Stream


def batched_class(library, returned=None):
    """A dataset that fetches batches, of ``returned`` samples where that is given."""

    class Batched(library.utils.data.Dataset):
        def __getitem__(self, index):
            return index

        def __getitems__(self, indices):
            return [-index for index in indices][:returned]

        def __len__(self):
            return 7

    return Batched


SCENARIOS = {
    "no getitem": lambda t: t.utils.data.Dataset()[0],
    "no len": lambda t: len(t.utils.data.Dataset()),
    "abstract stream": lambda t: t.utils.data.IterableDataset(),
    "stream by index": lambda t: stream_class(t)(3)[0],
    "tensors": lambda t: t.utils.data.TensorDataset(t.arange(4), t.ones(4, 2))[2],
    "tensors, negative": lambda t: t.utils.data.TensorDataset(t.arange(4), t.ones(4, 2))[-1],
    "tensors, list": lambda t: t.utils.data.TensorDataset(t.arange(4))[[2, 0]],
    "tensors, slice": lambda t: t.utils.data.TensorDataset(t.arange(4))[1:3],
    "tensors, all": lambda t: list(t.utils.data.TensorDataset(t.arange(4))),
    "tensors, length": lambda t: len(t.utils.data.TensorDataset(t.ones(4, 2))),
    "tensors, unequal": lambda t: t.utils.data.TensorDataset(t.ones(4), t.ones(3)),
    "tensors, no axis": lambda t: t.utils.data.TensorDataset(t.tensor(1.0)),
    "tensors, too far": lambda t: t.utils.data.TensorDataset(t.ones(4))[4],
    "tensors, none": lambda t: t.utils.data.TensorDataset()[0],
    "stacked tuple": lambda t: t.utils.data.StackDataset(LETTERS, range(7))[3],
    "stacked dict": lambda t: t.utils.data.StackDataset(x=LETTERS, y=range(7))[3],
    "stacked length": lambda t: len(t.utils.data.StackDataset(x=LETTERS)),
    "stacked both ways": lambda t: t.utils.data.StackDataset(LETTERS, x=LETTERS),
    "stacked none": lambda t: t.utils.data.StackDataset(),
    "stacked unequal": lambda t: t.utils.data.StackDataset(LETTERS, [1]),
    "stacked unequal dict": lambda t: t.utils.data.StackDataset(x=LETTERS, y=[1]),
    "stacked many": lambda t: t.utils.data.StackDataset(LETTERS, batched_class(t)()).__getitems__([1, 4]),
    "stacked many, dict": lambda t: t.utils.data.StackDataset(x=LETTERS, y=batched_class(t)()).__getitems__([1, 4]),
    "stacked many, too few": lambda t: t.utils.data.StackDataset(batched_class(t, 1)()).__getitems__([1, 4]),
    "concatenated": lambda t: list(t.utils.data.ConcatDataset([LETTERS, [], "xy"])),
    "concatenated sizes": lambda t: t.utils.data.ConcatDataset([LETTERS, [], "xy"]).cumulative_sizes,
    "concatenated, iterator": lambda t: len(t.utils.data.ConcatDataset(iter([LETTERS, "xy"]))),
    "concatenated, last": lambda t: t.utils.data.ConcatDataset([LETTERS, "xy"])[-1],
    "concatenated, first": lambda t: t.utils.data.ConcatDataset([LETTERS, "xy"])[-9],
    "concatenated, too far": lambda t: t.utils.data.ConcatDataset([LETTERS, "xy"])[9],
    "concatenated, too negative": lambda t: t.utils.data.ConcatDataset([LETTERS, "xy"])[-10],
    "concatenated none": lambda t: t.utils.data.ConcatDataset([]),
    "concatenated stream": lambda t: t.utils.data.ConcatDataset([stream_class(t)(2)]),
    "sum": lambda t: list(batched_class(t)() + LETTERS + "xy"),
    "chained": lambda t: list(t.utils.data.ChainDataset([stream_class(t)(2), stream_class(t)(3)])),
    "chained twice": lambda t: [*(chain := stream_class(t)(2) + stream_class(t)(3)), *chain],
    "chained lazily": lambda t: list(t.utils.data.ChainDataset(stream_class(t)(n) for n in (2, 1))),
    "chained length": lambda t: len(t.utils.data.ChainDataset([stream_class(t)(2), stream_class(t)(3)])),
    "chained none": lambda t: list(t.utils.data.ChainDataset([])),
    "chained list": lambda t: list(t.utils.data.ChainDataset([LETTERS])),
    "chained list, length": lambda t: len(t.utils.data.ChainDataset([LETTERS])),
    "subset": lambda t: list(t.utils.data.Subset(LETTERS, [5, 0, 0])),
    "subset length": lambda t: len(t.utils.data.Subset(LETTERS, range(2))),
    "subset, negative": lambda t: t.utils.data.Subset(LETTERS, [5, 0, 3])[-1],
    "subset, too far": lambda t: t.utils.data.Subset(LETTERS, [5, 0, 3])[3],
    "subset, list": lambda t: t.utils.data.Subset(t.utils.data.TensorDataset(t.arange(7)), [5, 0, 3])[[0, 2]],
    "subset many": lambda t: t.utils.data.Subset(LETTERS, [5, 0, 3]).__getitems__([0, 2]),
    "subset many, at once": lambda t: t.utils.data.Subset(batched_class(t)(), [5, 0, 3]).__getitems__([0, 2]),
}


@pytest.mark.parametrize("scenario", SCENARIOS.values(), ids=SCENARIOS.keys())
def test_datasets(same, scenario):
    same(scenario)


@pytest.mark.parametrize(
    "lengths",
    [
        [3, 4], [7], [7, 0], [1, 1, 5], [-1, 8], [3, 3], [],
        [0.5, 0.5], [0.3, 0.3, 0.4], [1.0], [1 / 3] * 3, [0.2] * 5,
        [0.5, 0.6], [0.5, 0.4], [1.5, -0.5], [0.2, 0.3], [True],
    ],
    ids=str,
)  # fmt: skip
def test_random_split(same, lengths):
    def split(t):
        first = t.utils.data.random_split(LETTERS, lengths)
        second = t.utils.data.random_split(LETTERS, lengths, generator=t.Generator().manual_seed(3))
        return [(list(part), list(part.indices)) for part in first + second] + [t.rand(1)]

    same(split)


@pytest.mark.parametrize("data, lengths, empty", [("ab", [0.4, 0.3, 0.3], "[2]"), ("", [0.5, 0.5], "[0, 1]")])
def test_random_split_tells_of_empty_parts(data, lengths, empty):
    with pytest.warns(UserWarning, match="empty") as caught:
        parts = torch.utils.data.random_split(data, lengths)
    assert empty in str(caught[0].message) and caught[0].filename == __file__
    with pytest.warns(UserWarning):
        assert list(map(len, parts)) == list(map(len, oracle.utils.data.random_split(data, lengths)))


@pytest.mark.parametrize(
    "make, parts",
    [
        (lambda u: u.TensorDataset(torch.ones(4), torch.ones(3)), ["TensorDataset", "[4, 3]"]),
        (lambda u: u.StackDataset([1], [1, 2]), ["StackDataset", "[1, 2]"]),
        (lambda u: u.StackDataset([1], x=[1]), ["StackDataset", "both"]),
        (lambda u: u.StackDataset(), ["StackDataset", "none"]),
        (lambda u: u.ConcatDataset([]), ["ConcatDataset", "none"]),
        (lambda u: u.ConcatDataset(["ab"])[5], ["ConcatDataset[5]", "2 samples"]),
        (lambda u: u.ConcatDataset(["ab"])[-5], ["ConcatDataset[-5]", "2 samples"]),
        (lambda u: u.ConcatDataset([stream_class(torch)(2)]), ["ConcatDataset", "Stream", "ChainDataset"]),
        (lambda u: list(u.ChainDataset([[1]])), ["ChainDataset", "list", "ConcatDataset"]),
        (lambda u: u.random_split("abc", [1, 1]), ["random_split", "[1, 1]", "3", "2"]),
        (lambda u: u.random_split("abc", [1.5, -0.5]), ["random_split", "[1.5, -0.5]", "between 0 and 1"]),
        (lambda u: u.Dataset()[0], ["Dataset.__getitem__"]),
    ],
)
def test_messages(make, parts):
    with pytest.raises(Exception) as caught:
        make(torch.utils.data)
    assert all(part in str(caught.value) for part in parts), caught.value
