"""Writing with one library and reading with another."""

import io
from types import SimpleNamespace

import numpy as np
import pytest
import torch

import funtorch


def written(lib, obj, **options):
    buffer = io.BytesIO()
    lib.save(obj, buffer, **options)
    return buffer.getvalue()


def bits(tensor):
    """dtype, shape, strides, flags and the bytes of a Tensor of either library."""
    about = (
        str(tensor.dtype), tuple(tensor.shape), tuple(tensor.stride()), tensor.storage_offset(), tensor.requires_grad, tensor.is_leaf
    )  # fmt: skip
    flat = tensor.detach().reshape(-1)
    if isinstance(tensor, torch.Tensor):
        return *about, flat.contiguous().clone().view(torch.uint8).numpy().tobytes()
    return *about, np.ascontiguousarray(flat.numpy()).tobytes()


def read(lib, data, **options):
    return lib.load(io.BytesIO(data), **options)


@pytest.fixture
def exchange():
    """What several tests here use: ``written(lib, obj)``, ``read(lib, data)``, ``bits(tensor)``."""
    return SimpleNamespace(written=written, read=read, bits=bits)


@pytest.fixture(params=["zip", "legacy"])
def format(request):
    return {"_use_new_zipfile_serialization": request.param == "zip"}


@pytest.fixture(params=["from_torch", "from_funtorch", "funtorch_alone"])
def way(request):
    """(the library that writes, the one that reads)"""
    return {
        "from_torch": (torch, funtorch),
        "from_funtorch": (funtorch, torch),
        "funtorch_alone": (funtorch, funtorch),
    }[request.param]


@pytest.fixture
def pass_on(way, format):
    """A function ``(what to make of a library, options of load) -> it, written by one and read by the other``."""

    def through(make, **options):
        return way[1].load(io.BytesIO(written(way[0], make(way[0]), **format)), **options)

    return through
