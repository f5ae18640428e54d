"""Values across the border: PyTorch's sample inputs to a Side's own values, and results back to NumPy.

Only values cross. Strides, conjugate bits and storage sharing do not; requires_grad does, and a tensor that
occurs twice in a sample is one tensor on the other side too.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from parity.candidate import Side, SkipError
from parity.lookup import counterpart

# Dtypes that NumPy lacks cross inside a wider one, which holds each of their values exactly.
CARRIERS = {
    "bfloat16": "float32",
    "complex32": "complex64",
    "float8_e4m3fn": "float32",
    "float8_e4m3fnuz": "float32",
    "float8_e5m2": "float32",
    "float8_e5m2fnuz": "float32",
}
NUMPY_DIMS = 64


@dataclass(frozen=True)
class Array:
    """A tensor's value at rest: PyTorch's dtype name, and a NumPy array (of the carrier's dtype)."""

    dtype: str
    value: np.ndarray
    sparse: bool = False


@dataclass(frozen=True)
class Record:
    """A named result such as ``torch.return_types.max``: its field names and values."""

    fields: tuple[str, ...]
    values: tuple[Any, ...]


def dtype_name(dtype: Any) -> str:
    """``torch.float32`` and ``funtorch.float32`` are both ``float32``."""
    return str(dtype).rsplit(".", 1)[-1]


def at_rest(tensor: torch.Tensor) -> Array:
    """A strided torch tensor's dtype and value. Raises SkipError for quantised and nested ones."""
    if tensor.is_quantized or tensor.is_nested or tensor.device.type != "cpu":
        raise SkipError("quantised, nested or not on the CPU")
    value = tensor.detach().resolve_conj().resolve_neg()
    name = dtype_name(value.dtype)
    if name in CARRIERS:
        value = value.to(getattr(torch, CARRIERS[name]))
    return Array(name, value.numpy(force=True).copy())


def tensor_on(side: Side, array: Array) -> Any:
    """A fresh tensor of the Side with the array's value and dtype."""
    tensor = side.module.from_numpy(array.value.copy())
    return tensor.to(side.find(array.dtype)) if array.dtype in CARRIERS else tensor


class Crossing:
    """Takes one sample's values to a Side; remembers tensors, so that sharing survives."""

    def __init__(self, side: Side):
        self.side = side
        self.tensors: dict[int, Any] = {}

    def __call__(self, value: Any) -> Any:
        for kind, convert in self.TABLE:
            if isinstance(value, kind):
                return convert(self, value)
        return self.function(value) if callable(value) else value

    def tensor(self, value: torch.Tensor) -> Any:
        if id(value) not in self.tensors:
            made = self.strided(value) if value.layout is torch.strided else self.sparse(value)
            if isinstance(value, torch.nn.Parameter):
                made = self.side.find("nn.Parameter")(made, requires_grad=value.requires_grad)
            elif value.requires_grad:
                made.requires_grad_(True)
            self.tensors[id(value)] = made
        return self.tensors[id(value)]

    def strided(self, value: torch.Tensor) -> Any:
        if value.ndim > NUMPY_DIMS:
            raise SkipError(f"NumPy has no arrays of {value.ndim} dimensions")
        if value.device.type == "meta":
            return self.side.find("empty")(tuple(value.shape), dtype=self.dtype(value.dtype), device="meta")
        return tensor_on(self.side, at_rest(value))

    def sparse(self, value: torch.Tensor) -> Any:
        value = value.detach()
        if value.layout is torch.sparse_coo:
            value = value.coalesce()
            parts = self.strided(value.indices()), self.strided(value.values())
            return self.side.find("sparse_coo_tensor")(*parts, tuple(value.shape))
        if value.layout is torch.sparse_csr:
            parts = [self.strided(part()) for part in (value.crow_indices, value.col_indices, value.values)]
            return self.side.find("sparse_csr_tensor")(*parts, tuple(value.shape))
        raise SkipError(f"layout {value.layout}")

    def dtype(self, value: torch.dtype) -> Any:
        return self.side.find(dtype_name(value))

    def device(self, value: torch.device) -> Any:
        return self.side.find("device")(str(value))

    def generator(self, value: torch.Generator) -> Any:
        made = self.side.find("Generator")()
        made.manual_seed(value.initial_seed())
        return made

    def size(self, value: torch.Size) -> Any:
        return self.side.find("Size")(tuple(value))

    def packed(self, value: Any) -> Any:
        make = self.side.find("nn.utils.rnn.PackedSequence")
        return make(*(self(item) for item in tuple(value)))

    def stateless(self, value: torch.nn.Module) -> Any:
        """A module without weights (say, a distance), made again from the arguments that it keeps as attributes."""
        names = inspect.signature(type(value).__init__).parameters
        arguments = {name: self(getattr(value, name)) for name in names if hasattr(value, name)}
        return self.side.find(f"nn.{type(value).__name__}")(**arguments)

    def sequence(self, value: Any) -> Any:
        items = [self(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)

    def mapping(self, value: dict) -> dict:
        return {key: self(item) for key, item in value.items()}

    def bounds(self, value: slice) -> slice:
        return slice(self(value.start), self(value.stop), self(value.step))

    def function(self, value: Any) -> Any:
        return counterpart(value, self.side)

    TABLE = (
        (torch.Tensor, tensor),
        (torch.dtype, dtype),
        (torch.device, device),
        (torch.Generator, generator),
        (torch.Size, size),
        ((torch.memory_format, torch.layout), dtype),
        (torch.nn.utils.rnn.PackedSequence, packed),
        (torch.nn.Module, stateless),
        (dict, mapping),
        ((tuple, list), sequence),
        (slice, bounds),
    )


def portable(side: Side, value: Any) -> Any:
    """A result of the Side as plain Python with `Array` in place of tensors."""
    if side.is_tensor(value):
        return _tensor_at_rest(side, value)
    if isinstance(value, (tuple, list)):
        items = tuple(portable(side, item) for item in value)
        fields = _field_names(value)
        return Record(fields, items) if fields else items
    if isinstance(value, dict):
        return {key: portable(side, item) for key, item in value.items()}
    if isinstance(value, (bool, int, float, complex, str, type(None))):
        return value
    return dtype_name(value)


def _field_names(value: Any) -> tuple[str, ...]:
    if hasattr(value, "_fields"):
        return tuple(value._fields)
    return tuple(getattr(type(value), "__match_args__", ())) if type(value) not in (tuple, list) else ()


def _tensor_at_rest(side: Side, value: Any) -> Array:
    value = value.detach()
    sparse = "sparse" in dtype_name(getattr(value, "layout", ""))
    if sparse:
        value = value.to_dense()
    if side.module is torch:
        array = at_rest(value)
        return Array(array.dtype, array.value, sparse)
    name = dtype_name(value.dtype)
    if name in CARRIERS:
        value = value.to(side.find(CARRIERS[name]))
    return Array(name, np.array(value.numpy()), sparse)
