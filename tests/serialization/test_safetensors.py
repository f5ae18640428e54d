"""safetensors files: what is written comes back equal, of every kind; damage and strangers raise."""

import numpy as np
import pytest

import funtorch as torch
from funtorch import safetensors

DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64"]


@pytest.mark.parametrize("name", DTYPES)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 3)])
def test_every_dtype_and_shape(name, shape, tmp_path):
    tensor = torch.arange(int(np.prod(shape))).reshape(shape).to(getattr(torch, name))
    path = tmp_path / "t.safetensors"
    safetensors.save_file({"t": tensor}, path, metadata={"made": "here"})
    loaded = safetensors.load_file(path)["t"]
    assert loaded.dtype is tensor.dtype and loaded.shape == tensor.shape and loaded.tolist() == tensor.tolist()


def test_what_cannot_be_saved():
    with pytest.raises(TypeError, match="'w' must be a Tensor"):
        safetensors.save({"w": 3})
    base = torch.ones(4)
    with pytest.raises(RuntimeError, match="share memory"):
        safetensors.save({"a": base, "b": base[:2]})


def test_damage():
    with pytest.raises(ValueError, match="safetensors"):
        safetensors.load(b"\x01\x02")
