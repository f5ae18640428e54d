"""What goes wrong in workers: it is told with its cause, soon, and no process or file stays behind."""

import gc
import multiprocessing
import os
import pathlib
import re
import signal
import subprocess
import sys
import textwrap
import time

import psutil
import pytest

import funtorch as torch
from funtorch.utils.data import DataLoader, Dataset, IterableDataset

pytestmark = pytest.mark.filterwarnings("ignore:.*fork:RuntimeWarning", "ignore:.*fork:DeprecationWarning")

SOON = 5.0


def shown(value):
    """A parameter's name in a test's: without addresses, which differ between processes."""
    return re.sub(r" at 0x[0-9a-f]+", "", getattr(value, "__name__", str(value)))


@pytest.fixture(autouse=True)
def nothing_stays_behind():
    """After each test: no children, no more open files than before, no shared memory."""
    files = len(os.listdir("/proc/self/fd"))
    yield
    gc.collect()  # what was raised holds the frames, and so the iterators, that it came through
    assert multiprocessing.active_children() == []
    assert len(os.listdir("/proc/self/fd")) <= files
    assert "memfd:funtorch-batch" not in pathlib.Path("/proc/self/maps").read_text()


class Failing(Dataset):
    """Eight samples, of which number 3 does something else."""

    def __init__(self, act):
        self.act = act

    def __len__(self):
        return 8

    def __getitem__(self, index):
        return self.act() if index == 3 else index


class TwoArgumentsError(Exception):
    def __init__(self, one, two):
        super().__init__(one, two)


class ExpectedError(LookupError):
    pass


def throw(error):
    raise error


@pytest.mark.parametrize(
    "error, kind",
    [
        (ValueError("bad value"), ValueError),
        (KeyError("lost"), KeyError),
        (ExpectedError("mine"), ExpectedError),
        (TwoArgumentsError("one", "two"), RuntimeError),
        (UnicodeDecodeError("utf-8", b"x", 0, 1, "why"), RuntimeError),
        (OSError(2, "no such thing"), OSError),
        (type("Local", (IndexError,), {})("inside"), IndexError),
    ],
    ids=shown,
)
def test_exceptions(error, kind):
    with pytest.raises(kind) as caught:
        list(DataLoader(Failing(lambda: throw(error)), num_workers=2))
    text = str(caught.value)
    assert text.startswith(f"Caught {type(error).__name__} in DataLoader worker process 1.\nOriginal Traceback")
    assert "in throw\n    raise error" in text and str(error) in text
    del caught


def test_an_epoch_goes_on_after_an_exception():
    batches = iter(DataLoader(Failing(lambda: throw(ValueError("once"))), None, num_workers=2))
    got = []
    for _ in range(8):
        try:
            got.append(next(batches))
        except ValueError:
            got.append("error")
    assert got == [0, 1, 2, "error", 4, 5, 6, 7] and next(batches, "end") == "end"


def fail(*_):
    raise ValueError("on purpose")


class FailingStream(IterableDataset):
    def __iter__(self):
        yield 0
        fail()


class NeverBegins(IterableDataset):
    def __iter__(self):
        fail()


@pytest.mark.parametrize(
    "dataset, options",
    [
        (range(4), {"collate_fn": fail}),
        (range(4), {"worker_init_fn": fail}),
        (FailingStream(), {}),
        (NeverBegins(), {}),
        (NeverBegins(), {"persistent_workers": True}),
    ],
    ids=shown,
)
def test_where_it_was_raised(dataset, options):
    with pytest.raises(ValueError, match=r"(?s)in DataLoader worker process 0.*on purpose"):
        list(DataLoader(dataset, num_workers=2, **options))


class NoPickle:
    def __reduce__(self):
        raise TypeError("not to be pickled")


class NoUnpickle:
    def __reduce__(self):
        return fail, ()


def test_samples_that_cannot_be_pickled():
    with pytest.raises(TypeError, match=r"(?s)worker process 1.*not to be pickled"):
        list(DataLoader(Failing(NoPickle), num_workers=2, collate_fn=list))
    with pytest.raises(Exception, match=r"(?s)worker process 1.*<lambda>"):
        list(DataLoader(Failing(lambda: lambda: 0), num_workers=2, collate_fn=list))


def test_samples_that_cannot_be_read():
    with pytest.raises(ValueError, match="on purpose"):
        list(DataLoader(Failing(NoUnpickle), num_workers=2, collate_fn=list))


@pytest.mark.parametrize(
    "act, cause",
    [
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "killed by signal SIGKILL"),
        (lambda: os.kill(os.getpid(), signal.SIGTERM), "killed by signal SIGTERM"),
        (lambda: os._exit(7), "exit code 7"),
        (lambda: sys.exit(0), "exit code 0"),
    ],
    ids=["SIGKILL", "SIGTERM", "_exit", "exit"],
)
@pytest.mark.parametrize("persistent", [False, True])
def test_a_dead_worker(act, cause, persistent):
    loader = DataLoader(Failing(act), num_workers=2, persistent_workers=persistent)
    batches = iter(loader)
    with pytest.raises(RuntimeError, match=rf"DataLoader worker \(pid\(s\) \d+\) exited unexpectedly: {cause}"):
        list(batches)
    with pytest.raises(RuntimeError, match="iterate over the DataLoader anew"):
        next(batches)
    loader.dataset.act = int  # so that none dies before the other one's first batch has come
    assert int(next(iter(loader))) == 0  # new workers


def test_workers_killed_while_idle():
    batches = iter(DataLoader(range(100), num_workers=2))
    next(batches)
    for process in multiprocessing.active_children():
        process.kill()
    with pytest.raises(RuntimeError, match="exited unexpectedly: killed by signal SIGKILL"):
        list(batches)


def test_a_timeout():
    loader = DataLoader(Failing(lambda: time.sleep(60)), num_workers=1, timeout=0.5)
    with pytest.raises(RuntimeError, match="timed out after 0.5 seconds"):
        list(loader)


def test_a_worker_may_not_have_workers():
    with pytest.raises(AssertionError, match="daemonic"):
        list(DataLoader(Failing(lambda: list(DataLoader(range(2), num_workers=1))), num_workers=1))


@pytest.mark.parametrize("epochs", [1, 3])
def test_what_is_left_early_is_cleaned_up(epochs):
    loader = DataLoader([torch.ones(10_000)] * 50, num_workers=2)
    for _ in range(epochs):
        for _batch in loader:
            break
    del _batch


SCRIPT = textwrap.dedent(
    """
    import os, signal, sys, time
    import funtorch as torch
    from funtorch.utils.data import DataLoader, Dataset

    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background processes ignore it
    print("script", flush=True)

    class Slow(Dataset):
        def __len__(self):
            return 1000

        def __getitem__(self, index):
            time.sleep(60 if sys.argv[1] == "sample" and index == 40 else 0.01)
            return index

    with torch.set_engine("kernel"):
        torch.ones(500, 500) @ torch.ones(500, 500)
    for count, batch in enumerate(DataLoader(Slow(), 4, num_workers=2, collate_fn=lambda batch: torch.tensor(batch))):
        if count == 2:
            print("under way", flush=True)
            while sys.argv[1] == "body":
                time.sleep(1)
    """
)


@pytest.fixture
def script(tmp_path):
    """A function that runs a script without a main guard up to its third batch: the process, and its workers."""

    def start(where):
        path = tmp_path / "script.py"
        path.write_text(SCRIPT)
        env = os.environ | {"PYTHONPATH": str(pathlib.Path(torch.__file__).parent.parent)}
        process = subprocess.Popen(
            [sys.executable, str(path), where], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=env,
            start_new_session=True,
        )  # fmt: skip
        begun = [process.stdout.readline() for _ in range(2)]
        assert begun == ["script\n", "under way\n"], process.communicate()
        workers = psutil.Process(process.pid).children(recursive=True)
        assert len(workers) == 2
        return process, workers

    return start


@pytest.mark.parametrize("where, send", [("next", os.killpg), ("body", os.killpg), ("next", os.kill)])
def test_ctrl_c(script, where, send):
    process, workers = script(where)
    send(process.pid, signal.SIGINT)  # the terminal sends it to all processes of the group
    begun = time.monotonic()
    output, errors = process.communicate()
    assert time.monotonic() - begun < SOON
    assert errors.strip().endswith("KeyboardInterrupt") and output == ""
    assert not any(worker.is_running() for worker in workers)


@pytest.mark.parametrize("where, end", [("body", signal.SIGKILL), ("sample", signal.SIGTERM)])
def test_workers_go_when_the_main_process_is_killed(script, where, end):
    process, workers = script(where)
    if where == "sample":
        time.sleep(0.5)  # one of them is in the middle of a long one by then
    process.send_signal(end)
    process.communicate()
    gone, alive = psutil.wait_procs(workers, timeout=SOON)
    assert alive == []
