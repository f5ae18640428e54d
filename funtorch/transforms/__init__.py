"""The transforms: ``grad``, ``vmap``, ``jvp`` and what is built on them, nested in any order."""

if __name__ == "transforms":
    raise ImportError("import funtorch.transforms: the folder at the top of the repository is only a link into the package")

from .batching import chunk_vmap, vmap
from .compiling import compile
from .gradients import grad, grad_and_value, jvp, linearize, vjp
from .jacobians import hessian, jacfwd, jacrev
from .modules import functional_call, functionalize, stack_module_state

__all__ = [
    "chunk_vmap", "compile", "functional_call", "functionalize", "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp",
    "linearize", "stack_module_state", "vjp", "vmap",
]  # fmt: skip
