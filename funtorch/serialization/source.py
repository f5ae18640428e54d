"""Where a file's bytes come from: a path or a file object, read no further than it goes, whatever its content claims."""

from __future__ import annotations

import io
import os
from typing import Any, BinaryIO

import numpy as np

from ..errors import ArgumentTypeError, NotAFileError

LONGEST_LINE = 4096
NOT_READABLE = "load(): f must be a path (str or os.PathLike) or a file object with read(), such as open(path, 'rb') or io.BytesIO(data); got {}"


class TruncatedError(EOFError):
    """The file ends before what it announces."""


class Source:
    """A file that can be read at any place.

    Args:
        file: an open binary file that can seek.

    Raises:
        EOFError: from each of its methods, if there are fewer bytes than asked for; nothing is allocated for them.
    """

    def __init__(self, file: BinaryIO) -> None:
        self.file = file
        self.at = file.tell()
        self.size = file.seek(0, os.SEEK_END)
        file.seek(self.at)

    def left(self) -> int:
        """How many bytes are still to be read."""
        return self.size - self.at

    def _check(self, count: int) -> None:
        if count < 0 or count > self.left():
            raise TruncatedError(
                f"load(): the file is truncated: {count} bytes are announced at byte {self.at}, and {max(self.left(), 0)} are there"
            )

    def read(self, count: int = -1) -> bytes:
        """The next bytes; all that are left if ``count`` is negative."""
        count = self.left() if count < 0 else count
        self._check(count)
        data = self.file.read(count)
        self.at += len(data)
        if len(data) != count:
            raise TruncatedError("load(): the file became shorter while it was read")
        return data

    def readline(self) -> bytes:
        """The next bytes up to a line's end."""
        data = self.file.readline(LONGEST_LINE)
        self.at += len(data)
        if not data.endswith(b"\n"):
            raise TruncatedError(f"load(): a name in the file has no end within {LONGEST_LINE} bytes")
        return data

    def tell(self) -> int:
        """The place of the next byte."""
        return self.at

    def seek(self, at: int) -> None:
        """Go on from another place."""
        self.at = self.file.seek(at)

    def array(self, count: int) -> np.ndarray:
        """The next bytes as an array of its own."""
        self._check(count)
        made = np.empty(count, np.uint8)
        view, done = made.data, 0
        while done < count:
            if hasattr(self.file, "readinto"):
                got = self.file.readinto(view[done:])
            else:
                part = self.file.read(count - done)
                got = len(part)
                view[done : done + got] = part
            if not got:
                raise TruncatedError("load(): the file became shorter while it was read")
            done += got
        self.at += count
        return made


def opened(f: Any) -> tuple[Source, bool]:
    """The source that ``f`` names or is, and whether it has to be closed. Raises TypeError (an AttributeError too) for anything else."""
    if isinstance(f, (str, os.PathLike)):
        return Source(open(f, "rb")), True  # noqa: SIM115  # closed by `load`
    if not hasattr(f, "read"):
        raise NotAFileError(NOT_READABLE.format(type(f).__name__))
    if _seeks(f):
        return Source(f), False
    data = f.read()
    if not isinstance(data, (bytes, bytearray, memoryview)):
        raise ArgumentTypeError(f"load(): the file must be open for reading bytes (mode 'rb'); read() gave {type(data).__name__}")
    return Source(io.BytesIO(data)), False


def _seeks(f: Any) -> bool:
    if isinstance(f, io.TextIOBase):
        raise ArgumentTypeError("load(): the file must be open for reading bytes (mode 'rb'), not text")
    if hasattr(f, "seekable"):
        return bool(f.seekable())
    return hasattr(f, "seek") and hasattr(f, "tell")
