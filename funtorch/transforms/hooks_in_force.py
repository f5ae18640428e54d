"""Functions that give the hooks on a thing as they are now, to be compared with what they were."""

from __future__ import annotations

import sys
from collections.abc import Callable

from ..core.handle import Handle


def hooks_in(fields: dict) -> Callable[[], tuple]:
    """A function that gives the hooks in an object's fields."""
    tables = [table for key, table in fields.items() if "hooks" in key and isinstance(table, dict)]
    return lambda: tuple(hook for table in tables for hook in table.values())


def hooks_of(tensor: Handle) -> Callable[[], tuple]:
    """A function that gives the hooks of a Tensor."""
    return lambda: (*(tensor._hooks or {}).values(), *tensor.__dict__.get("_after_hooks", {}).values())


def hooks_for_all() -> tuple:
    """The hooks for all Modules (``nn`` stands above this layer)."""
    found = sys.modules.get(f"{__package__.split('.')[0]}.nn.module_hooks")
    return () if found is None else hooks_in({f"{k} hooks": v for k, v in vars(found.FOR_ALL).items()})()
