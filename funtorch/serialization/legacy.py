"""The format that PyTorch wrote before version 1.6: five pickles one after the other, then the storages.

The pickles: a magic number, a version, facts on the machine, the structure, and the keys of the storages. The storages come
last: while the structure is read, Tensors are made of arrays that are filled later.
"""

from __future__ import annotations

import pickle
import struct
from collections.abc import Callable
from typing import Any

import numpy as np

from ..core.handle import make
from ..errors import OpError
from ..storage import TypedStorage
from .machine import Machine
from .persistent import Reader, parsed
from .pickler import Storages
from .source import Source, TruncatedError

MAGIC_NUMBER = 0x1950A86A20F9469CFC6C
PROTOCOL_VERSION = 1001
MACHINE = {"protocol_version": PROTOCOL_VERSION, "little_endian": True, "type_sizes": {"short": 2, "int": 4, "long": 4}}
NO_MAGIC = "load(): this is neither a zip file nor a legacy file of torch.save: {}"
OLD_VIEW = (
    "load(): the file has a view of a storage, as PyTorch before version 0.4 wrote; load and save it with a newer PyTorch first"
)
WRONG_SIZE = "load(): storage {!r} has {} elements in the file, and its Tensors expect {}"


class LegacyReader(Reader):
    """Makes storages before their bytes are there, and fills them."""

    def __init__(self, source: Source, restore: Callable, allowance: Any) -> None:
        super().__init__(restore, allowance)
        self.source = source
        self.arrays: dict[str, np.ndarray] = {}
        self.claimed = 0

    def persistent(self, pid: Any) -> Any:
        """What a persistent id stands for: a storage, or the class that an old file gives with its source text."""
        if type(pid) is tuple and len(pid) == 4 and pid[0] == "module":
            return pid[1]
        if type(pid) is tuple and len(pid) == 6:
            if pid[5] is not None:
                raise OpError(OLD_VIEW)
            pid = pid[:5]
        return self.storage(parsed(pid))

    def bytes_of(self, key: str, nbytes: int) -> np.ndarray:
        """An array that will have the bytes."""
        self.claimed += nbytes
        if self.claimed > self.source.left():
            raise TruncatedError(f"load(): the file is truncated: its storages are to have {self.claimed} bytes and more")
        array = self.arrays[key] = np.zeros(nbytes, np.uint8)
        return array

    def fill(self, keys: list[str]) -> None:
        """Read the bytes of all storages, and tell the Tensors."""
        for key in keys:
            (count,) = struct.unpack("<q", self.source.read(8))
            if key not in self.storages:
                raise OpError(f"load(): the file has a storage {key!r} that nothing in it shows")
            width, expected = self.widths[key], self.arrays[key].size // self.widths[key]
            if count != expected:
                raise OpError(WRONG_SIZE.format(key, count, expected))
            self.arrays[key][:] = self.source.array(count * width)
            self._tell(key)
        missing = sorted(set(self.storages) - set(keys))
        if missing:
            raise OpError(f"load(): the file has no storages {missing[:5]}")

    def _tell(self, key: str) -> None:
        storage = self.storages[key]
        root = storage._root
        if storage.device.type == "meta":
            return
        filled = TypedStorage(make(self.arrays[key].view(root.dtype.numpy))).to(storage.device)._root
        root._payload = filled._payload.reshape(root._payload.shape)
        root._writes += 1  # views look again


def load_legacy(source: Source, reader: LegacyReader, unpickled: Callable[[Source, Any], Any]) -> Any:
    """Read the file.

    Args:
        source: where it is read from; left behind its end, where another may follow.
        reader: makes its storages.
        unpickled: reads a pickle, given the source and the reader.

    Raises:
        pickle.UnpicklingError: it is no such file, or its pickles are damaged.
        EOFError: it is empty, or ends too soon.
        RuntimeError: it says different things in different places.
    """
    _read_head(source)
    made = unpickled(source, reader)
    keys = _plain(source)
    if not isinstance(keys, list) or not all(isinstance(key, str) for key in keys) or len(set(keys)) != len(keys):
        raise OpError("load(): the file's list of storages is damaged")
    reader.fill(keys)
    return made


def _plain(source: Source) -> Any:
    """The value of a pickle that names nothing."""
    return Machine(source, None, _no_storage).run()


def _no_storage(pid: Any) -> Any:
    raise pickle.UnpicklingError("load(): a storage stands where none belongs")


def _read_head(source: Source) -> None:
    if source.left() == 0:
        raise EOFError("load(): the file is empty: ran out of input")
    try:
        magic = _plain(source)
    except (pickle.UnpicklingError, EOFError) as error:
        raise pickle.UnpicklingError(NO_MAGIC.format(error)) from None
    if type(magic) is not int or magic != MAGIC_NUMBER:
        raise pickle.UnpicklingError(NO_MAGIC.format("it does not begin with the magic number"))
    version = _plain(source)
    if type(version) is not int or version != PROTOCOL_VERSION:
        raise OpError(f"load(): invalid protocol version; {PROTOCOL_VERSION} can be read")
    _plain(source)  # facts on the machine; none of them matters to what follows


def save_legacy(structure: bytes, storages: Storages, file: Any, protocol: int) -> None:
    """Write a structure that is pickled already, and its storages."""
    for head in (MAGIC_NUMBER, PROTOCOL_VERSION, MACHINE):
        pickle.dump(head, file, protocol)
    file.write(structure)
    keys = [str(number) for number in range(len(storages.kept))]
    pickle.dump(keys, file, protocol)
    for number in range(len(keys)):
        data = storages.bytes_of(number)
        file.write(struct.pack("<q", data.size // storages.width(number)))
        file.write(data.data)
