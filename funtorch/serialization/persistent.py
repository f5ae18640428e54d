"""Storages by the ids that a pickle has for them: ``("storage", class, key, place, count of elements)``."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import dtypes
from ..core.handle import make
from ..dtypes import dtype
from ..errors import OpError
from ..storage import TYPES, TypedStorage, UntypedStorage, swapped
from .archive import Archive

BAD_ID = "load(): a persistent id in the file is not ('storage', class, key, place, count): {}"
CHANGED = "load(): storage {!r} has {} elements of {} at one place in the file, and {} of {} at another"
_KIND_OF = {id(cls): cls.dtype for cls in TYPES.values()} | {id(UntypedStorage): None}


@dataclass(frozen=True)
class StorageId:
    """What an id says; ``kind`` is None for a storage of bytes."""

    kind: dtype | None
    key: str
    place: str
    count: int


def parsed(pid: Any) -> StorageId:
    """Check an id. Raises RuntimeError for one that is no storage's."""
    if type(pid) is not tuple or len(pid) != 5:
        raise OpError(BAD_ID.format(f"it is a {type(pid).__name__}"))
    word, cls, key, place, count = pid
    if type(word) is not str or word != "storage":
        raise OpError(BAD_ID.format("it is of another kind"))
    if id(cls) not in _KIND_OF:
        raise OpError(BAD_ID.format(f"its class is a {type(cls).__name__} that is no storage class"))
    if isinstance(key, int) and not isinstance(key, bool):  # PyTorch's of some years
        key = str(key)
    if type(key) is not str or type(place) is not str or type(count) is not int or not 0 <= count < 2**60:
        raise OpError(BAD_ID.format("its key or place is no text, or its count no number"))
    return StorageId(_KIND_OF[id(cls)], key, place, count)


class Reader:
    """Makes each storage once.

    Args:
        restore: takes a storage and the place that the file names; returns it at its place.
        allowance: bounds what views take; None: no bound.
    """

    is_swapped = False

    def __init__(self, restore: Callable[[Any, str], Any], allowance: Any) -> None:
        self.restore = restore
        self.allowance = allowance
        self.storages: dict[str, Any] = {}
        self.made: dict[str, Any] = {}  # before they were moved
        self.ids: dict[str, StorageId] = {}
        self.widths: dict[str, int] = {}

    def bytes_of(self, key: str, nbytes: int) -> np.ndarray:
        """The bytes of a storage. Raises RuntimeError if the file has another number of them."""
        raise NotImplementedError

    def storage(self, wanted: StorageId) -> Any:
        """The storage of an id."""
        before = self.ids.get(wanted.key)
        if before is None:
            self.ids[wanted.key] = wanted
            self.storages[wanted.key] = self._made(wanted)
        elif (before.kind, before.count) != (wanted.kind, wanted.count):
            raise OpError(CHANGED.format(wanted.key, before.count, before.kind, wanted.count, wanted.kind))
        return self.storages[wanted.key]

    def values_of(self, wanted: StorageId, kind: dtype) -> np.ndarray:
        """The elements of a storage."""
        return self.bytes_of(wanted.key, wanted.count * kind.itemsize).view(kind.numpy)

    def _made(self, wanted: StorageId) -> Any:
        kind = wanted.kind or dtypes.uint8
        self.widths[wanted.key] = kind.itemsize
        cls = UntypedStorage if wanted.kind is None else TypedStorage
        made = self.made[wanted.key] = cls(make(self.values_of(wanted, kind)))
        made._fresh, made._allowance = True, self.allowance
        made._swapped = self.is_swapped and wanted.kind is None
        moved = self.restore(made, wanted.place)
        if not isinstance(moved, UntypedStorage) or moved.nbytes() != made.nbytes():
            raise OpError(f"load(): map_location must return the storage, moved or not, and returned a {type(moved).__name__}")
        return moved


class ArchiveReader(Reader):
    """Reads storages from the records of a zip file."""

    def __init__(self, archive: Archive, restore: Callable, allowance: Any, mapped: bool) -> None:
        super().__init__(restore, allowance)
        self.archive = archive
        self.mapped = mapped
        self.is_swapped = archive.is_swapped()

    def persistent(self, pid: Any) -> Any:
        """The storage that a persistent id stands for."""
        return self.storage(parsed(pid))

    def bytes_of(self, key: str, nbytes: int) -> np.ndarray:
        """The bytes of a record."""
        name = f"data/{key}"
        data = self.archive.mapped(name) if self.mapped else self.archive.read(name)
        if data.size != nbytes:
            raise OpError(f"load(): storage {key!r} has {data.size} bytes in the file, and its Tensors expect {nbytes}")
        return data

    def values_of(self, wanted: StorageId, kind: dtype) -> np.ndarray:
        """The elements, in this machine's order of bytes; those of a storage of bytes wait for their type."""
        values = super().values_of(wanted, kind)
        return swapped(np.array(values)) if self.is_swapped and wanted.kind is not None else values
