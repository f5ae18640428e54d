"""The pickler that writes PyTorch's names for funtorch's classes, and storages apart from the structure."""

from __future__ import annotations

import functools
import pickle
from collections import OrderedDict
from types import FunctionType
from typing import Any

import numpy as np

from ..core.handle import Handle, make
from ..core.strides import layout
from ..devices import device
from ..dtypes import dtype, uint8
from ..errors import ArgumentValueError, OpError, UnpicklableError
from ..layouts import layout as Layout
from ..nn.parameter import Buffer, Parameter
from ..size import Size
from ..storage import TYPE_OF, TypedStorage, UntypedStorage
from ..tensor import Tensor
from . import rebuilding
from .locations import location_tag
from .names import torch_name
from .sparse import is_sparse, parts

COUNTS_FOR = "_owners"  # set on an optimiser's step that counts for several parameters; PyTorch counts for each by itself
UNPICKLED_ATTRIBUTES = ("_after_hooks", "persistent", COUNTS_FOR)


LOCAL = (
    "save(): Can't pickle local object {!r}: a file has the addresses of classes and functions, and this one was made inside of a "
    "function or is a lambda. Define it at the top of a module, or save state_dict() instead of the whole."
)
BYTES = TYPE_OF[uint8]  # the legacy format has no storages without a type


class Stored(UntypedStorage):
    """A storage as a file has it: of elements of one dtype, or of bytes (None)."""

    def __init__(self, root: Any, kind: dtype | None) -> None:
        super().__init__(root)
        self.kind = kind

    def element_size(self) -> int:
        """The bytes of one element; 1 where there are none."""
        return 1 if self.kind is None else self.kind.itemsize


class Storages:
    """The storages that a structure holds: one for each Tensor that is no view, whatever views of it there are."""

    def __init__(self, legacy: bool = False) -> None:
        self.legacy = legacy
        self.kept: list[Stored] = []
        self.keys: dict[tuple[int, dtype | None], str] = {}
        self.kinds: dict[int, dtype | None] = {}
        self.arrays: list[np.ndarray] = []

    def stored(self, root: Any, kind: dtype | None) -> Stored | None:
        """A storage of that type; None if it has another already: PyTorch refuses files with two views of one storage."""
        return Stored(root, kind) if self.kinds.get(id(root), kind) is kind else None

    def identify(self, storage: UntypedStorage) -> tuple:
        """The persistent id of a storage: its class, key, place, and count of elements."""
        root = storage._root
        if not isinstance(storage, Stored):
            storage = Stored(root, root.dtype if isinstance(storage, TypedStorage) and root.dtype in TYPE_OF else None)
        kind = storage.kind
        one = id(root), kind  # PyTorch takes a storage for what its first id says
        self.kinds.setdefault(id(root), kind)
        if one not in self.keys:
            self.keys[one] = str(len(self.kept))
            self.kept.append(storage)
        named = (BYTES if self.legacy else UntypedStorage) if kind is None else TYPE_OF[kind]
        found = ("storage", named, self.keys[one], location_tag(storage), storage.size())
        return (*found, None) if self.legacy else found

    def read(self) -> None:
        """Find the values of all storages. Raises RuntimeError for those that have none, in a transform."""
        self.arrays = [_bytes_of(storage._root) for storage in self.kept]

    def bytes_of(self, number: int) -> np.ndarray:
        """The bytes of a storage, once they are read."""
        return self.arrays[number]

    def width(self, number: int) -> int:
        """How many bytes an element has, by the storage's class."""
        return self.kept[number].element_size()


def _bytes_of(root: Any) -> np.ndarray:
    array = np.ascontiguousarray(root.detach()._host("save()"))
    return array.reshape(-1).view(np.uint8)


def _shown(tensor: Any, storages: Storages) -> tuple[Stored, tuple, tuple]:
    """The storage that a Tensor shows, (offset, size, strides), and the marks of one that shows its elements' conjugates or negatives."""
    size = tuple(tensor.shape)  # brings a view up to date
    handle, plain = tensor, True
    while handle._base is not None:
        plain = plain and all(link.layout is not None for link in handle._chain)
        handle = handle._base
    if plain and handle.__dict__.get(COUNTS_FOR, 1) == 1:
        strides, offset = layout(tensor)
        where = int(offset), size, tuple(int(step) for step in strides)
        signs = {"conj": tensor.is_conj(), "neg": tensor.is_neg()}
        marks = ({name: True for name, shown in signs.items() if shown},) if any(signs.values()) else ()
        stored = storages.stored(handle, tensor.dtype if tensor.dtype in TYPE_OF else None)
        if stored is not None and (handle.dtype is tensor.dtype or _lies(tensor, handle, where, signs)):
            return stored, where, marks
    # Values of its own: its elements are none of its base's, or those as another type, or it counts for one parameter now.
    return _shown(make(np.asarray(tensor.detach()._host("save()"), order="C")), storages)  # which leaves a number a number


def _lies(tensor: Any, root: Any, where: tuple, signs: dict[str, bool]) -> bool:
    """Whether a Tensor of another dtype than its storage's shows just those bytes: a part of complex numbers, ``x.view(dtype)``."""
    offset, size, strides = where
    width, held = tensor.element_size(), _bytes_of(root)
    if held.size % width or offset * width > held.size:
        return False
    if 0 in size:
        return True
    if (1 + offset + sum((n - 1) * step for n, step in zip(size, strides, strict=True))) * width > held.size:
        return False
    steps = (*(step * width for step in strides), 1)
    found = np.lib.stride_tricks.as_strided(held[offset * width :], (*size, width), steps)
    found = np.ascontiguousarray(found).view(tensor.dtype.numpy)
    found = np.conj(found) if signs["conj"] else found
    found = np.negative(found) if signs["neg"] else found
    return bool(found.tobytes() == np.asarray(tensor.detach()._host("save()")).tobytes())


def _attributes(tensor: Any) -> dict[str, Any]:
    """What the user has set on a Tensor."""
    return {
        name: value
        for name, value in tensor.__dict__.items()
        if name not in Handle.__annotations__ and not hasattr(Handle, name) and name not in UNPICKLED_ATTRIBUTES
    }


def _reduce_tensor(tensor: Any, storages: Storages) -> Any:
    cls = type(tensor)
    if isinstance(tensor.layout, Layout) and is_sparse(tensor):
        return rebuilding._rebuild_sparse_tensor, parts(tensor)
    if cls.__reduce_ex__ is not Tensor.__reduce_ex__:
        return NotImplemented  # a class that says itself how it is pickled
    attributes = _attributes(tensor)
    if cls is Parameter:
        given: tuple = (tensor.detach(), tensor.requires_grad, OrderedDict())
        if attributes:
            return rebuilding._rebuild_parameter_with_state, (*given, attributes)
        return rebuilding._rebuild_parameter, given
    arguments: tuple
    function: Any = rebuilding._rebuild_tensor_v2
    if tensor.is_meta:
        arguments = (tensor.dtype, tuple(tensor.shape), tuple(tensor.stride()), tensor.requires_grad)
        return rebuilding._rebuild_meta_tensor_no_storage, arguments
    storage, where, marks = _shown(tensor, storages)
    arguments = (storage, *where, tensor.requires_grad, OrderedDict())
    if storage.kind is None:
        function, arguments = rebuilding._rebuild_tensor_v3, (*arguments, tensor.dtype)
    arguments += marks
    if cls is Buffer:  # in PyTorch a Tensor with a mark
        cls, attributes = Tensor, attributes | {"persistent": tensor.persistent, "_is_buffer": True}
    if cls is Tensor and not attributes:
        return function, arguments
    return rebuilding._rebuild_from_type_v2, (function, cls, arguments, attributes)


_REDUCED = {
    Size: lambda size: (Size, (tuple(size),)),
    device: lambda where: (device, (where.type,) if where.index is None else (where.type, where.index)),
    dtype: lambda kind: kind.name,
    Layout: lambda found: (rebuilding._get_layout, (repr(found),)),
}


class _Names:
    """What a pickler has to know; goes before Python's own class."""

    storages: Storages

    def persistent_id(self, value: Any) -> tuple | None:
        """The id of a storage; None for anything else."""
        if type(value) is Tensor and value.__dict__.get(COUNTS_FOR, 1) > 1:
            memo: Any = self.memo  # type: ignore[attr-defined]
            if id(value) in memo:  # forgotten, so that it is written again; memos are numbered by their length
                memo[id(value), len(memo)] = memo.pop(id(value))
        return self.storages.identify(value) if isinstance(value, UntypedStorage) else None

    def reducer_override(self, value: Any) -> Any:
        """How Tensors and PyTorch's own kinds of value are made again."""
        reduce = _REDUCED.get(type(value))
        if reduce is not None:
            return reduce(value)  # type: ignore[no-untyped-call]
        return _reduce_tensor(value, self.storages) if isinstance(value, Tensor) else NotImplemented

    def save_global(self, value: Any, name: str | None = None) -> None:
        """Write the address of a class or function: PyTorch's for those of funtorch. Raises PicklingError if it has none."""
        found = torch_name(value)
        if found is None:
            qualified = str(name or getattr(value, "__qualname__", ""))
            if "<locals>" in qualified or "<lambda>" in qualified:
                raise UnpicklableError(LOCAL.format(qualified))
            super().save_global(value, name)  # type: ignore[misc]
            return
        writer: Any = self
        if writer.proto < 4 and "." in found[1]:  # older protocols have it as an attribute of its class
            super().save_global(value, name)  # type: ignore[misc]
            return
        if writer.proto >= 4:
            writer.save(found[0])
            writer.save(found[1])
            writer.write(pickle.STACK_GLOBAL)
        else:
            writer.write(pickle.GLOBAL + f"{found[0]}\n{found[1]}\n".encode())
        writer.memoize(value)


@functools.cache
def pickler_class(base: Any) -> Any:
    """A pickler's class that knows PyTorch's names and storages."""
    made: Any = type("TorchPickler", (_Names, base), {})
    if hasattr(base, "dispatch"):  # Python's table goes past save_global's name
        made.dispatch = base.dispatch | {FunctionType: made.save_global}
    return made


def pickled(value: Any, file: Any, storages: Storages, module: Any = None, protocol: int = 2) -> None:
    """Write the pickle of a structure to a file, and collect its storages.

    Raises:
        RuntimeError: a protocol below 2; ValueError: one that there is not.
        pickle.PicklingError, TypeError, AttributeError: as Python's pickler does.
    """
    if not 2 <= protocol <= pickle.HIGHEST_PROTOCOL:
        error = ArgumentValueError if protocol > pickle.HIGHEST_PROTOCOL else OpError
        raise error(f"save(): pickle_protocol must be 2 to {pickle.HIGHEST_PROTOCOL}, got {protocol}")
    # Pickle's second pickler is written in Python: only such a one writes other names. Others write funtorch's, which it reads too.
    base = pickle._Pickler if module in (None, pickle) else module.Pickler  # type: ignore[attr-defined]
    writer = pickler_class(base)(file, protocol=protocol)
    writer.storages = storages
    writer.dump(value)
