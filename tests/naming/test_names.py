"""Every public name of PyTorch resolves; what funtorch has nothing for raises when it is used, not before."""

import importlib
import inspect
import pickle
import subprocess
import sys
import textwrap

import pytest

import funtorch
from funtorch.naming.missing import NotThere
from funtorch.naming.table import modules


@pytest.mark.parametrize("path", sorted(modules()))
def test_every_name_of_a_module_resolves(path):
    module = importlib.import_module(f"fun{path}")
    for name in modules()[path]:
        getattr(module, name)


def test_what_is_not_there_raises_when_it_is_used():
    from funtorch.onnx import export

    assert isinstance(export, NotThere)
    assert not isinstance(3, export)
    with pytest.raises(NotImplementedError, match=r"torch\.onnx\.export is not in funtorch"):
        export(funtorch.nn.Linear(1, 1), ())
    with pytest.raises(NotImplementedError, match=r"torch\.fx\.GraphModule is not in funtorch, and so has no 'recompile'"):
        funtorch.fx.GraphModule.recompile()
    with pytest.raises(NotImplementedError, match=r"torch\.fx\.Tracer is not in funtorch, so that Mine can't be derived"):

        class Mine(funtorch.fx.Tracer):
            pass


def test_errors_that_are_not_there_may_be_caught():
    missing = funtorch.fx.proxy.TraceError
    assert isinstance(missing, NotThere)
    with pytest.raises(ZeroDivisionError):
        try:
            1 / 0  # noqa: B018
        except missing:
            pytest.fail("caught by an error that is not there")
    with pytest.raises(NotImplementedError, match="TraceError is not in funtorch"):
        raise missing("wrong")
    assert funtorch.OutOfMemoryError is funtorch.cuda.OutOfMemoryError and issubclass(funtorch.OutOfMemoryError, RuntimeError)


def test_what_is_there_comes_under_all_its_names():
    from funtorch.cuda.amp.grad_scaler import GradScaler

    from funtorch.nn.modules.linear import Linear

    assert Linear is funtorch.nn.Linear
    assert GradScaler is funtorch.cuda.amp.GradScaler


def test_a_module_of_the_same_path_as_a_function_is_no_hindrance():
    before = funtorch.autograd.gradcheck
    module = importlib.import_module("funtorch.autograd.gradcheck")
    assert module.GradcheckError is funtorch.autograd.GradcheckError and module.gradcheck is before
    x = funtorch.ones(2, dtype=funtorch.float64, requires_grad=True)
    assert funtorch.autograd.gradcheck(lambda x: x * x, (x,))
    importlib.import_module("funtorch.nn.parallel.replicate")
    with pytest.raises(NotImplementedError, match=r"torch\.nn\.parallel\.replicate is not in funtorch"):
        funtorch.nn.parallel.replicate(funtorch.nn.Linear(1, 1), [0])


@pytest.mark.parametrize("name", ["nothing_of_the_kind", "__wrapped__"])
def test_other_names_are_missing_as_ever(name):
    for module in (funtorch, funtorch.nn, funtorch.nn.functional, funtorch.optim):
        assert not hasattr(module, name)
    with pytest.raises(ImportError):
        importlib.import_module(f"funtorch.{name}")


SCRIPT = """
    import pickle, sys
    import torch
    import torch.nn.functional as F
    from torch import nn
    from torch.nn.modules.utils import _pair
    from functorch import vmap

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = nn.Linear(2, 1)

        def forward(self, x):
            return F.relu(self.layer(x))

    import funtorch
    assert torch is funtorch and F is funtorch.nn.functional and vmap is funtorch.vmap
    assert tuple(map(int, torch.__version__.split(".")[:2])) >= (2, 0)
    assert torch.__spec__.name == "funtorch"
    pickle.loads(pickle.dumps(Net()))
    print(sys.argv[1:], __name__, _pair(3))
"""


def test_a_script_for_which_torch_is_funtorch(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(textwrap.dedent(SCRIPT))
    done = subprocess.run(
        [sys.executable, "-m", "funtorch", "run", str(script), "--lr", "0.1"], capture_output=True, text=True, cwd=tmp_path
    )
    assert done.stdout == "['--lr', '0.1'] __main__ (3, 3)\n", done.stderr
    module = subprocess.run(
        [sys.executable, "-m", "funtorch", "run", "-m", "script", "x"], capture_output=True, text=True, cwd=tmp_path
    )
    assert module.stdout == "['x'] __main__ (3, 3)\n", module.stderr


def test_a_script_that_is_not_there(tmp_path):
    done = subprocess.run([sys.executable, "-m", "funtorch", "run", str(tmp_path / "none.py")], capture_output=True, text=True)
    assert done.returncode != 0 and "there is no script" in done.stderr


CHILDREN = """
    import multiprocessing, sys
    from concurrent.futures import ProcessPoolExecutor

    import torch
    import torch.multiprocessing
    from torch.utils.data import DataLoader, Dataset

    class Squares(Dataset):
        def __len__(self):
            return 4

        def __getitem__(self, i):
            import torch.nn.functional as F
            return F.relu(torch.tensor(i * i)), torch.__name__ == "funtorch"

    def tell(i, queue):
        import torch
        queue.put((i, torch.__name__, torch.__version__))

    def nested(queue):
        process = multiprocessing.get_context("spawn").Process(target=tell, args=(9, queue))
        process.start()
        process.join()

    if __name__ == "__main__":
        multiprocessing.set_forkserver_preload(["torch", "__main__"])
        queue = multiprocessing.get_context("spawn").SimpleQueue()
        torch.multiprocessing.spawn(tell, args=(queue,), nprocs=1)
        print(*queue.get())
        process = multiprocessing.get_context("forkserver").Process(target=nested, args=(queue,))
        process.start()
        process.join()
        print(*queue.get())
        with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("forkserver")) as pool:
            print(pool.submit(torch.sum, torch.ones(3)).result().item())
        for method in ("spawn", "forkserver"):
            for squares, ours in DataLoader(Squares(), 4, num_workers=1, multiprocessing_context=method):
                print(squares.tolist(), ours.tolist())
"""


def test_processes_that_a_script_starts(tmp_path):
    """Where PyTorch is installed, as here, they would find it in funtorch's place."""
    (tmp_path / "script.py").write_text(textwrap.dedent(CHILDREN))
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-m", "funtorch", "run", "script.py"], capture_output=True, text=True, cwd=tmp_path
    )
    batch = "[0, 1, 4, 9] [True, True, True, True]"
    assert done.stdout.splitlines() == ["0 funtorch 2.13.0", "9 funtorch 2.13.0", "3.0", batch, batch], done.stderr


def test_other_programs_are_not_touched(tmp_path):
    script = tmp_path / "script.py"
    script.write_text(
        "import subprocess, sys, torch\n"
        "code = 'import importlib.util as u; print(u.find_spec(\"torch\").origin)'\n"
        "print(subprocess.run([sys.executable, '-c', code], capture_output=True, text=True).stdout)\n"
    )
    done = subprocess.run([sys.executable, "-m", "funtorch", "run", str(script)], capture_output=True, text=True)
    assert "site-packages" in done.stdout and "funtorch" not in done.stdout, done.stderr


@pytest.mark.parametrize(
    "path",
    "functorch.compile functorch.experimental.ops functorch._C functorch._src.make_functional functorch.dim __config__ "
    "utils.data._utils.collate utils.data._utils.fetch utils.data._utils.pin_memory utils.data._utils.signal_handling "
    "utils.data._utils.worker jit.annotations".split(),
)
def test_paths_as_attributes_and_by_import(path):
    found = funtorch
    for name in path.split("."):
        found = getattr(found, name)
    assert importlib.import_module(f"funtorch.{path}") is found


def test_what_was_under_the_loader():
    from funtorch.utils.data._utils import MP_STATUS_CHECK_INTERVAL, signal_handling
    from funtorch.utils.data._utils.collate import default_collate, default_convert
    from funtorch.utils.data._utils.fetch import _IterableDatasetFetcher, _MapDatasetFetcher
    from funtorch.utils.data._utils.pin_memory import pin_memory

    data = funtorch.utils.data
    assert default_collate is data.default_collate and default_convert is data.default_convert and MP_STATUS_CHECK_INTERVAL == 5.0
    assert _MapDatasetFetcher(range(5), True, default_collate, False).fetch([1, 3]).tolist() == [1, 3]
    assert _MapDatasetFetcher(range(5), False, default_convert, False).fetch(2) == 2
    stream = _IterableDatasetFetcher(data.ChainDataset([]), True, default_collate, False)
    with pytest.raises(StopIteration):
        stream.fetch([0, 1])
    assert pin_memory(data) is data
    with pytest.raises(NotImplementedError, match=r"torch\.utils\.data\._utils\.signal_handling\._set_worker_pids is not in"):
        signal_handling._set_worker_pids(1, ())
    with pytest.raises(NotImplementedError, match=r"^functorch\.compile\.aot_function is not in funtorch"):
        funtorch.functorch.compile.aot_function(abs)


def test_operators():
    aten = funtorch.ops.aten
    x = funtorch.arange(4.0).view(2, 2)
    assert funtorch.equal(aten.mm.default(x, x), x @ x) and funtorch.equal(aten.relu(-x), funtorch.zeros(2, 2))
    assert {aten.mm.default: 1}[funtorch.ops.aten.mm.default] == 1
    with pytest.raises(NotImplementedError, match=r"torch\.ops\.aten\._to_copy\.default is not in funtorch"):
        aten._to_copy.default(x)
    assert not hasattr(funtorch.ops.torchvision, "nms")
    for asked in ("pytest_plugins", "pytestmark", "setup_module"):  # tools that look for these must not find a name space
        assert not hasattr(funtorch.ops, asked)


@pytest.mark.parametrize("space", ["", "nn.functional", "linalg", "fft", "special", "nn.init"])
def test_functions_can_be_pickled(space):
    module = importlib.import_module(f"funtorch.{space}".rstrip("."))
    functions = {name: value for name, value in vars(module).items() if inspect.isfunction(value) and not name.startswith("_")}
    assert functions
    assert [name for name, value in functions.items() if pickle.loads(pickle.dumps(value)) is not value] == []


def test_the_older_types_can_be_pickled():
    for kind in (funtorch.FloatTensor, funtorch.cuda.LongTensor, funtorch.BoolTensor):
        assert pickle.loads(pickle.dumps(kind)) is kind
