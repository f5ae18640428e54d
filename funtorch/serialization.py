"""torch.save and torch.load, in a zip of funtorch's own: the structure as JSON, the arrays as raw bytes. Nothing in it can run.

The layout: ``format.json`` (name and version), ``structure.json`` (nested, see `_encode`), ``arrays/N`` (C order, little endian).
"""

from __future__ import annotations

import base64
import io
import json
import math
import os
import zipfile
from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

from . import dtypes
from .devices import device
from .errors import ArgumentTypeError, ArgumentValueError, MissingError
from .size import Size
from .tensor import Tensor

FORMAT = {"format": "funtorch", "version": 1}
_MAPPINGS = {"dict": dict, "OrderedDict": OrderedDict}
_SEQUENCES: dict[str, Callable] = {"list": list, "tuple": tuple, "Size": Size, "set": set, "frozenset": frozenset}


class _Writer:
    """Encodes objects; each array is written once, however often its Tensor occurs."""

    def __init__(self) -> None:
        self.arrays: list[np.ndarray] = []
        self.seen: dict[int, int] = {}
        self.kept: list[Any] = []

    def encode(self, value: Any, path: str) -> Any:
        if value is None or isinstance(value, (bool, str)) or type(value) is int:
            return value
        if type(value) is float:
            return value if math.isfinite(value) else {"float": repr(value)}
        if isinstance(value, Tensor):
            return self._tensor(value)
        if isinstance(value, dict):
            kind = "OrderedDict" if isinstance(value, OrderedDict) else "dict"
            items = [[self.encode(k, path), self.encode(v, f"{path}[{k!r}]")] for k, v in value.items()]
            extra = getattr(value, "_metadata", None)  # a module's state_dict has its versions there
            return {kind: items} if extra is None else {kind: items, "metadata": self.encode(dict(extra), path)}
        for name, sequence in (("Size", Size), ("list", list), ("tuple", tuple), ("set", set), ("frozenset", frozenset)):
            if type(value) is sequence:
                return {name: [self.encode(v, f"{path}[{i}]") for i, v in enumerate(value)]}
        return self._scalar(value, path)

    def _scalar(self, value: Any, path: str) -> Any:
        if isinstance(value, complex):
            return {"complex": [repr(value.real), repr(value.imag)]}
        if isinstance(value, bytes):
            return {"bytes": base64.b64encode(value).decode()}
        if isinstance(value, dtypes.dtype):
            return {"dtype": value.name}
        if isinstance(value, device):
            return {"device": str(value)}
        if isinstance(value, (np.ndarray, np.generic)) and value.dtype in dtypes.FROM_NUMPY:
            return {"numpy": self._array(np.asarray(value), value), "scalar": isinstance(value, np.generic)}
        raise ArgumentTypeError(
            f"save(): can't save the {type(value).__name__} at {path}: Tensors, numbers, strings, NumPy arrays and containers of "
            "these can be saved. Save a Module's or an optimiser's state_dict()."
        )

    def _tensor(self, tensor: Tensor) -> dict[str, Any]:
        from .nn.parameter import Parameter

        kind = "parameter" if isinstance(tensor, Parameter) else "tensor"
        return {
            kind: self._array(tensor.detach()._host("save()"), tensor),
            "requires_grad": tensor.requires_grad and tensor.is_leaf,
        }

    def _array(self, array: np.ndarray, owner: Any) -> int:
        number = self.seen.get(id(owner))
        if number is None:
            number = self.seen[id(owner)] = len(self.arrays)
            self.arrays.append(array)
            self.kept.append(owner)
        return number


def save(
    obj: Any, f: Any, pickle_module: Any = None, pickle_protocol: int = 2, _use_new_zipfile_serialization: bool = True
) -> None:
    """Write ``obj`` to a path or a file open for writing bytes: Tensors and containers of them, such as state dicts.

    A Tensor that occurs twice is one Tensor again when loaded.

    Raises:
        TypeError: something in ``obj`` can't be saved; the message says where.

    >>> import io, funtorch as torch
    >>> buffer = io.BytesIO()
    >>> torch.save({"w": torch.ones(2), "epoch": 3}, buffer)
    >>> torch.load(io.BytesIO(buffer.getvalue()))
    {'w': tensor([1., 1.]), 'epoch': 3}
    """
    writer = _Writer()
    structure = writer.encode(obj, "obj")
    described = [{"dtype": dtypes.FROM_NUMPY[a.dtype].name, "shape": list(a.shape)} for a in writer.arrays]
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr("format.json", json.dumps(FORMAT))
        archive.writestr("structure.json", json.dumps({"root": structure, "arrays": described}))
        for number, array in enumerate(writer.arrays):
            archive.writestr(f"arrays/{number}", np.ascontiguousarray(array).tobytes())
    if isinstance(f, (str, os.PathLike)):
        with open(f, "wb") as file:
            file.write(buffer.getvalue())
    else:
        f.write(buffer.getvalue())


class _Reader:
    """Builds objects from what `_Writer` encoded."""

    def __init__(self, archive: zipfile.ZipFile, described: list[dict], place: Callable) -> None:
        self.archive = archive
        self.described = described
        self.place = place
        self.tensors: dict[tuple[int, str], Any] = {}

    def decode(self, value: Any) -> Any:
        if not isinstance(value, dict):
            return value
        kind = next(iter(value))
        content = value[kind]
        if kind in _MAPPINGS:
            made: Any = _MAPPINGS[kind]((self.decode(k), self.decode(v)) for k, v in content)
            if "metadata" in value:
                made._metadata = OrderedDict(self.decode(value["metadata"]))
            return made
        if kind in _SEQUENCES:
            return _SEQUENCES[kind](self.decode(v) for v in content)
        if kind in ("tensor", "parameter"):
            return self._tensor(content, kind, value["requires_grad"])
        return self._scalar(kind, content, value)

    def _scalar(self, kind: str, content: Any, value: dict) -> Any:
        if kind == "numpy":
            array = self._array(content)
            return array[()] if value["scalar"] else array.copy()
        simple: dict[str, Callable] = {
            "float": float,
            "complex": lambda c: complex(float(c[0]), float(c[1])),
            "bytes": base64.b64decode,
            "dtype": dtypes.by_name,
            "device": device,
        }
        if kind not in simple:
            raise ArgumentValueError(f"load(): the file holds {kind!r}, which this version does not know")
        return simple[kind](content)

    def _array(self, number: int) -> np.ndarray:
        entry = self.described[number]
        data = self.archive.read(f"arrays/{number}")
        return np.frombuffer(data, dtypes.by_name(entry["dtype"]).numpy).reshape(entry["shape"])

    def _tensor(self, number: int, kind: str, requires_grad: bool) -> Any:
        key = (number, kind)
        if key not in self.tensors:
            from .nn.parameter import Parameter

            tensor = self.place(Tensor._of_numpy(self._array(number)))
            self.tensors[key] = Parameter(tensor, requires_grad) if kind == "parameter" else tensor.requires_grad_(requires_grad)
        return self.tensors[key]


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Read what `save` wrote, from a path or a file open for reading bytes.

    Args:
        map_location: the device on which Tensors are made: a device, its name, or a dict from names to names.

    Raises:
        ValueError: the file is damaged.
        NotImplementedError: it is a file of PyTorch's own.
    """
    if pickle_load_args:
        raise ArgumentTypeError(f"load() got an unexpected keyword argument {next(iter(pickle_load_args))!r}")
    data = f.read() if hasattr(f, "read") else None
    try:
        with zipfile.ZipFile(io.BytesIO(data) if data is not None else f) as archive:
            return _read(archive, _placer(map_location))
    except (zipfile.BadZipFile, KeyError, json.JSONDecodeError, UnicodeDecodeError) as error:
        raise ArgumentValueError(f"load(): the file is damaged or not one of funtorch's: {error}") from None


def _read(archive: zipfile.ZipFile, place: Callable) -> Any:
    names = archive.namelist()
    if "format.json" not in names:
        if any(name.endswith("data.pkl") for name in names):
            raise MissingError(
                "load(): this is a file of PyTorch's, which can't be read yet. Save it with safetensors, and use funtorch.safetensors.load_file."
            )
        raise ArgumentValueError("load(): the zip file is not one of funtorch's")
    found = json.loads(archive.read("format.json"))
    if found.get("format") != FORMAT["format"] or found.get("version", 0) > FORMAT["version"]:
        raise ArgumentValueError(f"load(): the file has format {found}, this version reads {FORMAT}")
    content = json.loads(archive.read("structure.json"))
    return _Reader(archive, content["arrays"], place).decode(content["root"])


def _placer(map_location: Any) -> Callable:
    if map_location is None:
        return lambda tensor: tensor
    if isinstance(map_location, dict):
        where = map_location.get("cpu", "cpu")
        return lambda tensor: tensor.to(where)
    if callable(map_location):
        return lambda tensor: map_location(tensor, "cpu")
    return lambda tensor: tensor.to(map_location)
