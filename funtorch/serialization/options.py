"""What is set for all of `save` and `load`: checksums, and the order of bytes in files that don't tell theirs."""

from __future__ import annotations

import enum

from ..errors import ArgumentTypeError


class LoadEndianness(enum.Enum):
    """The order of bytes that `load` assumes where a file does not say."""

    NATIVE = 1
    LITTLE = 2
    BIG = 3


class _Options:
    crc32 = True
    endianness: LoadEndianness | None = None


_options = _Options()


def set_crc32_options(compute_crc32: bool) -> None:
    """Say whether `save` writes checksums, and `load` compares them. Differs from PyTorch: its `load` never does."""
    _options.crc32 = bool(compute_crc32)


def get_crc32_options() -> bool:
    """Whether checksums are written and compared: they are, unless `set_crc32_options` says otherwise."""
    return _options.crc32


def set_default_load_endianness(endianness: LoadEndianness | None) -> None:
    """Say which order of bytes a zip file has that does not say so itself; None: little-endian.

    Raises:
        TypeError: it is no LoadEndianness.
    """
    if endianness is not None and not isinstance(endianness, LoadEndianness):
        raise ArgumentTypeError(
            f"set_default_load_endianness(): expected a LoadEndianness or None, got a {type(endianness).__name__}"
        )
    _options.endianness = endianness


def get_default_load_endianness() -> LoadEndianness | None:
    """What `set_default_load_endianness` was told."""
    return _options.endianness
