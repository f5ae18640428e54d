"""safetensors files: what is written comes back equal, of every kind; damage and strangers raise."""

import json
import struct

import numpy as np
import pytest

import funtorch as torch
from funtorch import safetensors

DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8", "bool", "complex64"]
DTYPES += ["uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz", "float8_e8m0fnu"]


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


def test_a_dtype_that_is_not_there():
    head = json.dumps({"w": {"dtype": "F4", "shape": [4], "data_offsets": [0, 2]}}).encode()
    with pytest.raises(NotImplementedError, match="'w' has the dtype F4"):
        safetensors.load(struct.pack("<Q", len(head)) + head + bytes(2))


def test_files_that_end_too_soon():
    data = safetensors.save({"w": torch.ones(2), "v": torch.arange(3)})
    for end in range(len(data)):
        with pytest.raises(ValueError, match="safetensors"):
            safetensors.load(data[:end])
