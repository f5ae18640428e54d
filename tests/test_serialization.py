"""save, load and safetensors: what is written comes back equal, of every kind; damage and strangers raise."""

import io
import zipfile
from collections import OrderedDict

import numpy as np
import pytest

import funtorch as torch
from funtorch import safetensors

DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64"]


def round_trip(obj, **options):
    buffer = io.BytesIO()
    torch.save(obj, buffer)
    return torch.load(io.BytesIO(buffer.getvalue()), **options)


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3)])
def test_every_dtype_and_shape(name, shape, tmp_path):
    tensor = (
        torch.arange(6)
        .reshape(2, 3)[: shape[0] if shape else 1]
        .reshape(-1)[: int(np.prod(shape))]
        .reshape(shape)
        .to(getattr(torch, name))
    )
    again = round_trip(tensor)
    assert again.dtype is tensor.dtype and again.shape == tensor.shape and again.tolist() == tensor.tolist()
    path = tmp_path / "t.safetensors"
    safetensors.save_file({"t": tensor}, path, metadata={"made": "here"})
    loaded = safetensors.load_file(path)["t"]
    assert loaded.dtype is tensor.dtype and loaded.shape == tensor.shape and loaded.tolist() == tensor.tolist()


def test_structures_and_scalars():
    obj = {
        "a": [1, 2.5, float("inf"), True, None, "text", b"bytes", 1 + 2j],
        2: (torch.float16, torch.device("cpu"), torch.Size([1, 2])),
        "o": OrderedDict(x=np.arange(3), y=np.float32(2)),
    }
    again = round_trip(obj)
    assert again["a"] == obj["a"] and again[2] == obj[2]
    assert type(again["o"]) is OrderedDict and again["o"]["x"].tolist() == [0, 1, 2] and again["o"]["y"].dtype == np.float32


def test_the_same_tensor_is_one_again_and_flags_are_kept():
    w = torch.nn.Parameter(torch.ones(2))
    x = torch.zeros(2, requires_grad=True)
    again = round_trip({"a": w, "b": w, "x": x, "view": torch.arange(4)[1::2]})
    assert again["a"] is again["b"] and isinstance(again["a"], torch.nn.Parameter) and again["x"].requires_grad
    assert again["view"].tolist() == [1, 3]
    again["a"].requires_grad_(False).add_(1)
    assert again["b"].tolist() == [2, 2]


def test_what_cannot_be_saved_says_where():
    with pytest.raises(TypeError, match=r"obj\['model'\]\[1\]"):
        torch.save({"model": [1, object()]}, io.BytesIO())
    with pytest.raises(TypeError, match="'w' must be a Tensor"):
        safetensors.save({"w": 3})
    base = torch.ones(4)
    with pytest.raises(RuntimeError, match="share memory"):
        safetensors.save({"a": base, "b": base[:2]})


def test_damaged_and_foreign_files():
    buffer = io.BytesIO()
    torch.save(torch.arange(100), buffer)
    data = buffer.getvalue()
    for bad in (data[: len(data) // 2], b"", b"nonsense" * 10):
        with pytest.raises(ValueError):
            torch.load(io.BytesIO(bad))
    foreign = io.BytesIO()
    with zipfile.ZipFile(foreign, "w") as archive:
        archive.writestr("archive/data.pkl", b"")
    with pytest.raises(NotImplementedError, match="PyTorch"):
        torch.load(io.BytesIO(foreign.getvalue()))
    with pytest.raises(ValueError, match="safetensors"):
        safetensors.load(b"\x01\x02")
