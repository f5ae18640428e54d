"""The pickler that writes PyTorch's names for funtorch's classes, and storages apart from the structure."""

from __future__ import annotations

import functools
import pickle
from collections import OrderedDict
from types import FunctionType
from typing import Any

import numpy as np

from ..core.handle import Handle, make
from ..core.views import layout
from ..devices import device
from ..dtypes import dtype, uint8
from ..errors import OpError
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


BYTES = TYPE_OF[uint8]  # the legacy format has no storages without a type


class Storages:
    """The storages that a structure holds: one for each Tensor that is no view, whatever views of it there are."""

    def __init__(self, legacy: bool = False) -> None:
        self.legacy = legacy
        self.kept: list[UntypedStorage] = []
        self.keys: dict[tuple[int, bool], str] = {}

    def identify(self, storage: UntypedStorage) -> tuple:
        """The persistent id of a storage: its class, key, place, and count of elements."""
        root = storage._root
        kind = TYPE_OF.get(root.dtype) if isinstance(storage, TypedStorage) else None
        one = id(root), kind is None  # PyTorch takes a storage for what its first id says
        if one not in self.keys:
            self.keys[one] = str(len(self.kept))
            self.kept.append(storage)
        count = root.numel() if kind is not None else storage.nbytes()
        named = kind or (BYTES if self.legacy else UntypedStorage)
        found = ("storage", named, self.keys[one], location_tag(storage), count)
        return (*found, None) if self.legacy else found

    def bytes_of(self, number: int) -> np.ndarray:
        """The bytes of a storage, as NumPy's."""
        root = self.kept[number]._root
        array = np.ascontiguousarray(root.detach()._host("save()"))
        return array.reshape(-1).view(np.uint8)

    def width(self, number: int) -> int:
        """How many bytes an element has, by the storage's class."""
        storage = self.kept[number]
        return storage._root.element_size() if isinstance(storage, TypedStorage) else 1


def _shown(tensor: Any) -> tuple[UntypedStorage, tuple, tuple]:
    """The storage that a Tensor shows, (offset, size, strides), and the mark of one that shows its elements' conjugates."""
    size = tuple(tensor.shape)  # brings a view up to date
    handle, plain = tensor, True
    while handle._base is not None:
        plain = plain and all(link.layout is not None for link in handle._chain)
        handle = handle._base
    if plain and handle.dtype is tensor.dtype and handle.__dict__.get(COUNTS_FOR, 1) == 1:
        strides, offset = layout(tensor)
        kind = TypedStorage if tensor.dtype in TYPE_OF else UntypedStorage
        marks = ({"conj": True},) if tensor.is_conj() else ()
        return kind(handle), (int(offset), size, tuple(int(step) for step in strides)), marks
    # Values of its own: it shows parts of its base's elements, such as the real ones of complex, or it counts for one parameter now.
    return _shown(make(np.asarray(tensor.detach()._host("save()"), order="C")))  # which leaves a number a number


def _attributes(tensor: Any) -> dict[str, Any]:
    """What the user has set on a Tensor."""
    return {
        name: value
        for name, value in tensor.__dict__.items()
        if name not in Handle.__annotations__ and not hasattr(Handle, name) and name not in UNPICKLED_ATTRIBUTES
    }


def _reduce_tensor(tensor: Any) -> Any:
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
    storage, where, marks = _shown(tensor)
    arguments = (storage, *where, tensor.requires_grad, OrderedDict())
    if not isinstance(storage, TypedStorage):
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
        return _reduce_tensor(value) if isinstance(value, Tensor) else NotImplemented

    def save_global(self, value: Any, name: str | None = None) -> None:
        """Write the address of a class or function: PyTorch's for those of funtorch."""
        found = torch_name(value)
        if found is None:
            super().save_global(value, name)  # type: ignore[misc]
            return
        writer: Any = self
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
        RuntimeError: a protocol below 2.
        pickle.PicklingError, TypeError, AttributeError: as Python's pickler does.
    """
    if not 2 <= protocol <= pickle.HIGHEST_PROTOCOL:
        raise OpError(f"save(): pickle_protocol must be 2 to {pickle.HIGHEST_PROTOCOL}, got {protocol}")
    # Pickle's second pickler is written in Python: only such a one writes other names. Others write funtorch's, which it reads too.
    base = pickle._Pickler if module in (None, pickle) else module.Pickler  # type: ignore[attr-defined]
    writer = pickler_class(base)(file, protocol=protocol)
    writer.storages = storages
    writer.dump(value)
