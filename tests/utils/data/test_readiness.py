"""A forked worker that hangs before it has begun is replaced: every batch comes once, and no process stays behind."""

import gc
import multiprocessing
import os
import pathlib
import signal
import subprocess
import sys
import textwrap
import threading
import time

import pytest

import funtorch as torch
from funtorch.utils.data import DataLoader, IterableDataset, _pool, _worker_loop, get_worker_info

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:RuntimeWarning", "ignore:.*fork:DeprecationWarning")


@pytest.fixture(autouse=True)
def nothing_stays_behind():
    """After each test: no children, no more open files than before."""
    files = len(os.listdir("/proc/self/fd"))
    yield
    gc.collect()
    assert multiprocessing.active_children() == []
    assert len(os.listdir("/proc/self/fd")) <= files


@pytest.fixture
def hanging(monkeypatch):
    """A function after which the next ``count`` forked processes wait for ever on a lock that was locked when they were forked."""
    forks = []
    started = _pool.WorkerPool._start

    def hang_first(count, limits=(0.3, 0.3, 0.3, 10.0, 30.0)):  # a healthy one may be slow on a busy machine
        lock = threading.Lock()
        lock.acquire()

        def start(self, number, job):
            forks.append(number)
            trace = (lambda: lock.acquire()) if len(forks) <= count else (lambda: None)
            monkeypatch.setattr(_worker_loop, "_trace_something", trace)
            started(self, number, job)

        monkeypatch.setattr(_pool, "LIMITS", limits)
        monkeypatch.setattr(_pool.WorkerPool, "_start", start)
        return forks

    return hang_first


class Shares(IterableDataset):
    def __iter__(self):
        worker = get_worker_info()
        return iter(range(12)[worker.id :: worker.num_workers])


def same_keys():
    """A batch sampler that gives out one list again and again."""
    keys = []
    for i in range(0, 12, 2):
        keys[:] = [i, i + 1]
        yield keys


class Reusing:
    def __iter__(self):
        return same_keys()

    def __len__(self):
        return 6


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("persistent", [False, True])
def test_nothing_is_lost_or_doubled(hanging, count, persistent):
    def two_epochs():
        options = {"num_workers": 2, "persistent_workers": persistent, "generator": torch.Generator().manual_seed(5)}
        loader = DataLoader(range(12), 2, shuffle=True, **options)
        return [[batch.tolist() for batch in loader] for _ in range(2)]

    expected = two_epochs()
    forks = hanging(count)
    assert two_epochs() == expected
    assert len(forks) >= (2 if persistent else 4) + count


def draw(_):
    return torch.rand(1).item()


def test_seeds(hanging):
    def drawn():
        torch.manual_seed(1)
        return list(DataLoader(range(8), num_workers=2, collate_fn=draw))

    expected = drawn()
    hanging(3)
    assert drawn() == expected


def test_one_list_of_keys_that_is_used_again(hanging):
    hanging(2)
    got = [batch.tolist() for batch in DataLoader(range(12), batch_sampler=Reusing(), num_workers=2)]
    assert got == [[i, i + 1] for i in range(0, 12, 2)]


def test_streams(hanging):
    hanging(1)
    assert [int(value) for value in DataLoader(Shares(), None, num_workers=3)] == [*range(12)]


def test_an_error_after_the_last_start(hanging):
    forks = hanging(100, limits=(0.3,) * 5)
    begun = time.monotonic()
    with pytest.raises(RuntimeError, match=r"DataLoader worker 0 did not get ready in 5 starts: .*'spawn'"):
        list(DataLoader(range(4), num_workers=1))
    assert len(forks) == 5 and time.monotonic() - begun < 5


def test_a_timeout_begins_when_the_workers_are_ready(hanging):
    hanging(1, limits=(1.0, 5.0))
    loader = DataLoader(range(4), num_workers=1, timeout=0.5)
    assert [int(batch) for batch in loader] == [0, 1, 2, 3]


def test_the_state_of_workers_that_hang(hanging):
    hanging(1)
    loader = DataLoader(range(6), num_workers=2)
    batches = iter(loader)
    state = loader.state_dict()
    assert [int(batch) for batch in batches] == [*range(6)]
    again = DataLoader(range(6), num_workers=2)
    again.load_state_dict(state)
    assert [int(batch) for batch in again] == [*range(6)]


def test_a_loader_that_is_left_while_its_workers_hang(hanging):
    hanging(100)
    begun = time.monotonic()
    batches = iter(DataLoader(range(4), num_workers=2))
    del batches
    gc.collect()
    assert multiprocessing.active_children() == [] and time.monotonic() - begun < 4


SCRIPT = textwrap.dedent(
    """
    import signal, sys, threading, time
    import funtorch as torch
    from funtorch.utils.data import DataLoader, _worker_loop

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background processes ignore it
    signal.signal(signal.SIGTERM, lambda *_: print("terminated", flush=True))  # not obeyed by what hangs in a lock
    lock = threading.Lock()
    lock.acquire()
    _worker_loop._trace_something = lock.acquire
    batches = iter(DataLoader(range(4), num_workers=2))
    print(*(process.pid for process in batches.pool.processes), flush=True)
    if sys.argv[1] == "wait":
        next(batches)
    """
)


@pytest.mark.parametrize("how", ["end", "wait"])
def test_the_program_ends_while_workers_hang(tmp_path, how):
    path = tmp_path / "script.py"
    path.write_text(SCRIPT)
    env = os.environ | {"PYTHONPATH": str(pathlib.Path(torch.__file__).parent.parent)}
    process = subprocess.Popen(
        [sys.executable, "-W", "ignore", str(path), how], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env
    )
    workers = [int(pid) for pid in process.stdout.readline().split()]
    assert len(workers) == 2
    if how == "wait":
        process.send_signal(signal.SIGINT)
    begun = time.monotonic()
    process.communicate(timeout=30)
    assert time.monotonic() - begun < 5
    assert process.returncode == (0 if how == "end" else -signal.SIGINT)
    assert not any(os.path.exists(f"/proc/{pid}") for pid in workers)
