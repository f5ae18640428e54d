"""torch.load: what PyTorch or funtorch saved, without running anything that a file asks for unless the caller says so."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import ArgumentTypeError, ArgumentValueError, OpError
from . import sparse
from .locations import CallerError, restorer
from .source import Source, opened

LEAST_ALLOWANCE = 256 * 2**20  # bytes that views of a file's storages may take, however small it is
ALLOWANCE_PER_BYTE = 8
OWN_PICKLE = (
    "load(): weights_only=True reads with funtorch's own unpickler, which knows what is harmless, and so takes no pickle_module. "
    "Pass weights_only=False if you trust the file as code that you would run."
)
MAP_NEEDS_PATH = "load(): f must be a file name in order to use the mmap argument, got {}"
MAP_NEEDS_ZIP = "load(): mmap can only be used with files saved in the zip format; save it again, or load it without mmap=True"


def load(
    f: Any,
    map_location: Any = None,
    pickle_module: Any = None,
    *,
    weights_only: bool | None = None,
    mmap: bool | None = None,
    **pickle_load_args: Any,
) -> Any:
    """Read what ``torch.save`` wrote, PyTorch's or funtorch's, in the zip format or in that before PyTorch 1.6.

    Args:
        f: a path, or a file open for reading bytes.
        map_location: where storages go: a device or its name, a dict from the file's names to such, or a function
            ``(storage, location) -> storage or None``. None: where they were saved from.
        pickle_module: a module with an ``Unpickler``, for ``weights_only=False``.
        weights_only: True, the default: only Tensors, plain values and what `add_safe_globals` names; nothing else is
            imported or run. False: anything, as pickles do, so only for files that you trust as code.
        mmap: True: storages stay in the file until they are looked at.
        pickle_load_args: ``encoding`` and ``errors`` of texts that Python 2 pickled.

    Raises:
        pickle.UnpicklingError: the file names something that is not admitted, or its pickle is damaged.
        EOFError: it ends too soon.
        RuntimeError: it is damaged in other ways, or a device that it names is not there.
        NotImplementedError: it holds what funtorch does not have, such as quantized Tensors.

    >>> import io, funtorch as torch
    >>> buffer = io.BytesIO()
    >>> torch.save([torch.arange(3)], buffer)
    >>> torch.load(io.BytesIO(buffer.getvalue()))
    [tensor([0, 1, 2])]
    """
    texts = _text_options(pickle_load_args)
    if weights_only is None:
        weights_only = pickle_module is None
    if weights_only and pickle_module is not None:
        raise OpError(OWN_PICKLE)
    if mmap and not isinstance(f, (str, os.PathLike)):
        raise ArgumentValueError(MAP_NEEDS_PATH.format(type(f).__name__))
    unpickled = _distrusting(texts) if weights_only else _trusting(pickle_module or pickle, texts)
    source, owned = opened(f)
    try:
        made = _load(source, map_location, unpickled, bool(mmap), weights_only)
        if sparse.any_waiting():
            sparse.check_waiting()
        return made
    except CallerError as error:
        assert error.__cause__ is not None
        raise error.__cause__ from None
    finally:
        sparse.forget_waiting()
        if owned:
            source.file.close()


def _load(source: Source, map_location: Any, unpickled: Callable, mapped: bool, weights_only: bool) -> Any:
    from .archive import LOCAL_FILE, Archive
    from .legacy import LegacyReader, load_legacy
    from .persistent import ArchiveReader
    from .rebuilding import Allowance

    allowance = Allowance(max(LEAST_ALLOWANCE, ALLOWANCE_PER_BYTE * source.size)) if weights_only else None
    restore, start = restorer(map_location), source.tell()
    head = source.read(min(len(LOCAL_FILE), source.left()))
    source.seek(start)
    if head != LOCAL_FILE:
        if mapped:
            raise OpError(MAP_NEEDS_ZIP)
        return load_legacy(source, LegacyReader(source, restore, allowance), unpickled)
    archive = Archive(source)
    reader = ArchiveReader(archive, restore, allowance, mapped)
    return unpickled(_of_bytes(archive.read("data.pkl")), reader)


def _of_bytes(data: np.ndarray) -> Source:
    import io

    return Source(io.BytesIO(data.tobytes()))


def _text_options(given: dict[str, Any]) -> dict[str, str]:
    unknown = [name for name in given if name not in ("encoding", "errors")]
    if unknown:
        raise ArgumentTypeError(f"load() got an unexpected keyword argument {unknown[0]!r}")
    return {"encoding": "utf-8"} | given


def _distrusting(texts: dict[str, str]) -> Callable[[Source, Any], Any]:
    """Reads pickles with funtorch's own machine."""
    from .admitted import Admitted
    from .machine import Machine

    return lambda source, reader: Machine(source, Admitted(reader.allowance), reader.persistent, **texts).run()


def _trusting(module: Any, texts: dict[str, str]) -> Callable[[Source, Any], Any]:
    """Reads pickles with another module's unpickler, which runs whatever they ask for."""
    from .names import is_theirs, resolve

    class Unpickler(module.Unpickler):
        def find_class(self, name: str, attribute: str) -> Any:
            """What a name means: PyTorch's are funtorch's."""
            return resolve(name, attribute) if is_theirs(name) else super().find_class(name, attribute)

    def read(source: Source, reader: Any) -> Any:
        unpickler = Unpickler(source, **texts)
        unpickler.persistent_load = reader.persistent
        return unpickler.load()

    return read


def get_unsafe_globals_in_checkpoint(f: Any) -> list[str]:
    """The names in a file that ``load(weights_only=True)`` would not admit, as ``module.name``. Nothing is loaded.

    Raises:
        RuntimeError: it is no zip file of ``torch.save``.
    """
    from .admitted import Admitted
    from .archive import Archive
    from .scanning import named

    source, owned = opened(f)
    try:
        found = named(_of_bytes(Archive(source).read("data.pkl")))
    finally:
        if owned:
            source.file.close()
    admitted = Admitted()
    return [f"{module}.{name}" for module, name in found if not admitted.knows(module, name)]
