"""State dicts in the safetensors format, every dtype included: read and written without torch."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import Any

import numpy as np
from safetensors import deserialize
from safetensors.numpy import save as _save
from safetensors.numpy import save_file as _save_file

from . import dtypes
from .errors import ArgumentTypeError, ArgumentValueError, MissingError, OpError
from .tensor import Tensor

# The format's names. (safetensors' own NumPy loader does not know bfloat16 and float8.)
NAMES = {
    dtypes.float64: "F64", dtypes.float32: "F32", dtypes.float16: "F16", dtypes.bfloat16: "BF16", dtypes.float8_e4m3fn: "F8_E4M3",
    dtypes.float8_e5m2: "F8_E5M2", dtypes.int64: "I64", dtypes.int32: "I32", dtypes.int16: "I16", dtypes.int8: "I8",
    dtypes.uint64: "U64", dtypes.uint32: "U32", dtypes.uint16: "U16", dtypes.uint8: "U8", dtypes.bool_: "BOOL",
    dtypes.complex64: "C64", dtypes.float8_e4m3fnuz: "F8_E4M3FNUZ", dtypes.float8_e5m2fnuz: "F8_E5M2FNUZ",
    dtypes.float8_e8m0fnu: "F8_E8M0",
}  # fmt: skip
FROM_NAME = {name: dtype for dtype, name in NAMES.items()}


def _arrays(tensors: Mapping[str, Any]) -> dict[str, np.ndarray]:
    """The Tensors' values, dense and in row-major order: the writer takes memory as it lies."""
    if not isinstance(tensors, Mapping):
        raise ArgumentTypeError(f"save_file(): expected a dict of Tensors, got {type(tensors).__name__}")
    shared: dict[int, list[str]] = {}
    arrays = {}
    for name, tensor in tensors.items():
        if not isinstance(tensor, Tensor):
            raise ArgumentTypeError(f"save_file(): {name!r} must be a Tensor, not {type(tensor).__name__}")
        base = tensor if tensor._base is None else tensor._base
        shared.setdefault(id(base), []).append(name)
        if tensor.dtype not in NAMES:
            raise ArgumentTypeError(f"save_file(): {name!r} has dtype {tensor.dtype}, which the format does not have")
        arrays[name] = np.asarray(tensor.detach()._host("save_file()"), order="C")
    tied = [names for names in shared.values() if len(names) > 1]
    if tied:
        raise OpError(
            f"save_file(): Some tensors share memory, this will lead to duplicate memory on disk and potential differences when loading them again: {tied}. Save one of each, or clone() them."
        )
    return arrays


def save(tensors: Mapping[str, Any], metadata: Mapping[str, str] | None = None) -> bytes:
    """Tensors by name in the safetensors format.

    Raises:
        TypeError: a value is no Tensor, or of a dtype that the format does not have.
        RuntimeError: two of them share memory.
    """
    return _save(_arrays(tensors), metadata=None if metadata is None else dict(metadata))


def save_file(tensors: Mapping[str, Any], filename: str | os.PathLike, metadata: Mapping[str, str] | None = None) -> None:
    """Write Tensors by name to a file. Raises as `save` does."""
    _save_file(_arrays(tensors), os.fspath(filename), metadata=None if metadata is None else dict(metadata))


def load(data: bytes, device: Any = None) -> dict[str, Tensor]:
    """Tensors by name from bytes in the safetensors format.

    Raises:
        ValueError: they are damaged.
        NotImplementedError: one is of a dtype that funtorch does not have.
    """
    try:
        found = deserialize(data)
    except Exception as error:  # the library has one class for every fault
        raise ArgumentValueError(f"load(): not in the safetensors format, or damaged: {error}") from None
    loaded = {}
    for name, entry in found:
        dtype = FROM_NAME.get(entry["dtype"])
        if dtype is None:
            raise MissingError(f"load(): {name!r} has the dtype {entry['dtype']}, which funtorch does not have")
        array = np.frombuffer(bytes(entry["data"]), dtype.numpy).reshape(entry["shape"])
        tensor = Tensor._of_numpy(array)
        loaded[name] = tensor if device is None else tensor.to(device)
    return loaded


def load_file(filename: str | os.PathLike, device: Any = None) -> dict[str, Tensor]:
    """Tensors by name from a file. Raises ValueError if it is damaged.

    >>> import tempfile, os, funtorch as torch
    >>> from funtorch.safetensors import load_file, save_file
    >>> path = os.path.join(tempfile.mkdtemp(), "weights.safetensors")
    >>> save_file({"w": torch.ones(2)}, path)
    >>> load_file(path)
    {'w': tensor([1., 1.])}
    """
    with open(filename, "rb") as file:
        return load(file.read(), device)
