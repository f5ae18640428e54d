"""What the code of a function names, and whose a value is: the package's, a library's, or the user's."""

from __future__ import annotations

import functools
import types
from typing import Any

OURS = frozenset(
    ("funtorch", "jax", "jaxlib", "numpy", "builtins", "math", "random", "functools", "itertools", "operator", "typing")
    + ("contextlib", "collections", "abc", "warnings", "os", "sys", "pytest", "_pytest", "pathlib", "re", "time", "threading")
)


def is_module(value: Any) -> bool:
    """Whether a value is a Module (of ``nn``, which stands above this layer)."""
    return isinstance(getattr(value, "__dict__", {}).get("_parameters"), dict)


def is_ours(value: Any) -> bool:
    """Whether a class, function or Python module belongs to this package or to a library that keeps no settings of the user's."""
    name = getattr(value, "__module__", None) if not isinstance(value, types.ModuleType) else value.__name__
    return isinstance(name, str) and name.split(".")[0] in OURS


def names_of(fn: Any) -> tuple:
    """The names in the code of a Python function or method; none for anything else."""
    fn = getattr(fn, "__func__", fn)
    return names_in(fn.__code__) if isinstance(fn, types.FunctionType) else ()


@functools.lru_cache(maxsize=4096)
def names_in(code: types.CodeType) -> tuple:
    """The names and the constant keys that code, and code within it, may look up."""
    constants = [c for c in code.co_consts if isinstance(c, (str, int)) and not isinstance(c, bool)]
    found = dict.fromkeys([*code.co_names, *code.co_freevars, *constants])
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            found.update(dict.fromkeys(names_in(constant)))
    return tuple(found)


def inspected(function: Any) -> Any:
    """The Python function behind partials, methods and wrappers."""
    while isinstance(function, functools.partial):
        function = function.func
    function = getattr(function, "__func__", function)
    while hasattr(function, "__wrapped__"):
        function = function.__wrapped__
    return function if isinstance(function, types.FunctionType) else type(function).__call__
