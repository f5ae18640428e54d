"""Every public name of PyTorch resolves; what funtorch has nothing for raises when it is used, not before."""

import importlib
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
