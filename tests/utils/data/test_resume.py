"""Going on with an epoch in another DataLoader: the batches, orders and draws that would have come."""

import itertools
import pickle
import random

import numpy as np
import pytest

import funtorch as torch
from funtorch.utils.data import DataLoader, Dataset, IterableDataset, SubsetRandomSampler, get_worker_info

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:RuntimeWarning", "ignore:.*fork:DeprecationWarning")


class Drawing(Dataset):
    """Samples with random numbers of three kinds."""

    def __len__(self):
        return 13

    def __getitem__(self, index):
        return [index, random.random(), float(np.random.rand()), float(torch.rand(()))]


class Stream(IterableDataset):
    """A stream that shuffles in a buffer, with random numbers of three kinds."""

    def __iter__(self):
        me = get_worker_info()
        numbers = list(range(20)) if me is None else list(range(me.id, 20, me.num_workers))
        random.shuffle(numbers)
        for number in numbers:
            yield [number, random.random(), float(np.random.rand()), float(torch.rand(()))]


class Counting(IterableDataset):
    """A stream that can tell where it is."""

    def __init__(self):
        self.place, self.read = 0, 0

    def __iter__(self):
        while self.place < 10:
            self.place += 1
            self.read += 1
            yield self.place, self.read

    def state_dict(self):
        return {"place": self.place}

    def load_state_dict(self, state):
        self.place = state["place"]


def seed():
    random.seed(0), np.random.seed(0), torch.manual_seed(0)


def own(**options):
    return options | {"generator": torch.Generator().manual_seed(3)}


def rest_of(make, taken, epochs, same_randoms):
    """What comes of a loader after ``taken`` batches, and of another that goes on from its state there."""
    seed()
    loader = make()
    for _ in range(epochs):
        list(loader)
    batches = iter(loader)
    for _ in range(taken):
        next(batches)
    state = pickle.loads(pickle.dumps(loader.state_dict()))
    randoms = random.getstate(), np.random.get_state(), torch.get_rng_state()
    want = [list(batches), list(loader), torch.rand(1)]
    torch.manual_seed(99), random.seed(99), np.random.seed(99)
    other = make()
    other.load_state_dict(state)
    if same_randoms:
        random.setstate(randoms[0]), np.random.set_state(randoms[1]), torch.set_rng_state(randoms[2])
    got = [list(other), list(other), torch.rand(1)]
    return got, want


OPTIONS = [
    lambda: {"shuffle": True, "batch_size": 2},
    lambda: own(shuffle=True, batch_size=2),
    lambda: {"batch_size": 3, "drop_last": True},
    lambda: {"batch_size": None, "shuffle": True},
    lambda: {"sampler": SubsetRandomSampler(range(9)), "batch_size": 2},
    lambda: own(sampler=SubsetRandomSampler(range(9), torch.Generator().manual_seed(8))),
]


@pytest.mark.parametrize("options", OPTIONS)
@pytest.mark.parametrize("workers", [0, 2])
@pytest.mark.parametrize("taken, epochs", [(0, 0), (1, 0), (3, 1)])
def test_going_on(options, workers, taken, epochs):
    got, want = rest_of(lambda: DataLoader(Drawing(), num_workers=workers, **options()), taken, epochs, same_randoms=True)
    assert str(got) == str(want)


@pytest.mark.parametrize("taken, epochs", [(0, 0), (5, 0), (2, 1), (7, 1)])
@pytest.mark.parametrize("persistent", [False, True])
@pytest.mark.parametrize("dataset", [Drawing, Stream])
def test_random_numbers_of_workers_go_on(taken, epochs, persistent, dataset):
    def make():
        return DataLoader(dataset(), 2, num_workers=2, persistent_workers=persistent, generator=torch.Generator().manual_seed(1))

    got, want = rest_of(make, taken, epochs, same_randoms=False)
    assert str(got[:2]) == str(want[:2])


def test_a_state_at_the_end_begins_the_next_epoch():
    loader = DataLoader(range(6), 2, shuffle=True, generator=torch.Generator().manual_seed(1))
    list(loader)
    state = loader.state_dict()
    want = list(loader)
    other = DataLoader(range(6), 2, shuffle=True, generator=torch.Generator())
    other.load_state_dict(state)
    assert str(list(other)) == str(want)


def test_samples_are_not_loaded_again():
    loaded = []

    class Noting(Drawing):
        def __getitem__(self, index):
            loaded.append(index)
            return index

    loader = DataLoader(Noting(), 2)
    list(itertools.islice(loader, 3))
    state = loader.state_dict()
    loaded.clear()
    other = DataLoader(Noting(), 2)
    other.load_state_dict(state)
    list(other)
    assert loaded == list(range(6, 13))


@pytest.mark.parametrize("workers", [0, 1])
def test_datasets_that_tell_their_state(workers):
    loader = DataLoader(Counting(), None, num_workers=workers)
    batches = iter(loader)
    assert [next(batches) for _ in range(4)][-1] == [4, 4]
    state = pickle.loads(pickle.dumps(loader.state_dict()))
    other = DataLoader(Counting(), None, num_workers=workers)
    other.load_state_dict(state)
    assert list(other) == [[5 + i, 1 + i] for i in range(6)]  # four were not read again


def test_another_number_of_workers():
    loader = DataLoader(range(10), 2, shuffle=True, num_workers=2, generator=torch.Generator().manual_seed(1))
    batches = iter(loader)
    next(batches), next(batches)
    state = loader.state_dict()
    want = list(batches)
    for workers in (0, 1, 3):
        other = DataLoader(range(10), 2, shuffle=True, num_workers=workers, generator=torch.Generator())
        other.load_state_dict(state)
        assert str(list(other)) == str(want)
    with pytest.raises(ValueError, match=r"num_workers=2.*num_workers=3"):
        DataLoader(Stream(), num_workers=3).load_state_dict(state)


def test_what_is_no_state():
    with pytest.raises(ValueError, match="no 'generators'"):
        DataLoader(range(3)).load_state_dict({"epoch": 3})


def test_a_state_is_saved_with_a_checkpoint(tmp_path):
    loader = DataLoader(Drawing(), 2, shuffle=True, num_workers=1)
    batches = iter(loader)
    next(batches)
    torch.save({"loader": loader.state_dict()}, tmp_path / "checkpoint.pt")
    state = torch.load(tmp_path / "checkpoint.pt")["loader"]
    want = list(batches)
    other = DataLoader(Drawing(), 2, shuffle=True, num_workers=1)
    other.load_state_dict(state)
    assert str(list(other)) == str(want)


class Drawn(IterableDataset):
    """A stream in an order of the default generator's, which draws on."""

    def __iter__(self):
        for number in torch.randperm(12).tolist():
            yield number, float(torch.rand(())), random.random()


@pytest.mark.parametrize("taken", [1, 3])
def test_a_stream_in_the_main_process(taken):
    """What is read over again is in the old order, and draws nothing from what the checkpoint gave back."""
    seed()
    loader = DataLoader(Drawn(), batch_size=2)
    batches = iter(loader)
    for _ in range(taken):
        next(batches)
    state, torch_state, python_state = loader.state_dict(), torch.get_rng_state(), random.getstate()
    to_come = [[part.tolist() for part in batch] for batch in batches]
    torch.manual_seed(7)
    torch.set_rng_state(torch_state)
    random.setstate(python_state)
    other = DataLoader(Drawn(), batch_size=2)
    other.load_state_dict(state)
    assert [[part.tolist() for part in batch] for batch in other] == to_come
