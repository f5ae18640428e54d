"""Places in Python's memory, what stood in them, and whether it still does: entries of dicts, closures' cells, containers."""

from __future__ import annotations

import functools
import operator
import types
from collections.abc import Callable
from typing import Any

MISSING = object()
PLAIN = (bool, int, float, complex, str, bytes, type(None))


def equal(a: Any, b: Any) -> bool:
    """Whether two values are one object, or equal numbers or texts of one type."""
    return a is b or (type(a) is type(b) and type(b) in PLAIN and (a == b or (a != a and b != b)))


class Place:
    """A holder with values."""

    values: list[Any]

    def fetcher(self) -> Callable:
        """A function that gives what is there now, in as few steps as can be; it may raise KeyError or ValueError."""
        raise NotImplementedError

    def accept(self) -> None:
        """Know what is there now, which is equal to what was there, from now on."""
        raise NotImplementedError

    def name_of_change(self) -> str | None:
        """What a message calls the first value that changed; None if none has."""
        raise NotImplementedError

    def restore(self) -> None:
        """Put the values back, where the holder allows it."""
        raise NotImplementedError


class Entries(Place):
    """Some entries of a dict, or the variable of a closure's cell."""

    def __init__(self, holder: Any) -> None:
        self.holder = holder
        self.get = _getter(holder)
        self.keys: dict[Any, str] = {}
        self.values = []

    def add(self, key: Any, label: str) -> Any:
        """Guard one more entry; returns what it has."""
        value = self.get(key, MISSING)
        if key not in self.keys:
            self.keys[key] = label
            self.values.append(value)
        return value

    def fetcher(self) -> Callable:
        keys = tuple(self.keys)
        if isinstance(self.holder, types.CellType) or any([value is MISSING for value in self.values]):
            return lambda: [self.get(key, MISSING) for key in keys]
        if len(keys) > 1:
            return functools.partial(operator.itemgetter(*keys), self.holder)
        return functools.partial(map, self.holder.__getitem__, keys)

    def accept(self) -> None:
        self.values = [self.get(key, MISSING) for key in self.keys]

    def name_of_change(self) -> str | None:
        for (key, label), value in zip(self.keys.items(), self.values, strict=True):
            if not equal(self.get(key, MISSING), value):
                return repr(label)
        return None

    def restore(self) -> None:
        for key, value in zip(self.keys, self.values, strict=True):
            if self.get(key, MISSING) is value:
                continue
            if isinstance(self.holder, types.CellType):
                self.holder.cell_contents = value
            elif isinstance(self.holder, dict):
                if value is MISSING:
                    self.holder.pop(key, None)
                else:
                    self.holder[key] = value


class Contents(Place):
    """All elements of a list or dict."""

    def __init__(self, holder: Any, label: str) -> None:
        self.holder = holder
        self.label = label
        self.keys = tuple(holder) if isinstance(holder, dict) else None
        self.values = list(holder.values() if isinstance(holder, dict) else holder)

    def fetcher(self) -> Callable:
        return functools.partial(iter, self.holder) if self.keys is None else self.holder.values

    def accept(self) -> None:
        self.values = list(self.holder.values() if self.keys is not None else self.holder)

    def name_of_change(self) -> str | None:
        now = list(self.holder.values() if self.keys is not None else self.holder)
        if self.keys is not None and tuple(self.holder) != self.keys:
            return f"the keys of {self.label}"
        if len(now) != len(self.values):
            return f"the length of {self.label}"
        for i, (found, value) in enumerate(zip(now, self.values, strict=True)):
            if not equal(found, value):
                return f"element {(i if self.keys is None else self.keys[i])!r} of {self.label}"
        return None

    def restore(self) -> None:
        if self.keys is None:
            self.holder[:] = self.values
        elif tuple(self.holder) != self.keys or any(map(operator.is_not, self.holder.values(), self.values)):
            self.holder.clear()
            self.holder.update(zip(self.keys, self.values, strict=True))


def _getter(holder: Any) -> Callable:
    if isinstance(holder, types.CellType):
        return lambda key, default: getattr(holder, "cell_contents", default)
    return holder.get
