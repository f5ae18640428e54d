"""PyTorch's names for the transforms, and for branches and loops that become part of a program."""

import typing as _typing

from . import transforms as _transforms
from .core.levels import Batched as _Batched
from .core.levels import Dual as _Dual
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
    "associative_scan", "chunk_vmap", "cond", "debug_print", "debug_unwrap", "fori_loop", "functional_call", "functionalize",
    "grad", "grad_and_value", "hessian", "jacfwd", "jacrev", "jvp", "linearize", "map", "rearrange", "replace_all_batch_norm_modules_", "scan",
    "stack_module_state", "switch", "vjp", "vmap", "while_loop",
]  # fmt: skip


def debug_unwrap(tensor, *, recurse=True):
    """The Tensor that one inside ``vmap`` or ``jvp`` wraps, for a look at it; one that wraps none is returned as it is.

    Args:
        tensor: any.
        recurse: whether to look through all levels rather than one.
    """
    while type(tensor._payload) in (_Batched, _Dual):
        payload = tensor._payload
        tensor = payload.inner if type(payload) is _Batched else payload.primal
        if not recurse:
            break
    return tensor


def replace_all_batch_norm_modules_(root):
    """Let a module's batch norms use each batch's own statistics, and keep none: so that they work under ``vmap``.

    Args:
        root: changed in place, with all modules in it.

    Returns:
        ``root``.
    """
    from .nn.modules.batchnorm import _BatchNorm

    for module in root.modules():
        if isinstance(module, _BatchNorm):
            module.running_mean = module.running_var = module.num_batches_tracked = None
            module.track_running_stats = False
    return root


if _typing.TYPE_CHECKING:
    from .functorch.einops import rearrange
    from .transforms import associative_scan, cond, debug_print, fori_loop, map, scan, switch, while_loop


def __getattr__(name):
    if name == "rearrange":
        from .functorch.einops import rearrange

        return rearrange
    if name in __all__:
        return getattr(_transforms, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
