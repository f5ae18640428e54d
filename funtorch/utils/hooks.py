"""Handles on registered hooks: what every ``register_*hook`` of a Tensor or a Module returns."""

from __future__ import annotations

import weakref
from collections.abc import Callable, MutableMapping, Sequence
from typing import Any

__all__ = ["RemovableHandle"]


class RemovableHandle:
    """Removes a hook again: by `remove()`, or at the end of a ``with`` block.

    Args:
        hooks_dict: the dict that holds the hook, under the handle's `id`; only weakly referred to if it can
            be (an OrderedDict can, a plain dict can't).
        extra_dict: a dict, or several, that may hold an entry under the same `id`, removed with the hook.

    Example:
        >>> from collections import OrderedDict
        >>> hooks = OrderedDict(); handle = RemovableHandle(hooks); hooks[handle.id] = print
        >>> handle.remove(); len(hooks)
        0
    """

    next_id: int = 0
    changes: int = 0  # how often a hook was registered or removed, anywhere

    def __init__(
        self,
        hooks_dict: MutableMapping[int, Any],
        *,
        extra_dict: MutableMapping[int, Any] | Sequence[MutableMapping[int, Any]] | None = None,
    ) -> None:
        extras = [extra_dict] if isinstance(extra_dict, MutableMapping) else extra_dict or ()
        self.hooks_dict_ref = _reference(hooks_dict)
        self.extra_dict_ref = tuple(_reference(extra) for extra in extras)
        self.id = RemovableHandle.next_id
        RemovableHandle.next_id += 1
        RemovableHandle.changes += 1

    def remove(self) -> None:
        """Takes the hook out of its dict; a hook that is gone already is no error."""
        RemovableHandle.changes += 1
        for ref in (self.hooks_dict_ref, *self.extra_dict_ref):
            hooks = ref()
            if hooks is not None:
                hooks.pop(self.id, None)

    def __getstate__(self) -> tuple[Any, ...]:
        return (self.hooks_dict_ref(), self.id, tuple(ref() for ref in self.extra_dict_ref))

    def __setstate__(self, saved: tuple[Any, ...]) -> None:
        hooks, self.id, *rest = saved
        extras = rest[0] if rest else ()  # PyTorch leaves it out where there are none
        self.hooks_dict_ref = _reference(hooks)
        self.extra_dict_ref = tuple(_reference(extra) for extra in extras)
        RemovableHandle.next_id = max(RemovableHandle.next_id, self.id + 1)

    def __enter__(self) -> RemovableHandle:
        return self

    def __exit__(self, *exception: object) -> None:
        self.remove()


def _reference(hooks: MutableMapping[int, Any] | None) -> Callable[[], MutableMapping[int, Any] | None]:
    """A function that gives the dict, or None once it is gone."""
    try:
        return weakref.ref(hooks)
    except TypeError:
        return lambda: hooks
