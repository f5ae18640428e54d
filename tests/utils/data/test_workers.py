"""Loading in worker processes: batches, orders, seeds and draws, compared with torch.utils.data."""

import copy
import multiprocessing
import os
import pickle
import random
import re
import time

import numpy as np
import pytest

import funtorch as torch
from funtorch import nn
from funtorch.utils.data import DataLoader, get_worker_info
from funtorch.utils.data.worker import WorkerInfo, numpy_seed

# The oracle forks beside JAX's threads as well, without a word on why it may.
# And it warns of more workers than processors.
pytestmark = pytest.mark.filterwarnings(
    "ignore:.*fork:RuntimeWarning", "ignore:.*fork:DeprecationWarning", "ignore:This DataLoader will create"
)


def shown(value):
    """A parameter's name in a test's: without addresses, which differ between processes."""
    return re.sub(r" at 0x[0-9a-f]+", "", getattr(value, "__name__", str(value)))


def drawing(t):
    """A dataset of 10 samples that say what a worker's generators draw, and who it is."""

    class Drawing(t.utils.data.Dataset):
        def __len__(self):
            return 10

        def __getitem__(self, index):
            me = t.utils.data.get_worker_info()
            draws = [random.random(), float(np.random.rand()), t.rand(2), t.randint(100, (1,)), t.randn(1)]
            return [index, draws, me.id, me.num_workers, me.seed]

    return Drawing()


def share(t, size, length=None):
    """A stream of the numbers below ``size``, of which each worker yields its share."""

    class Share(t.utils.data.IterableDataset):
        def __iter__(self):
            me = t.utils.data.get_worker_info()
            assert me is None or me.dataset is self
            return iter(range(size)) if me is None else iter(range(me.id, size, me.num_workers))

        def __len__(self):
            return size if length is None else length

    return Share()


OPTIONS = [
    {},
    {"batch_size": 3},
    {"batch_size": 3, "drop_last": True},
    {"batch_size": None},
    {"shuffle": True},
    {"shuffle": True, "batch_size": 4, "num_workers": 1},
    {"shuffle": True, "persistent_workers": True},
    {"shuffle": True, "batch_size": 2, "prefetch_factor": 5},
    {"sampler": [3, 1, 1], "num_workers": 5},
    {"batch_sampler": [[0, 1], [4], [2, 2, 2]]},
    {"collate_fn": list, "batch_size": 2},
    {"pin_memory": False, "timeout": 60, "worker_init_fn": lambda number: random.seed(number)},
    {"multiprocessing_context": "fork"},
    {"multiprocessing_context": multiprocessing.get_context("fork")},
]


@pytest.mark.parametrize("options", OPTIONS, ids=shown)
@pytest.mark.parametrize("seeded", [False, True], ids=["default generator", "own generator"])
def test_epochs(same, options, seeded):
    def epochs(t):
        generator = t.Generator().manual_seed(5) if seeded else None
        loader = t.utils.data.DataLoader(drawing(t), generator=generator, **{"num_workers": 2, **options})
        first, second = list(loader), list(loader)
        # The last draws show that the generators here have moved equally far.
        return [len(loader), first, second, t.rand(1), t.rand(1, generator=generator)]

    same(epochs)


def test_the_order_does_not_depend_on_the_number_of_workers():
    def order(workers):
        loader = DataLoader(range(20), 3, shuffle=True, num_workers=workers, generator=torch.Generator().manual_seed(4))
        return [batch.tolist() for _ in range(2) for batch in loader]

    assert order(0) == order(1) == order(3)


@pytest.mark.parametrize("size", [0, 1, 9])
@pytest.mark.parametrize("batch_size", [1, 4, None])
@pytest.mark.parametrize("drop_last", [False, True])
@pytest.mark.parametrize("persistent", [False, True])
def test_streams(same, size, batch_size, drop_last, persistent):
    def epochs(t):
        loader = t.utils.data.DataLoader(
            share(t, size), batch_size, drop_last=drop_last, num_workers=2, persistent_workers=persistent
        )
        return [list(loader), list(loader), t.rand(1)]

    same(epochs)


def test_a_stream_that_is_not_shared_out():
    class Whole(torch.utils.data.IterableDataset):
        def __iter__(self):
            return iter(range(3))

        def __len__(self):
            return 3

    loader = DataLoader(Whole(), None, num_workers=2)
    assert len(loader) == 3
    with pytest.warns(UserWarning, match=r"said 3, and 4.*get_worker_info"):
        assert list(loader) == [0, 0, 1, 1, 2, 2]


@pytest.mark.parametrize("base_seed", [0, 1, 2**40 + 17, 2**63 - 1])
def test_seeds_of_numpy(base_seed):
    from torch.utils.data._utils.worker import _generate_state

    assert numpy_seed(base_seed, 3).tolist() == _generate_state(base_seed, 3)


def test_worker_info():
    info = WorkerInfo(1, 2, 3, "data")
    assert repr(info) == "WorkerInfo(id=1, num_workers=2, seed=3, dataset=data)"
    with pytest.raises(RuntimeError, match="seed = 4"):
        info.seed = 4
    assert get_worker_info() is None


def test_the_random_numbers_here_are_left_alone():
    np.random.seed(0), random.seed(0)
    before = np.random.get_state()[1].tolist(), random.getstate()
    list(DataLoader(drawing(torch), num_workers=2))
    assert before == (np.random.get_state()[1].tolist(), random.getstate())


class Samples(torch.utils.data.Dataset):
    """Eight samples made by a function."""

    def __init__(self, make):
        self.make = make

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.make(index)


def test_tensors_are_computed_with_in_workers(same):
    def epoch(t):
        layer = t.nn.Conv2d(1, 2, 3)
        weight = t.nn.Parameter(t.arange(18.0).reshape(2, 1, 3, 3))
        layer.weight, layer.bias = weight, t.nn.Parameter(t.ones(2))
        images = t.arange(8 * 36.0).reshape(8, 1, 6, 6)

        def make(index):
            x = t.tensor([float(index), 2.0], requires_grad=True)
            (x**3).sum().backward()
            with t.no_grad():
                y = layer(images[index : index + 1])[0]
            return {"conv": y, "grad": x.grad, "sorted": images[index].flatten().sort(descending=True)[0][:3]}

        return list(t.utils.data.DataLoader(Samples(make), 4, num_workers=2))

    same(epoch)


def test_kernels_here_and_workers_get_on():
    with torch.set_engine("kernel"):
        x = torch.randn(8, 200, 200)
        layer = nn.Linear(200, 3)
        layer(x).sum().backward()  # XLA's threads are there
        compiled = torch.compile(lambda x: layer(x).sum())
        want = [float(compiled(x[i])) for i in range(8)]
        loader = DataLoader(Samples(lambda i: float(compiled(x[i]))), num_workers=2)
        assert [float(b) for b in loader] == pytest.approx(want, rel=1e-4)


def test_the_engine_of_a_forked_worker_is_numpy():
    def in_worker(index):
        with torch.set_engine("kernel"):
            return (torch.ones(30, 30) @ torch.ones(30, 30)).sum().item()

    assert [float(b) for b in DataLoader(Samples(in_worker), num_workers=1, pin_memory=True)] == [27000.0] * 8


def test_what_needs_xla_says_so_in_a_forked_worker():
    from funtorch.core import forked

    def in_worker(index):
        forked.refuse_xla("something")

    with pytest.raises(RuntimeError, match=r"something can't run in a worker process.*multiprocessing_context='spawn'"):
        list(DataLoader(Samples(in_worker), num_workers=1))
    forked.refuse_xla("something")  # not here


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16", "float16", "int64", "int8", "uint8", "bool", "complex64"])
@pytest.mark.parametrize("shape", [(), (0, 3), (5,), (100, 100)], ids=str)
def test_tensors_arrive_as_they_were(dtype, shape):
    want = (torch.arange(int(np.prod(shape))) % 5).reshape(shape).to(getattr(torch, dtype))
    (got,) = DataLoader(Samples(lambda i: want), None, sampler=[0], num_workers=1)
    assert got.dtype == want.dtype and got.shape == want.shape and torch.equal(got, want)
    if shape and dtype != "bool":
        got += 1  # its memory is its own
        assert torch.equal(got, want + 1)


def test_samples_of_any_kind_arrive():
    sample = {
        "text": "x" * 100_000,
        "bytes": b"y" * 100_000,
        "fortran": np.asfortranarray(np.arange(6000.0).reshape(60, 100)),
        "strided": np.arange(10_000)[::3],
        "objects": np.array([None, "a"], dtype=object),
        "many": [np.full(2000, i) for i in range(50)],
        "parameter": nn.Parameter(torch.ones(1000)),
    }
    (got,) = DataLoader(Samples(lambda i: sample), None, sampler=[0], num_workers=1, collate_fn=lambda x: x)
    assert got["text"] == sample["text"] and got["bytes"] == sample["bytes"] and list(got["objects"]) == [None, "a"]
    assert all(np.array_equal(got[name], sample[name]) for name in ("fortran", "strided"))
    assert [a[0] for a in got["many"]] == list(range(50))
    assert isinstance(got["parameter"], nn.Parameter) and got["parameter"].requires_grad


def test_long_lists_of_keys_and_answers_do_not_block_each_other():
    keys = [list(range(2000 + i)) for i in range(300)]  # far more than a socket holds, either way
    loader = DataLoader(
        Samples(lambda key: key), batch_sampler=keys, num_workers=2, prefetch_factor=100,
        collate_fn=lambda batch: ("z" * 3900, len(batch)),
    )  # fmt: skip
    assert [count for _, count in loader] == [len(some) for some in keys]


def test_batches_as_they_come():
    def make(index):
        time.sleep(0.3 if index == 0 else 0)
        return index

    options = {"num_workers": 2, "in_order": False, "collate_fn": lambda batch: batch[0]}
    got = list(DataLoader(Samples(make), **options))
    assert sorted(got) == list(range(8)) and got[0] != 0
    assert list(DataLoader(Samples(make), num_workers=2, collate_fn=lambda batch: batch[0])) == list(range(8))


def pids(loader):
    return {int(pid) for pid in loader}


@pytest.mark.parametrize("persistent", [False, True])
def test_who_stays(persistent):
    loader = DataLoader(Samples(lambda i: os.getpid()), num_workers=2, persistent_workers=persistent)
    first, second = pids(loader), pids(loader)
    assert os.getpid() not in first and len(first) == len(second) == 2
    assert (first == second) == persistent
    assert [p.pid in first for p in multiprocessing.active_children()] == [True] * 2 * persistent
    del loader
    assert multiprocessing.active_children() == []


def test_an_epoch_that_is_left_early(same):
    def epochs(t):
        loader = t.utils.data.DataLoader(drawing(t), shuffle=True, num_workers=2, persistent_workers=True)
        some = [next(iter(loader))[0] for _ in range(3)]
        return [*some, [batch[0] for batch in loader]]

    same(epochs)
    assert multiprocessing.active_children() == []


def test_two_loaders_at_once():
    one, two = (DataLoader(range(6), num_workers=2, shuffle=shuffle) for shuffle in (False, True))
    pairs = [(int(a), int(b)) for a, b in zip(one, two, strict=True)]
    assert [a for a, _ in pairs] == list(range(6)) == sorted(b for _, b in pairs)


def test_changes_of_the_dataset_between_epochs():
    data = [0, 0]
    loader = DataLoader(data, None, num_workers=1)
    assert list(loader) == [0, 0]
    data[:] = 1, 2
    assert list(loader) == [1, 2]


def test_workers_that_are_not_forked():
    data = torch.utils.data.TensorDataset(torch.arange(6.0), torch.arange(6))
    loader = DataLoader(data, 4, shuffle=True, num_workers=1, multiprocessing_context="spawn")
    torch.manual_seed(0)
    got = list(loader)
    torch.manual_seed(0)
    want = list(DataLoader(data, 4, shuffle=True))
    assert all(torch.equal(a, b) for one, other in zip(got, want, strict=True) for a, b in zip(one, other, strict=True))
    assert multiprocessing.active_children() == []


def test_datasets_that_cannot_be_sent():
    with pytest.raises(Exception, match="[Pp]ickle"):
        iter(DataLoader(Samples(lambda: 0), num_workers=1, multiprocessing_context="spawn"))


def test_attributes(same):
    names = ["num_workers", "prefetch_factor", "persistent_workers", "in_order", "timeout"]
    same(lambda t: [getattr(t.utils.data.DataLoader(range(9), num_workers=2), name) for name in names])
    context = DataLoader(range(9), num_workers=1, multiprocessing_context="spawn").multiprocessing_context
    assert context is multiprocessing.get_context("spawn")


def test_attributes_changed_later():
    loader = DataLoader(range(4), 2)
    loader.num_workers, loader.multiprocessing_context, loader.collate_fn = 2, "fork", sum
    assert list(loader) == [1, 5]


@pytest.mark.parametrize("take", [copy.copy, copy.deepcopy, lambda loader: pickle.loads(pickle.dumps(loader))])
def test_copies(take):
    loader = DataLoader(list(range(4)), 2, num_workers=1, persistent_workers=True, collate_fn=sum)
    batches = iter(loader)
    next(batches)
    other = take(loader)
    assert list(other) == [1, 5] == [1, next(batches)] and next(batches, "end") == "end"


@pytest.mark.parametrize(
    "options, error",
    [
        ({"multiprocessing_context": "thread"}, ValueError),
        ({"multiprocessing_context": 3}, TypeError),
        ({"prefetch_factor": -1}, ValueError),
    ],
)
def test_options_of_workers(same, options, error):
    assert same(lambda t: list(t.utils.data.DataLoader(range(4), num_workers=1, **options))) is error


def test_no_batches_ahead():
    with pytest.raises(AssertionError, match="prefetch_factor"):
        iter(DataLoader(range(4), num_workers=1, prefetch_factor=0))
