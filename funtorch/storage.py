"""Storages: what a Tensor and its views share, seen as bytes or as a flat row of elements. For reading; Tensors are for writing."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from .core.handle import Handle
from .devices import device
from .ops import registry
from .tensor import Tensor


class UntypedStorage:
    """The bytes behind a Tensor: those of the Tensor that it is a view of, if it is one."""

    def __init__(self, tensor: Tensor) -> None:
        root: Handle = tensor
        while root._base is not None:
            root = root._base
        self._root: Any = root

    def _elements(self) -> np.ndarray:
        """The values in the order of memory: of a contiguous Tensor, which a base is."""
        return np.ravel(self._root.detach().numpy())

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
    def dtype(self) -> Any:
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


def untyped_storage(self: Tensor) -> UntypedStorage:
    """The bytes that this Tensor shares with its views, for reading."""
    return UntypedStorage(self)


def storage(self: Tensor) -> TypedStorage:
    """The elements that this Tensor shares with its views, as a flat row, for reading."""
    return TypedStorage(self)


registry.add_method("untyped_storage", untyped_storage)
registry.add_method("storage", storage)
registry.add_method("_typed_storage", storage)
