"""PyTorch's address of `Module` and of the hooks for all Modules."""

from __future__ import annotations

from ..module import Module
from ..module_hooks import (
    FOR_ALL,
    register_module_backward_hook,
    register_module_forward_hook,
    register_module_forward_pre_hook,
    register_module_full_backward_hook,
    register_module_full_backward_pre_hook,
)
from ..module_loading import EXTRA_STATE as _EXTRA_STATE_KEY_SUFFIX  # noqa: F401
from ..module_loading import IncompatibleKeys as _IncompatibleKeys  # noqa: F401
from ..module_members import (
    register_module_buffer_registration_hook,
    register_module_module_registration_hook,
    register_module_parameter_registration_hook,
)

__all__ = [
    "Module",
    "register_module_backward_hook",
    "register_module_buffer_registration_hook",
    "register_module_forward_hook",
    "register_module_forward_pre_hook",
    "register_module_full_backward_hook",
    "register_module_full_backward_pre_hook",
    "register_module_module_registration_hook",
    "register_module_parameter_registration_hook",
]

_IncompatibleKeys.__module__ = __name__

# What copies of PyTorch's Module.__call__ read.
_global_backward_pre_hooks, _global_backward_hooks = FOR_ALL.backward_pre, FOR_ALL.backward
_global_forward_pre_hooks, _global_forward_hooks = FOR_ALL.forward_pre, FOR_ALL.forward
_global_forward_hooks_with_kwargs, _global_forward_hooks_always_called = (
    FOR_ALL.forward_with_kwargs,
    FOR_ALL.forward_always_called,
)


def _has_any_global_hook() -> bool:
    """Whether there are hooks for all Modules."""
    return bool(FOR_ALL.any)


def _addindent(s_: str, numSpaces: int) -> str:
    """A text whose lines after the first stand some columns to the right."""
    return s_.replace("\n", "\n" + " " * numSpaces)
