"""SummaryWriter: what it hands to tensorboardX, and what it says where that is missing."""

import sys
import types

import numpy as np
import pytest

import funtorch as torch
from funtorch.utils.tensorboard import SummaryWriter


class Recorder:
    """Stands in for tensorboardX.SummaryWriter: notes what is asked of it."""

    def __init__(self, *args):
        self.calls, self.logdir = [("made", args, {})], args[0] or "runs/now"

    def __getattr__(self, name):
        if name not in ("add_scalar", "add_scalars", "add_image", "add_histogram", "add_hparams", "add_text", "close", "flush"):
            raise AttributeError(name)

        def note(*args, **kwargs):
            self.calls.append((name, args, kwargs))

        return note


@pytest.fixture
def writer(monkeypatch):
    monkeypatch.setitem(sys.modules, "tensorboardX", types.SimpleNamespace(SummaryWriter=Recorder))
    return SummaryWriter("runs/one", flush_secs=5)


def last(writer):
    return writer._writer.calls[-1]


def test_what_it_is_made_of(writer):
    assert last(writer) == ("made", ("runs/one", "", None, 10, 5, ""), {}) and writer.log_dir == "runs/one"


def test_tensors_are_handed_on_as_arrays(writer):
    loss = torch.tensor(1.5, requires_grad=True)
    writer.add_scalar("loss", loss * 2, torch.tensor(3), new_style=True)
    assert last(writer) == ("add_scalar", ("loss", np.float32(3.0), 3, None), {})
    writer.add_scalars("losses", {"a": loss}, 1)
    assert last(writer) == ("add_scalars", ("losses", {"a": np.float32(1.5)}, 1), {})
    writer.add_histogram("weights", torch.ones(2, dtype=torch.bfloat16), global_step=1)
    (_, array), (name, _, kwargs) = last(writer)[1], last(writer)
    assert name == "add_histogram" and array.dtype == np.float32 and kwargs == {"global_step": 1}
    writer.add_hparams({"lr": 0.1, "depth": 3}, {"loss": loss})
    assert last(writer) == ("add_hparams", ({"lr": 0.1, "depth": 3}, {"loss": 1.5}, None, None), {})


def test_end(writer):
    with writer as same:
        assert same is writer
    assert last(writer) == ("close", (), {})


def test_what_is_not_there(writer, monkeypatch):
    with pytest.raises(NotImplementedError, match="add_graph"):
        writer.add_graph(torch.nn.Linear(1, 1), torch.ones(1))
    with pytest.raises(AttributeError, match="add_nothing"):
        writer.add_nothing()
    monkeypatch.setitem(sys.modules, "tensorboardX", None)
    with pytest.raises(ImportError, match="pip install tensorboardX"):
        SummaryWriter()


def test_a_file_is_written(tmp_path):
    pytest.importorskip("tensorboardX")
    with SummaryWriter(str(tmp_path)) as writer:
        writer.add_scalar("loss", torch.tensor(0.5), 1)
        writer.add_image("image", torch.rand(3, 4, 4), 1)
        writer.add_histogram("weights", torch.randn(100), 1)
        writer.add_text("note", "words", 1)
    (path,) = tmp_path.iterdir()
    assert b"loss" in path.read_bytes() and b"weights" in path.read_bytes()
