"""The transforms: ``grad``, ``vmap``, ``jvp`` and what is built on them, nested in any order."""

if __name__ == "transforms":
    raise ImportError("import funtorch.transforms: the folder at the top of the repository is only a link into the package")

import importlib as _importlib
import typing as _typing

from .batching import chunk_vmap, vmap
from .compiling import compile
from .gradients import grad, grad_and_value, jvp, linearize, vjp
from .jacobians import hessian, jacfwd, jacrev
from .modules import functional_call, functionalize, stack_module_state
from .pure_programs import jit

__all__ = [
    "associative_scan", "chunk_vmap", "compile", "cond", "debug_print", "fori_loop", "functional_call", "functionalize", "grad",
    "grad_and_value", "hessian", "jacfwd", "jacrev", "jit", "jvp", "linearize", "map", "scan", "stack_module_state", "switch",
    "vjp", "vmap", "while_loop",
]  # fmt: skip

if _typing.TYPE_CHECKING:
    from .control_flow import associative_scan, cond, fori_loop, map, scan, switch, while_loop
    from .debugging import debug_print

# Loaded when they are first used.
_LATER = dict.fromkeys(("associative_scan", "cond", "fori_loop", "map", "scan", "switch", "while_loop"), ".control_flow") | {
    "debug_print": ".debugging"
}


def __getattr__(name):
    if name in _LATER:
        return getattr(_importlib.import_module(_LATER[name], __name__), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
