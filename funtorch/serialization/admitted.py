"""What a file may name when only weights are wanted: PyTorch's data types and rebuilding functions, and what the user admits.

``weights_only=True`` never imports a module that a file names. A name is looked up in a table, or the load ends.
"""

from __future__ import annotations

import functools
from collections import Counter, OrderedDict
from collections.abc import Callable
from pickle import UnpicklingError
from typing import Any

from .. import dtypes, layouts
from ..devices import device
from ..legacy_types import CPU_TYPES, CUDA_TYPES
from ..nn.parameter import Buffer, Parameter
from ..size import Size
from ..tensor import Tensor
from . import names, rebuilding
from .safe import admitted_by_user, full_name_or_none

REFUSED = (
    "load(weights_only=True): the file names `{0}`, which is not among the classes and functions that may be loaded from a file "
    "nobody vouches for, so nothing of it was run or imported. If you trust the file, and {0} does no harm, admit it with "
    "`torch.serialization.add_safe_globals([{1}])` or `with torch.serialization.safe_globals([{1}]):`. If you trust the file "
    "wholly, as code that you would run, use `torch.load(..., weights_only=False)`."
)
CALLED = "load(weights_only=True): the file {} {}, which may not be done from a file nobody vouches for"
DEEPEST_KEY = 16
MOST_PARTS_OF_KEY = 256
BYTES_OF_ENTRY = 64  # about, in a dict or a set
# Python 2's modules, as pickles of protocol 2 name them.
_RENAMED = {"__builtin__": "builtins", "copy_reg": "copyreg"}
_KEYS = (str, int, float, bool, type(None), bytes, complex, dtypes.dtype, device, layouts.layout, frozenset, Tensor)


def check_key(key: Any) -> Any:
    """The key of a dict, or a member of a set, itself.

    Raises TypeError for one that can't be, or that is deep or large when all of its parts are counted as often as they occur:
    Python takes as long to hash tuples, and to compare sets.
    """
    _count_parts(key, 0, 0)
    return key


def _count_parts(key: Any, count: int, depth: int) -> int:
    if isinstance(key, (tuple, frozenset)):
        for part in key:
            count = _count_parts(part, count + 1, depth + 1)
            if depth >= DEEPEST_KEY or count > MOST_PARTS_OF_KEY:
                raise TypeError(
                    f"a {type(key).__name__} as a key, of more than {MOST_PARTS_OF_KEY} parts or {DEEPEST_KEY} levels"
                )
        return count
    if isinstance(key, _KEYS) or isinstance(key, type) or callable(key) or any(type(key) is cls for cls, _ in admitted_by_user):
        return count
    raise TypeError(f"a {type(key).__name__} as a key")


def _encode(text: Any, encoding: Any = "latin1") -> bytes:
    if encoding not in ("latin1", "latin-1"):  # what Python's pickler writes bytes with, in protocol 2
        raise ValueError(f"bytes encoded as {encoding!r}")
    return text.encode("latin1")


def _bytearray(*arguments: Any) -> bytearray:
    if len(arguments) == 2:
        return bytearray(_encode(*arguments))
    (data,) = arguments or (b"",)
    if not isinstance(data, bytes):  # a number would ask for that many bytes
        raise TypeError(f"a bytearray of a {type(data).__name__}")
    return bytearray(data)


def _set(members: list | tuple = ()) -> set:
    return {check_key(member) for member in members}


def _counter(counts: dict) -> Counter:
    if type(counts) is not dict:
        raise TypeError(f"a Counter of a {type(counts).__name__}")
    return Counter(counts)


def _ordered(pairs: list | tuple = ()) -> OrderedDict:
    return OrderedDict((check_key(key), value) for key, value in pairs)


def _size(sizes: tuple | list) -> Size:
    if not all(type(n) is int for n in sizes):
        raise TypeError("a torch.Size of something else than ints")
    return Size(sizes)


def _parameter(data: Any = None, requires_grad: Any = True) -> Any:
    return rebuilding._rebuild_parameter(data, requires_grad is True, None)


# What may be called, by identity (a value from a file may not be hashable), and how.
_CALLS: dict[int, Callable] = {
    id(OrderedDict): _ordered,
    id(set): _set,
    id(Counter): _counter,
    id(complex): complex,
    id(bytearray): _bytearray,
    id(_encode): _encode,
    id(Size): _size,
    id(device): device,
    id(Parameter): _parameter,
    id(rebuilding._get_layout): rebuilding._get_layout,
}
_COPIES = {id(OrderedDict), id(set), id(Counter), id(bytearray), id(_encode), id(Size)}
_CALLS |= {id(function): function for function in rebuilding.OF_UTILS}
_PYTHON: dict[str, Any] = {
    "collections.OrderedDict": OrderedDict,
    "collections.Counter": Counter,
    "builtins.set": set,
    "builtins.complex": complex,
    "builtins.bytearray": bytearray,
    "_codecs.encode": _encode,
}


@functools.cache
def _table() -> dict[str, Any]:
    """Every name that is admitted without asking."""
    found = {f"{module}.{name}": value for (module, name), value in names.known().items()}
    found |= {f"torch.{name}": kind for name, kind in CPU_TYPES.items()}
    found |= {f"torch.cuda.{name}": kind for name, kind in CUDA_TYPES.items()}
    return _PYTHON | found


class Admitted:
    """The names that one load admits, and what may be done with them.

    Args:
        allowance: bounds what copies take that the file asks for; None: no bound.
    """

    def __init__(self, allowance: Any = None) -> None:
        self.allowance = allowance
        self.table = _table()
        self.mine = {name: value for value, name in admitted_by_user}
        self.ids = {id(value) for value in self.mine.values()}

    def find(self, module: str, name: str) -> Any:
        """What a name means. Raises pickle.UnpicklingError if it's not admitted, NotImplementedError for dtypes that are not there."""
        full = f"{_RENAMED.get(module, module)}.{name}"
        if full in self.mine:
            return self.mine[full]
        if full in self.table:
            return self.table[full]
        names.refuse_other_types(full)
        raise UnpicklingError(REFUSED.format(full[:200], name[:200]))

    def knows(self, module: str, name: str) -> bool:
        """Whether a name is admitted."""
        full = f"{_RENAMED.get(module, module)}.{name}"
        return full in self.mine or full in self.table

    def call(self, function: Any, arguments: Any) -> Any:
        """``function(*arguments)``. Raises pickle.UnpicklingError if it may not be called."""
        if type(arguments) is not tuple:
            raise TypeError(f"arguments in a {type(arguments).__name__}")
        if function is rebuilding._rebuild_from_type_v2:
            return self._from_type(*arguments)
        safe = _CALLS.get(id(function)) or (function if id(function) in self.ids else None)
        if safe is None:
            raise UnpicklingError(CALLED.format("calls", _label(function)))
        if id(function) in _COPIES:
            self._charge(arguments)
        return safe(*arguments)

    def _charge(self, copied: tuple) -> None:
        """Each call takes a few bytes of the file, and may copy something large that it has once."""
        if self.allowance is not None:
            sized = [value for value in copied if isinstance(value, (str, bytes, list, tuple, dict))]
            self.allowance.take(sum(len(value) * (1 if isinstance(value, (str, bytes)) else BYTES_OF_ENTRY) for value in sized))

    def _from_type(self, function: Any, cls: Any, arguments: Any, state: Any) -> Any:
        if not (cls is Tensor or cls is Parameter or cls is Buffer or id(cls) in self.ids):
            raise UnpicklingError(CALLED.format("makes a Tensor of class", _label(cls)))
        return rebuilding._rebuild_from_type_v2(lambda *given: self.call(function, given), cls, arguments, state)

    def new(self, cls: Any, arguments: Any, named: Any) -> Any:
        """``cls.__new__(cls, *arguments, **named)``. Raises pickle.UnpicklingError if it may not be made."""
        if type(arguments) is not tuple or type(named) is not dict:
            raise TypeError("arguments that are none")
        if isinstance(cls, type) and id(cls) in self.ids:
            return cls.__new__(cls, *arguments, **named)
        if id(cls) in _CALLS and not named:
            return self.call(cls, arguments)
        raise UnpicklingError(CALLED.format("makes a", _label(cls)))

    def build(self, target: Any, state: Any) -> None:
        """Give an object its state. Raises pickle.UnpicklingError if it may have none."""
        cls = type(target)
        self._charge((state,))
        if cls is OrderedDict or cls is Counter:  # a state dict has its layers' versions so
            _set_new_attributes(target, state)
        elif isinstance(target, Tensor) and (cls is Tensor or cls is Parameter or cls is Buffer):
            rebuilding.set_attributes(target, state)
        elif id(cls) not in self.ids:
            raise UnpicklingError(CALLED.format("sets the state of", _label(target)))
        elif hasattr(target, "__setstate__"):
            target.__setstate__(state)
        else:
            _set_state(target, state)


def _set_new_attributes(target: Any, state: Any) -> None:
    if type(state) is not dict or any(type(name) is not str or hasattr(type(target), name) for name in state):
        raise UnpicklingError(CALLED.format("replaces methods of a", _label(target)))
    target.__dict__.update(state)


def _set_state(target: Any, state: Any) -> None:
    """As pickles do for a class without ``__setstate__``: a dict, or a pair of dicts of which the second is for slots."""
    plain, slots = state if isinstance(state, tuple) and len(state) == 2 else (state, None)
    if plain:
        target.__dict__.update(plain)
    for name, value in (slots or {}).items():
        setattr(target, name, value)


def _label(value: Any) -> str:
    """The name of a class or function, or what kind of thing it is."""
    return full_name_or_none(value) or f"a {type(value).__name__}"
