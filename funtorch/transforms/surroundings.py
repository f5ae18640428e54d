"""What compiled code takes from Python around it: numbers, texts and objects in globals, closures, attributes and dicts.

A program has them as constants, so that each is a guard: where one has changed, the program does not apply.
"""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable
from typing import Any

from ..core.handle import Handle

PLAIN = (bool, int, float, complex, str, bytes, type(None))
MISSING = object()
MOST = 64  # of a list's elements, and of functions looked into
OURS = (
    "funtorch",
    "jax",
    "jaxlib",
    "numpy",
    "builtins",
    "math",
    "random",
    "functools",
    "itertools",
    "operator",
    "typing",
    "contextlib",
)


class Surroundings:
    """Places in Python, and what stood in them when this was made."""

    def __init__(self) -> None:
        self.places: dict[tuple[int, Any], tuple[Any, Any, Any]] = {}
        self.functions: set[int] = set()
        self.checks: list[tuple[Callable, Any, Any]] | None = None

    def holds(self) -> bool:
        """Whether each place still has what it had: the same object, or an equal number or text."""
        if self.checks is None:
            self.checks = [(_getter(holder), key, value) for holder, key, value in self.places.values()]
        for get, key, value in self.checks:
            found = get(key, MISSING)
            if found is not value and not _equal(found, value):
                return False
        return True

    def changed(self) -> str | None:
        """The name of a place that has something else now."""
        for holder, key, value in self.places.values():
            found = _getter(holder)(key, MISSING)
            if found is not value and not _equal(found, value):
                return str(key)
        return None

    def restore(self) -> None:
        """Put back what stood in places that can be written."""
        for holder, key, value in self.places.values():
            if _at(holder, key) is not value and isinstance(holder, (dict, list)) and value is not MISSING:
                holder[key] = value

    def note(self, holder: Any, key: Any) -> None:
        """Guard one place."""
        self.places.setdefault((id(holder), key), (holder, key, _at(holder, key)))

    def function(self, fn: Any) -> None:
        """Guard what a Python function's code names: globals, closures, and their attributes and entries."""
        while isinstance(fn, functools.partial):
            fn = fn.func
        if isinstance(fn, types.MethodType):
            self._object(fn.__self__, _names(fn.__func__.__code__) if isinstance(fn.__func__, types.FunctionType) else ())
            fn = fn.__func__
        fn = getattr(fn, "__wrapped__", fn) if not isinstance(fn, types.FunctionType) else fn
        if not isinstance(fn, types.FunctionType) or id(fn) in self.functions or len(self.functions) > MOST:
            return
        self.functions.add(id(fn))
        names = _names(fn.__code__)
        for name in names:
            if name in fn.__globals__:
                self._found(fn.__globals__, name, names)
        for cell in fn.__closure__ or ():
            self._found(cell, "cell_contents", names)

    def _found(self, holder: Any, key: Any, names: tuple) -> None:
        value = _at(holder, key)
        if isinstance(value, (*PLAIN, Handle)):
            self.note(holder, key)
        elif isinstance(value, types.FunctionType):
            if not value.__module__ or value.__module__.split(".")[0] not in OURS:
                self.note(holder, key)
                self.function(value)
        elif value is not MISSING and not isinstance(value, types.ModuleType):
            self.note(holder, key)
            self._object(value, names)

    def _object(self, value: Any, names: Iterable[Any]) -> None:
        """Guard the entries of a list or dict, or the attributes of an object or class, that the code may read."""
        if isinstance(value, dict):
            self._entries(value, [k for k in names if k in value])
        elif isinstance(value, list):
            self._entries(value, range(min(len(value), MOST)))
        elif isinstance(getattr(value, "_parameters", None), dict):  # a Module: what the code names of it, at any depth
            fields = value.__dict__
            for table in (fields["_parameters"], fields["_buffers"], fields["_modules"]):
                for key in [k for k in names if k in table]:
                    self.note(table, key)
                    self._object(table[key], names)
            self._entries(fields, [k for k in names if k in fields and k != "training"])
        elif isinstance(value, Handle):
            return
        elif isinstance(value, type) or (hasattr(value, "__dict__") and type(value).__module__.split(".")[0] not in OURS):
            self._entries(vars(value), [k for k in names if k in vars(value)])

    def _entries(self, holder: Any, keys: Iterable[Any]) -> None:
        for key in keys:
            if isinstance(_at(holder, key), (*PLAIN, Handle)):
                self.note(holder, key)

    def module(self, module: Any) -> None:
        """Guard a Module's parameters, buffers, submodules, and its attributes that are numbers or texts."""
        fields = module.__dict__
        for table in ("_parameters", "_buffers", "_modules"):
            for key in fields.get(table, ()):
                self.note(fields[table], key)
        self._entries(fields, [k for k in fields if not k.startswith("_") and k != "training"])


def _at(holder: Any, key: Any) -> Any:
    return _getter(holder)(key, MISSING)


def _getter(holder: Any) -> Callable:
    """How to look a key up in a dict, a list or a closure's cell: ``get(key, default)``."""
    if isinstance(holder, types.CellType):
        return lambda key, default: getattr(holder, "cell_contents", default)
    if isinstance(holder, list):
        return lambda key, default: holder[key] if key < len(holder) else default
    return holder.get


def _equal(a: Any, b: Any) -> bool:
    return type(a) is type(b) and type(b) in PLAIN and (a == b or a != a and b != b)


@functools.lru_cache(maxsize=4096)
def _names(code: types.CodeType) -> tuple:
    """The names and the constant keys that code, and code within it, may look up."""
    found = dict.fromkeys([*code.co_names, *(c for c in code.co_consts if isinstance(c, (str, int)) and not isinstance(c, bool))])
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found.update(dict.fromkeys(_names(constant)))
    return tuple(found)


def surroundings_of(function: Callable, modules: Iterable[Any], groups: Iterable[tuple[dict, frozenset]]) -> Surroundings:
    """What ``function`` takes from Python: through its code, the Modules that it calls, and optimisers' groups of options.

    ``groups`` has for each group the names that a program takes as inputs.
    """
    found = Surroundings()
    found.function(function)
    for module in modules:
        found.module(module)
    for group, inputs in groups:
        found._entries(group, [k for k in group if k not in inputs])
    return found
