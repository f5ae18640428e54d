"""What compiled code takes from Python around it: numbers, texts and objects in globals, closures, attributes and containers.

A program has them as constants, so that each is a guard: where one has changed, the program does not apply.
"""

from __future__ import annotations

import functools
import itertools
import operator
import types
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from ..core.handle import Handle
from ..utils.hooks import RemovableHandle
from .code_names import inspected, is_module, is_ours, names_in, names_of
from .hooks_in_force import hooks_for_all, hooks_in, hooks_of
from .places import MISSING, PLAIN, Contents, Entries, Place

MOST = 64  # of a container's elements, and of functions looked into
LONG = 4096  # of a container's elements, compared one by one
DEPTH = 5  # of objects in attributes of objects
BYTES = 4096  # of a NumPy array whose elements are compared


class Surroundings:
    """Places in Python, and what stood in them when this was made."""

    def __init__(self) -> None:
        self.entries: dict[int, Entries] = {}  # by the container's id
        self.contents: dict[int, Contents] = {}
        self.arrays: list[tuple[np.ndarray, bytes]] = []
        self.hooks: list[tuple[Callable, tuple]] = []  # functions that give all hooks of one thing
        self.hooks_at = RemovableHandle.changes
        self.seen: dict[int, Any] = {}
        self._fetchers: list[Callable] | None = None
        self._expected: list[Any] = []

    def changed(self) -> str | None:
        """The name of a place that has something else now; None if there is none."""
        if self._fetchers is None:
            self._prepare()
        try:  # in one go, without Python between the places
            found = itertools.chain.from_iterable(map(operator.call, self._fetchers or ()))
            same = all(map(operator.is_, found, self._expected))
        except (KeyError, ValueError):
            same = False
        if not same:
            first = next(
                (name for name in map(operator.methodcaller("name_of_change"), self._places()) if name is not None), None
            )
            if first is not None:
                return first
            for place in self._places():
                place.accept()
            self._prepare()  # equal numbers that are other objects: known from now on
        for array, content in self.arrays:
            if array.tobytes() != content:
                return "the elements of a NumPy array"
        return None if self.hooks_at == RemovableHandle.changes else self._changed_hooks()

    def _places(self) -> list[Place]:
        return [*self.entries.values(), *self.contents.values()]

    def _prepare(self) -> None:
        places = self._places()
        self._fetchers = [*(place.fetcher() for place in places), lambda: (MISSING,)]  # the last one tells of other lengths
        self._expected = [*(value for place in places for value in place.values), MISSING]

    def _changed_hooks(self) -> str | None:
        for fetch, hooks in self.hooks:
            now = fetch()
            if len(now) != len(hooks) or not all(map(operator.is_, now, hooks)):
                return "hooks registered on a Module, Tensor or optimiser"
        self.hooks_at = RemovableHandle.changes
        return None

    def restore(self) -> None:
        """Put back what stood in places that can be written."""
        for place in self._places():
            place.restore()

    # What there is

    def note(self, holder: Any, key: Any, label: str | None = None) -> Any:
        """Guard one entry of a dict, or the variable in a closure's cell. Returns what is there."""
        entries = self.entries.get(id(holder))
        if entries is None:
            entries = self.entries[id(holder)] = Entries(holder)
        self._fetchers = None
        return entries.add(key, label or str(key))

    def whole(self, container: Any, label: str) -> None:
        """Guard all elements of a list or dict, and their number."""
        self.contents.setdefault(id(container), Contents(container, label))

    def function(self, fn: Any) -> None:
        """Guard what a Python function's code names: globals, closures, and their attributes and entries."""
        while isinstance(fn, functools.partial):
            for each in (*fn.args, *fn.keywords.values()):
                self.look(each, names_of(fn.func), 0)
            fn = fn.func
        if isinstance(fn, types.MethodType):
            self.look(fn.__self__, names_of(fn.__func__), 0)
            fn = fn.__func__
        fn = getattr(fn, "__wrapped__", fn) if not isinstance(fn, types.FunctionType) else fn
        if not isinstance(fn, types.FunctionType):
            if callable(fn) and not isinstance(fn, (type, types.BuiltinFunctionType)) and not is_ours(type(fn)):
                self.look(fn, names_of(type(fn).__call__), 0)
                self.function(type(fn).__call__)
            return
        if id(fn) in self.seen or len(self.seen) > MOST * MOST:
            return
        self.seen[id(fn)] = fn
        names = names_in(fn.__code__)
        for name in names:
            if name in fn.__globals__:
                self._variable(fn.__globals__, name, name, names)
        for cell, name in zip(fn.__closure__ or (), fn.__code__.co_freevars, strict=True):
            self._variable(cell, "cell_contents", name, names)
        for default in (*(fn.__defaults__ or ()), *(fn.__kwdefaults__ or {}).values()):
            self.look(default, names, 0)
        if hasattr(fn, "__wrapped__"):
            self.function(fn.__wrapped__)

    def _wrapper(self, fn: types.FunctionType) -> None:
        """Guard what a function of ours holds that was made around others: ``grad(f)``, ``vmap(f)``."""
        if id(fn) not in self.seen:
            self.seen[id(fn)] = fn
            for cell in fn.__closure__ or ():
                self.look(_content(cell), (), 1)

    def _variable(self, holder: Any, key: Any, label: str, names: tuple) -> None:
        value = holder.get(key, MISSING) if isinstance(holder, dict) else _content(holder)
        if isinstance(value, types.ModuleType) and is_ours(value):
            return
        if isinstance(value, (types.BuiltinFunctionType, type)) and is_ours(value):
            return
        if isinstance(value, types.FunctionType) and is_ours(value) and not value.__closure__:
            return
        self.note(holder, key, label)
        self.look(value, names, 0)

    def look(self, value: Any, names: tuple, depth: int) -> None:
        """Guard what code with these names may read of a value."""
        if isinstance(value, (*PLAIN, Handle, np.generic)) or value is MISSING or depth > DEPTH or id(value) in self.seen:
            return
        if isinstance(value, (types.FunctionType, types.MethodType, functools.partial)):
            if not is_ours(getattr(value, "func", value)):
                self.function(value)
            elif isinstance(value, types.FunctionType):
                self._wrapper(value)
            return
        if isinstance(getattr(value, "__dict__", {}).get("__wrapped__"), types.FunctionType):  # a compiled function, for one
            self.function(value.__dict__["__wrapped__"])
        self.seen[id(value)] = value
        if isinstance(value, (list, dict)) and not hasattr(value, "__dict__"):
            self._container(value, names, depth)
        elif isinstance(value, (tuple, set, frozenset)):
            for each in list(value)[:MOST]:
                self.look(each, names, depth + 1)
        elif isinstance(value, np.ndarray):
            if value.nbytes <= BYTES and value.dtype != object:
                self.arrays.append((value, value.tobytes()))
        elif is_module(value):
            self._named_parts(value, names, depth)
        elif hasattr(value, "__dict__") and not is_ours(value if isinstance(value, (type, types.ModuleType)) else type(value)):
            self._attributes(value, names, depth)

    def _container(self, value: Any, names: tuple, depth: int) -> None:
        if len(value) <= LONG:
            self.whole(value, "a list" if isinstance(value, list) else "a dict")
            for each in list(value.values() if isinstance(value, dict) else value)[:MOST]:
                self.look(each, names, depth + 1)
        elif isinstance(value, dict):
            for key in [k for k in names if k in value]:
                self.look(self.note(value, key), names, depth + 1)

    def _attributes(self, value: Any, names: tuple, depth: int) -> None:
        """The attributes of an object, a class or a Python module that the code names, and the methods among them."""
        fields = vars(value)
        for key in [k for k in names if k in fields]:
            self.look(self.note(fields, key), names, depth + 1)
        if isinstance(value, types.ModuleType):
            return
        for cls in value.__mro__ if isinstance(value, type) else type(value).__mro__:
            if not is_ours(cls):
                self._class(cls, names, depth, vars(value))

    def _class(self, cls: type, names: tuple, depth: int, own: Any) -> None:
        fields = vars(cls)
        for key in [k for k in names if k in fields]:
            found = self.note(fields, key)
            if own is not fields and key not in own and isinstance(found, PLAIN):
                self.note(own, key)  # an attribute of its own would come before that of its class
            found = found.fget if isinstance(found, property) else getattr(found, "__func__", found)
            if isinstance(found, types.FunctionType):
                self.function(found)
            else:
                self.look(found, names, depth + 1)

    def _named_parts(self, module: Any, names: tuple, depth: int) -> None:
        """What the code names of a Module, at any depth."""
        fields = module.__dict__
        for table in (fields["_parameters"], fields["_buffers"], fields["_modules"]):
            for key in [k for k in names if k in table]:
                self.look(self.note(table, key), names, depth)
        for key in [k for k in names if k in fields and k != "training"]:
            self.look(self.note(fields, key), names, depth + 1)

    def module(self, module: Any) -> None:
        """Guard a called Module's parameters, buffers, submodules, hooks, its attributes, and what its own code names."""
        fields = module.__dict__
        for table in ("_parameters", "_buffers", "_modules"):
            if fields[table]:
                self.whole(fields[table], f"{type(module).__name__}.{table}")
        forward = type(module).forward
        names = () if is_ours(type(module)) else names_of(forward)
        for key in [k for k in fields if not k.startswith("_")]:
            if isinstance(fields[key], PLAIN) or key in names:
                self.note(fields, key, f"{type(module).__name__}.{key}")
                self.look(fields[key], names, 1)
        if names:
            self._attributes(module, names, 0)
            self.function(forward)
        self.hooked(hooks_in(fields))

    def optimizer(self, optimizer: Any, inputs: dict[int, frozenset]) -> None:
        """Guard an optimiser's groups, options and state. ``inputs`` has by a group's id the options that are no constants."""
        fields = optimizer.__dict__
        self.note(fields, "state", "the optimiser's state")
        self.note(fields, "param_groups", "the optimiser's groups")
        self.whole(optimizer.param_groups, "the optimiser's groups")
        for group in optimizer.param_groups:
            for key in [k for k in group if k not in inputs.get(id(group), ())]:
                self.note(group, key)
            self.whole(group["params"], "the optimiser's parameters")
        if type(optimizer.state) is not dict or len(optimizer.state):
            self.whole(optimizer.state, "the optimiser's state")
        for held in optimizer.state.values():
            if isinstance(held, dict):
                self.whole(held, "the optimiser's state")
        self.hooked(hooks_in(fields))

    def hooked(self, fetch: Callable[[], tuple]) -> None:
        """Guard the hooks that ``fetch()`` gives."""
        hooks = fetch()
        self.hooks.append((fetch, hooks))
        for hook in hooks:
            if callable(hook) and not is_ours(hook):
                self.function(hook)


def _content(cell: Any) -> Any:
    return getattr(cell, "cell_contents", MISSING)


def surroundings_of(
    function: Callable,
    arguments: Iterable[Any],
    modules: Iterable[Any],
    optimizers: Iterable[Any],
    tensors: Iterable[Handle],
    inputs: dict[int, frozenset],
) -> Surroundings:
    """What ``function`` takes from Python: through its code, its arguments that are no Tensors, the Modules and optimisers
    that ran, and the hooks of Tensors. ``inputs`` is as for `Surroundings.optimizer`.
    """
    found = Surroundings()
    found.function(function)
    names = names_of(inspected(function))
    for argument in arguments:
        if not isinstance(argument, type):
            found.look(argument, names, 0)
    for module in modules:
        found.module(module)
    for optimizer in optimizers:
        found.optimizer(optimizer, inputs)
    for tensor in tensors:
        found.hooked(hooks_of(tensor))
    found.hooked(hooks_for_all)
    return found
