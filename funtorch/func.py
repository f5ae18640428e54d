"""PyTorch's names for the transforms, and for branches and loops that become part of a program."""

import typing as _typing

from . import transforms as _transforms
from .transforms import (
    chunk_vmap,
    functional_call,
    functionalize,
    grad,
    grad_and_value,
    hessian,
    jacfwd,
    jacrev,
    jvp,
    linearize,
    stack_module_state,
    vjp,
    vmap,
)

__all__ = [
    "associative_scan", "chunk_vmap", "cond", "debug_print", "fori_loop", "functional_call", "functionalize", "grad", "grad_and_value",
    "hessian", "jacfwd", "jacrev", "jvp", "linearize", "map", "scan", "stack_module_state", "switch", "vjp", "vmap",
    "while_loop",
]  # fmt: skip

if _typing.TYPE_CHECKING:
    from .transforms import associative_scan, cond, debug_print, fori_loop, map, scan, switch, while_loop


def __getattr__(name):
    if name in __all__:
        return getattr(_transforms, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
