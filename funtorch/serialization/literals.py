"""The opcodes of a pickle that put a plain value on the stack: a table from codes to functions that read it."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pickle import decode_long
from typing import Any

from .source import Source


def read_number(source: Source, layout: str) -> Any:
    """The next number, as `struct` describes it."""
    return struct.unpack(layout, source.read(struct.calcsize(layout)))[0]


def read_data(source: Source, layout: str) -> bytes:
    """Bytes after their count. Raises ValueError for a negative count."""
    count = read_number(source, layout)
    if count < 0:
        raise ValueError("a negative length")
    return source.read(count)


def _number(layout: str) -> Callable[[Source], Any]:
    return lambda source: read_number(source, layout)


def _integer(layout: str) -> Callable[[Source], int]:
    return lambda source: decode_long(read_data(source, layout))


def _text(layout: str) -> Callable[[Source], str]:
    return lambda source: str(read_data(source, layout), "utf-8", "surrogatepass")


def _data(layout: str, kind: type = bytes) -> Callable[[Source], Any]:
    return lambda source: kind(read_data(source, layout))


LITERALS: dict[int, Callable[[Source], Any]] = {
    code[0]: read
    for code, read in {
        b"N": lambda source: None,
        b"\x88": lambda source: True,
        b"\x89": lambda source: False,
        b"J": _number("<i"),
        b"K": _number("<B"),
        b"M": _number("<H"),
        b"G": _number(">d"),
        b"\x8a": _integer("<B"),
        b"\x8b": _integer("<i"),
        b"X": _text("<I"),
        b"\x8c": _text("<B"),
        b"\x8d": _text("<Q"),
        b"B": _data("<I"),
        b"C": _data("<B"),
        b"\x8e": _data("<Q"),
        b"\x96": _data("<Q", bytearray),
        b")": lambda source: (),
        b"]": lambda source: [],
        b"}": lambda source: {},
        b"\x8f": lambda source: set(),
    }.items()
}
