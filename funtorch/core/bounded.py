"""Caches bounded together: entries in many dicts, of which those that were not used for longest go first.

An entry that was used since it was last looked at gets a second chance, so that a use costs one attribute and no moving.
"""

from __future__ import annotations

import os
import weakref
from collections import deque
from typing import Any


def limit_from(variable: str, default: int) -> int:
    """The positive whole number in an environment variable. Raises ValueError for anything else there."""
    text = os.environ.get(variable) or str(default)
    if not text.isdecimal() or int(text) < 1:
        raise ValueError(f"{variable} must be a positive whole number, got {text!r}")
    return int(text)


class Home(dict):
    """A dict of entries, which a `Bounded` may take away."""

    __slots__ = ("__weakref__",)


class Bounded:
    """At most ``limit`` entries over all homes. An entry has an attribute ``recent``, which its users set to True."""

    def __init__(self, limit: int) -> None:
        self.limit = limit
        self._queue: deque[tuple[weakref.ref[Home], Any]] = deque()

    def __len__(self) -> int:
        return len(self._queue)

    def add(self, home: Home, key: Any, entry: Any) -> None:
        """Put ``entry`` into ``home``, and let go of what that makes too many."""
        if key not in home:  # otherwise it is queued already
            self._queue.append((weakref.ref(home), key))
        home[key] = entry
        while len(self._queue) > self.limit:
            self._step()

    def entries(self) -> list[tuple[Home, Any, Any]]:
        """What is kept now: each entry's home, key and the entry."""
        homes = [(ref(), key) for ref, key in self._queue]
        return [(home, key, home[key]) for home, key in homes if home is not None and key in home]

    def clear(self) -> None:
        """Let go of all entries."""
        while self._queue:
            ref, key = self._queue.popleft()
            home = ref()
            if home is not None:
                home.pop(key, None)

    def _step(self) -> None:
        ref, key = self._queue.popleft()
        home = ref()
        entry = None if home is None else home.get(key)
        if home is None or entry is None:
            return
        if entry.recent:
            entry.recent = False
            self._queue.append((ref, key))
        else:
            home.pop(key, None)
