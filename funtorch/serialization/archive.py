"""The zip files that PyTorch writes: records without compression, each at a multiple of 64 bytes.

``NAME/data.pkl`` has the structure, ``NAME/data/KEY`` a storage, ``NAME/byteorder`` "little" or "big". A file is only ever
looked into, by the names of records; nothing is unpacked to a disk, so that names can lead nowhere.
"""

from __future__ import annotations

import io
import mmap as memory_map
import struct
import sys
import zipfile
import zlib
from typing import Any, BinaryIO

import numpy as np

from ..errors import OpError
from .options import LoadEndianness, get_crc32_options, get_default_load_endianness
from .source import Source, TruncatedError

LOCAL_FILE = b"PK\x03\x04"
HEADER = struct.Struct("<4s22xHH")  # of a record: its sign, the lengths of its name and of its extra field
ALIGNMENT = 64
DAMAGED = "load(): the zip file is damaged, or truncated: {}"
SCRIPT = (
    "load(): this is a TorchScript archive, which funtorch can't run. In PyTorch, save the state_dict() of the module instead."
)
NOT_A_CHECKPOINT = "load(): the zip file is no file of torch.save: it must have one record 'NAME/data.pkl', and has {}"
COMPRESSED = (
    "load(): the record {!r} is compressed or encrypted. torch.save never does that, and such a record may grow without bound; pack "
    "the archive again without compression (zip -0)."
)
WRONG_CRC = "load(): the record {!r} is damaged: its checksum is {:#010x} and should be {:#010x}"


class Archive:
    """Reads records.

    Args:
        source: the file.

    Raises:
        RuntimeError: it is damaged, or no file of ``torch.save``; from the methods also.
    """

    def __init__(self, source: Source) -> None:
        self.source = source
        try:
            with zipfile.ZipFile(source.file) as archive:
                self.infos = archive.infolist()
        except Exception as error:  # zipfile lets out errors of many kinds where its headers lie
            raise OpError(DAMAGED.format(f"{type(error).__name__}: {error}")) from None
        self.records = {info.filename: info for info in self.infos}
        self._check()
        self.name = self._find_name()

    def _check(self) -> None:
        if len(self.records) != len(self.infos):
            raise OpError(DAMAGED.format("two records have one name"))
        for info in self.infos:
            if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1 or info.compress_size != info.file_size:
                raise OpError(COMPRESSED.format(info.filename))
        if sum(info.file_size for info in self.infos) > self.source.size:
            raise OpError(DAMAGED.format("its records are larger than the file"))

    def _find_name(self) -> str:
        found = [name for name in self.records if name.endswith("/data.pkl") and name.count("/") == 1]
        if len(found) != 1:
            raise OpError(NOT_A_CHECKPOINT.format(len(found)))
        name = found[0].partition("/")[0]
        if f"{name}/constants.pkl" in self.records:
            raise OpError(SCRIPT)
        return name

    def has(self, name: str) -> bool:
        """Whether there is such a record."""
        return f"{self.name}/{name}" in self.records

    def _place(self, name: str) -> tuple[zipfile.ZipInfo, int]:
        info = self.records.get(f"{self.name}/{name}")
        if info is None:
            raise OpError(DAMAGED.format(f"there is no record {name!r}"))
        if not 0 <= info.header_offset <= self.source.size - HEADER.size:
            raise OpError(DAMAGED.format(f"the record {name!r} lies outside of the file"))
        self.source.seek(info.header_offset)
        sign, length, extra = HEADER.unpack(self.source.read(HEADER.size))
        own = info.orig_filename.encode("utf-8" if info.flag_bits & 0x800 else "cp437")
        start = info.header_offset + HEADER.size + length + extra
        if sign != LOCAL_FILE or start + info.file_size > self.source.size or self.source.read(length) != own:
            raise OpError(DAMAGED.format(f"the directory is wrong about the record {name!r}"))
        return info, start

    def read(self, name: str) -> np.ndarray:
        """The bytes of a record."""
        info, start = self._place(name)
        self.source.seek(start)
        try:
            data = self.source.array(info.file_size)
        except TruncatedError as error:
            raise OpError(DAMAGED.format(error)) from None
        found = zlib.crc32(data.data) if get_crc32_options() else info.CRC
        if found != info.CRC:
            raise OpError(WRONG_CRC.format(name, found, info.CRC))
        return data

    def text(self, name: str) -> str:
        """A record of a few characters."""
        return self.read(name).tobytes()[:64].decode("ascii", "replace").strip()

    def mapped(self, name: str) -> np.ndarray:
        """The bytes of a record where they lie in the file, read when they are first looked at. Checksums are not compared."""
        info, start = self._place(name)
        if not info.file_size:
            return np.empty(0, np.uint8)
        if not hasattr(self, "_map"):
            self._map = memory_map.mmap(self.source.file.fileno(), 0, access=memory_map.ACCESS_READ)
        return np.frombuffer(self._map, np.uint8, info.file_size, start)

    def is_swapped(self) -> bool:
        """Whether the order of bytes is the other one."""
        order = self.text("byteorder") if self.has("byteorder") else _assumed_order()
        if order not in ("little", "big"):
            raise OpError(f"load(): the file's byteorder must be 'little' or 'big', and is {order!r}")
        return order != sys.byteorder


def _assumed_order() -> str:
    orders: dict[Any, str] = {LoadEndianness.NATIVE: sys.byteorder, LoadEndianness.BIG: "big"}
    return orders.get(get_default_load_endianness(), "little")


class ArchiveWriter:
    """Writes records.

    Args:
        file: open for writing bytes; it need not be able to seek.
        name: the folder that all records are in.
    """

    def __init__(self, file: Any, name: str) -> None:
        self.file = Counting(file)
        self.name = name
        self.zip = zipfile.ZipFile(self.file, "w", zipfile.ZIP_STORED)  # type: ignore[call-overload]

    def write(self, name: str, data: bytes | memoryview) -> None:
        """Write one record."""
        info = zipfile.ZipInfo(f"{self.name}/{name}")
        header = HEADER.size + len(info.filename.encode()) + 4
        padding = -(self.file.written + header) % ALIGNMENT
        info.extra = b"FB" + struct.pack("<H", padding) + b"Z" * padding
        try:
            self.zip.writestr(info, data)  # type: ignore[arg-type]
        except BaseException:
            self.zip.fp = None  # or zipfile writes a directory when it is collected
            raise

    def close(self) -> None:
        """Write the directory."""
        self.zip.close()


class Counting(io.RawIOBase):
    """A file that is written from its start to its end, and how far it is."""

    def __init__(self, file: BinaryIO) -> None:
        self.to = file
        self.written = 0

    def writable(self) -> bool:
        """True."""
        return True

    def write(self, data: Any) -> int:
        """Write on."""
        self.to.write(data)
        self.written += len(data)
        return len(data)

    def flush(self) -> None:
        """Hand on what the file holds back."""
        if hasattr(self.to, "flush"):
            self.to.flush()
