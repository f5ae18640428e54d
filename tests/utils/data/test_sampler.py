"""Samplers: orders, draws and errors, compared with torch.utils.data."""

import pytest

import funtorch as torch

SIZES = [1, 2, 7, 40, 100]


@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("seeded", [False, True], ids=["default generator", "own generator"])
@pytest.mark.parametrize(
    "options",
    [{}, {"num_samples": 1}, {"num_samples": 33}, {"num_samples": 80}, {"num_samples": True}],
    ids=str,
)
@pytest.mark.parametrize("replacement", [False, True])
def test_random_orders(same, size, seeded, options, replacement):
    def orders(t):
        generator = t.Generator().manual_seed(5) if seeded else None
        sampler = t.utils.data.RandomSampler(range(size), replacement, generator=generator, **options)
        # The last draws show that both generators have moved equally far.
        after = [t.rand(1), t.rand(1, generator=generator)]
        return [len(sampler), sampler.num_samples, list(sampler), list(sampler), *after]

    same(orders)


@pytest.mark.parametrize(
    "arguments",
    [
        ("abc", 1), ("abc", None), ("abc", False, 0), ("abc", False, -1), ("abc", False, 1.5), ("",),
        ("", True), ("abc", False, 2),
    ],
    ids=str,
)  # fmt: skip
def test_random_sampler_arguments(same, arguments):
    same(lambda t: len(t.utils.data.RandomSampler(*arguments)))


def test_random_sampler_follows_the_dataset(same):
    def grow(t):
        data = [0, 1]
        sampler = t.utils.data.RandomSampler(data)
        data.append(2)
        return [len(sampler), list(sampler)]

    same(grow)


@pytest.mark.parametrize("size", [0, 1, 7])
def test_sequential_and_subset(same, size):
    same(lambda t: [len(s := t.utils.data.SequentialSampler(range(size))), list(s), list(s)])
    indices = [10 * i for i in range(size)]
    same(lambda t: [len(s := t.utils.data.SubsetRandomSampler(indices)), list(s), list(s), t.rand(1)])

    def seeded(t):
        return list(t.utils.data.SubsetRandomSampler(indices, generator=t.Generator().manual_seed(1)))

    same(seeded)


@pytest.mark.parametrize(
    "arguments",
    [
        ([1.0, 2.0, 3.0], 5), ([0.0, 1.0, 0.0, 3.0], 200), ([5, 1], 1), ([1.0, 2.0, 3.0], 3, False),
        ([1.0, 2.0, 3.0, 0.5], 2, False), ([1, 2], 3, False), ([1, 2], 0), ([1, 2], -1), ([1, 2], True),
        ([1, 2], 1.0), ([1, 2], 1, 1), ([[1, 2]], 1), (1.0, 1), ([1.0, -1.0], 1), ([0.0, 0.0], 1),
    ],
    ids=str,
)  # fmt: skip
def test_weighted(same, arguments):
    def draw(t):
        sampler = t.utils.data.WeightedRandomSampler(*arguments)
        return [len(sampler), list(sampler), list(sampler), t.rand(1), sampler.weights]

    def seeded(t):
        generator = t.Generator().manual_seed(2)
        return list(t.utils.data.WeightedRandomSampler(*arguments, generator=generator))

    same(draw)
    if len(arguments) < 3:
        same(seeded)


@pytest.mark.parametrize("source", [range(0), range(1), range(6), range(7), "abc"], ids=str)
@pytest.mark.parametrize("batch_size", [1, 2, 3, 10, 0, -1, True, 2.0])
@pytest.mark.parametrize("drop_last", [False, True, 1, None])
def test_batches(same, source, batch_size, drop_last):
    same(lambda t: [len(s := t.utils.data.BatchSampler(source, batch_size, drop_last)), list(s), list(s)])


def test_batches_of_an_iterator(same):
    same(lambda t: list(t.utils.data.BatchSampler(iter(range(7)), 2, True)))
    same(lambda t: len(t.utils.data.BatchSampler(iter(range(7)), 2, True)))


def test_subclasses_write_the_order(same):
    def backwards(t):
        class Backwards(t.utils.data.Sampler[int]):
            def __iter__(self):
                return iter([3, 1])

        return [list(Backwards()), list(t.utils.data.BatchSampler(Backwards(), 1, False))]

    same(backwards)
    same(lambda t: list(t.utils.data.Sampler()))
    same(lambda t: len(t.utils.data.Sampler()))
    same(lambda t: t.utils.data.Sampler([1]))


@pytest.mark.parametrize(
    "make, parts",
    [
        (lambda u: u.RandomSampler("abc", 1), ["RandomSampler", "replacement=1", "bool"]),
        (lambda u: u.RandomSampler("abc", num_samples=0), ["RandomSampler", "num_samples=0", "positive int"]),
        (lambda u: u.RandomSampler(""), ["RandomSampler", "num_samples=None", "0 samples"]),
        (lambda u: u.WeightedRandomSampler([1], 0), ["WeightedRandomSampler", "num_samples=0"]),
        (lambda u: u.WeightedRandomSampler([1], 1, 2), ["WeightedRandomSampler", "replacement=2"]),
        (lambda u: u.WeightedRandomSampler([[1.0, 2.0]], 1), ["WeightedRandomSampler", "one axis", "[1,2]"]),
        (lambda u: u.BatchSampler("abc", 0, False), ["BatchSampler", "batch_size=0"]),
        (lambda u: u.BatchSampler("abc", 2, 3), ["BatchSampler", "drop_last=3"]),
        (lambda u: iter(u.Sampler()), ["Sampler.__iter__"]),
    ],
)
def test_messages(make, parts):
    with pytest.raises(Exception) as caught:
        make(torch.utils.data)
    assert all(part in str(caught.value) for part in parts), caught.value
