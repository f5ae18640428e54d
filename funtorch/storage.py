"""Storages: what a Tensor and its views share, seen as bytes or as a flat row of elements. For reading; Tensors are for writing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from . import dtypes
from .cautions import caution_once
from .core.handle import Handle, make, value_of
from .devices import device
from .dtypes import dtype
from .errors import ArgumentValueError
from .ops import registry
from .tensor import Tensor


class UntypedStorage:
    """The bytes behind a Tensor: those of the Tensor that it is a view of, if it is one.

    >>> import funtorch as torch
    >>> torch.zeros(2, 2)[1].untyped_storage().nbytes()
    16
    """

    _fresh = False  # read from a file a moment ago, so that no Tensor shows it yet (see `serialization.rebuilding`)
    _swapped = False  # its bytes are in the other machine's order, to be put right once their type is known
    _allowance: Any = None  # how many bytes views of it may still take, where the file isn't trusted

    def __init__(self, tensor: Tensor) -> None:
        root: Handle = tensor
        while root._base is not None:
            root = root._base
        self._root: Any = root

    def _elements(self) -> np.ndarray:
        """The values in the order of memory: of a contiguous Tensor, which a base is."""
        return np.ravel(self._root._host("storage()"))

    def _bytes(self) -> np.ndarray:
        return np.ascontiguousarray(self._elements()).view(np.uint8)

    @property
    def device(self) -> device:
        """Where they are."""
        return self._root.device

    is_cuda = property(lambda self: self._root.is_cuda)

    def data_ptr(self) -> int:
        """A number that two Tensors' storages share if they are one."""
        return self._root.data_ptr()

    def nbytes(self) -> int:
        """How many bytes there are."""
        return self._root.nbytes

    def element_size(self) -> int:
        """1 byte."""
        return 1

    def size(self) -> int:
        """How many elements there are."""
        return self.nbytes() // self.element_size()

    def to(self, device: Any) -> Any:
        """The same on a device: this very storage if it is there already. Raises RuntimeError if there is no such device."""
        moved = (self._root.detach() if self._root.requires_grad else self._root).to(device)
        if moved.device == self.device:
            return self
        new = type(self)(make(value_of(moved)))
        new._fresh, new._allowance, new._swapped = self._fresh, self._allowance, self._swapped
        return new

    def cpu(self) -> Any:
        """The same in the CPU's memory."""
        return self.to("cpu")

    def cuda(self, device: int | None = None) -> Any:
        """The same on a GPU, the present one if none is named. Raises RuntimeError if there is none."""
        return self.to("cuda" if device is None else f"cuda:{device}" if isinstance(device, int) else device)

    def clone(self) -> Any:
        """A copy."""
        return type(self)(self._root.detach().clone())

    def tolist(self) -> list:
        """The elements as Python numbers."""
        return self._bytes().tolist()

    def __len__(self) -> int:
        return self.size()

    def __iter__(self) -> Iterator:
        return iter(self.tolist())

    def __getitem__(self, index: Any) -> Any:
        return self.tolist()[index]

    def __eq__(self, other: object) -> bool:
        return isinstance(other, UntypedStorage) and self._root is other._root

    def __hash__(self) -> int:
        return hash(self._root)

    def __repr__(self) -> str:
        lines = "\n".join(f" {value}" for value in self.tolist())
        return f"{lines}\n[torch.storage.{type(self).__name__}(device={self.device}) of size {self.size()}]"


class TypedStorage(UntypedStorage):
    """The same as elements of the Tensor's dtype."""

    @property
    def dtype(self) -> dtype:
        """The type of the elements."""
        return self._root.dtype

    def element_size(self) -> int:
        """The bytes of one element."""
        return self._root.element_size()

    def tolist(self) -> list:
        """The elements as Python numbers."""
        return self._elements().tolist()

    def untyped(self) -> UntypedStorage:
        """The same as bytes."""
        return UntypedStorage(self._root)

    _untyped_storage = property(untyped)


class StorageType(type):
    """A dtype. Called, it makes a storage of that type; ``isinstance`` asks whether one has it.

    ``torch.FloatStorage(3)`` has three zeros (PyTorch leaves them as they are), ``torch.FloatStorage([1, 2])`` these values.
    """

    dtype: dtypes.dtype

    def __instancecheck__(cls, value: Any) -> bool:
        return isinstance(value, TypedStorage) and value.dtype is cls.dtype

    def __call__(cls, values: Any = 0) -> TypedStorage:
        if isinstance(values, int):
            return TypedStorage(make(np.zeros(values, cls.dtype.numpy)))
        return TypedStorage(make(np.array(values, cls.dtype.numpy).reshape(-1)))

    def from_buffer(cls, buffer: Any, byte_order: str = "native", count: int = -1, offset: int = 0) -> TypedStorage:
        """A copy of the bytes of ``buffer``, as elements of this type.

        Args:
            buffer: bytes or what gives them.
            byte_order: "native", "little" or "big".
            count: how many elements; -1: all.
            offset: from which byte.

        Raises:
            ValueError: the bytes don't divide into elements, or there is no such byte order.
        """
        if byte_order not in ("native", "little", "big"):
            raise ArgumentValueError(
                f"from_buffer(): byte_order must be 'native', 'little' or 'big' (e.g. 'native'), got {byte_order!r}"
            )
        array = np.frombuffer(buffer, cls.dtype.numpy, count, offset)
        return TypedStorage(make(swapped(array.copy()) if byte_order == "big" else array.copy()))

    def __repr__(cls) -> str:
        return f"<class 'torch.{cls.__name__}'>"


def swapped(array: np.ndarray) -> np.ndarray:
    """Elements that were read in the wrong order of bytes, put right. Complex numbers are two parts each."""
    part = array.dtype.itemsize // (2 if array.dtype.kind == "c" else 1)
    if part == 1:
        return array
    return array.view(f"u{part}").byteswap().view(array.dtype)


# The storage classes that PyTorch's files name. Types without one are written as bytes.
NAMED = {
    "DoubleStorage": dtypes.float64,
    "FloatStorage": dtypes.float32,
    "HalfStorage": dtypes.float16,
    "BFloat16Storage": dtypes.bfloat16,
    "LongStorage": dtypes.int64,
    "IntStorage": dtypes.int32,
    "ShortStorage": dtypes.int16,
    "CharStorage": dtypes.int8,
    "ByteStorage": dtypes.uint8,
    "BoolStorage": dtypes.bool_,
    "ComplexFloatStorage": dtypes.complex64,
    "ComplexDoubleStorage": dtypes.complex128,
}
TYPES: dict[str, StorageType] = {
    name: StorageType(name, (), {"__module__": "funtorch", "dtype": of, "__doc__": f"Storages of {of.name}."})
    for name, of in NAMED.items()
}
TYPE_OF: dict[dtype, StorageType] = {cls.dtype: cls for cls in TYPES.values()}


GOING = "TypedStorage is deprecated: UntypedStorage will be the only storage class. Use tensor.untyped_storage()."


def untyped_storage(self: Tensor) -> UntypedStorage:
    """The bytes that this Tensor shares with its views, for reading."""
    return UntypedStorage(self)


def storage(self: Tensor) -> TypedStorage:
    """The elements that this Tensor shares with its views, as a flat row, for reading."""
    caution_once(GOING)
    return TypedStorage(self)


def storage_type(self: Tensor) -> StorageType:
    """The class of `storage`."""
    caution_once(GOING)
    return TYPE_OF[self.dtype]


registry.add_method("storage_type", storage_type)
registry.add_method("untyped_storage", untyped_storage)
registry.add_method("storage", storage)
registry.add_method("_typed_storage", lambda self: TypedStorage(self))
