"""torch.save: a structure of any kind, with its Tensors, in the formats that PyTorch reads."""

from __future__ import annotations

import contextlib
import hashlib
import io
import os
import sys
from collections.abc import Iterator
from typing import Any

from ..errors import NotAFileError, OpError

DEFAULT_PROTOCOL = 2
NOT_WRITABLE = "save(): f must be a path (str or os.PathLike) or a file object with write(), such as io.BytesIO(); got {}"


def save(
    obj: Any,
    f: Any,
    pickle_module: Any = None,
    pickle_protocol: int = DEFAULT_PROTOCOL,
    _use_new_zipfile_serialization: bool = True,
) -> None:
    """Write ``obj`` as PyTorch does: Tensors, state dicts, Modules, optimisers, anything that can be pickled.

    Tensors that share elements do so again when they are loaded, here or in PyTorch.

    Args:
        obj: what is written.
        f: a path, or a file open for writing bytes.
        pickle_module: a module with a ``Pickler``, instead of `pickle`.
        pickle_protocol: 2 to 5; PyTorch's ``weights_only`` reads 2.
        _use_new_zipfile_serialization: False: the format of PyTorch before 1.6.

    Raises:
        RuntimeError: the folder of a path is not there.
        ValueError: there is no such protocol.
        TypeError: ``f`` is neither; it is an AttributeError too.
        pickle.PicklingError, AttributeError: something in ``obj`` can't be pickled; nothing is written then, and a file that
            was there stays as it was.
        OSError: writing failed, as on a full disk; the file is then incomplete.

    >>> import io, funtorch as torch
    >>> buffer = io.BytesIO()
    >>> torch.save({"w": torch.ones(2), "epoch": 3}, buffer)
    >>> torch.load(io.BytesIO(buffer.getvalue()))
    {'w': tensor([1., 1.]), 'epoch': 3}
    """
    from .legacy import save_legacy
    from .pickler import Storages, pickled

    legacy = not _use_new_zipfile_serialization
    structure, storages = io.BytesIO(), Storages(legacy)
    pickled(obj, structure, storages, pickle_module, pickle_protocol)
    storages.read()  # what can't be read raises before a file is opened
    with _opened(f) as file:
        if legacy:
            save_legacy(structure.getvalue(), storages, file, pickle_protocol)
        else:
            _save_archive(structure.getvalue(), storages, file, _archive_name(f))


def _save_archive(structure: bytes, storages: Any, file: Any, name: str) -> None:
    from .archive import ALIGNMENT, ArchiveWriter

    archive = ArchiveWriter(file, name)
    digest = hashlib.sha1(structure, usedforsecurity=False)
    archive.write("data.pkl", structure)
    archive.write(".format_version", b"1")
    archive.write(".storage_alignment", str(ALIGNMENT).encode())
    archive.write("byteorder", sys.byteorder.encode())
    for number in range(len(storages.kept)):
        archive.write(f"data/{number}", storages.bytes_of(number).data)
    archive.write("version", b"3\n")
    archive.write(".data/serialization_id", str(int(digest.hexdigest(), 16))[:40].zfill(40).encode())
    archive.close()


def _archive_name(f: Any) -> str:
    """The folder inside the archive: PyTorch takes the file's name without its ending."""
    if not isinstance(f, (str, os.PathLike)):
        return "archive"
    return os.path.splitext(os.path.basename(os.fsdecode(f)))[0] or "archive"


@contextlib.contextmanager
def _opened(f: Any) -> Iterator[Any]:
    if not isinstance(f, (str, os.PathLike)):
        if not hasattr(f, "write"):
            raise NotAFileError(NOT_WRITABLE.format(type(f).__name__))
        yield f
        return
    folder = os.path.dirname(os.fsdecode(f))
    if folder and not os.path.isdir(folder):
        raise OpError(f"save(): Parent directory {folder} does not exist.")
    with open(f, "wb") as file:
        yield file
