"""Private functions of PyTorch's that public code asks: what state things are in, and settings that mean nothing here."""

# ruff: noqa: N999  the path is PyTorch's

from __future__ import annotations

from typing import Any

from .core.state import state
from .errors import LinAlgError as _LinAlgError
from .ops.placing import get_default_device

__all__: list[str] = ["_LinAlgError"]


def _get_tracing_state() -> None:
    """None: `torch.jit.trace` is not tracing."""


def _are_functorch_transforms_active() -> bool:
    """Whether this runs inside of ``grad``, ``vmap``, or another transform."""
    return bool(state.levels)


def _get_default_device() -> str:
    """The kind of device that new Tensors are on."""
    return get_default_device().type


def _ignored(*args: Any) -> bool:
    """Accept a setting that means nothing here. Returns False, for what was set before."""
    return False


def _log_api_usage_once(event: str) -> None:
    """Nothing: nothing is counted."""


_jit_set_profiling_mode = _jit_set_profiling_executor = _jit_set_texpr_fuser_enabled = _jit_set_nvfuser_enabled = _ignored
_jit_override_can_fuse_on_cpu = _jit_override_can_fuse_on_gpu = _jit_can_fuse_on_cpu = _jit_can_fuse_on_gpu = _ignored
_debug_set_fusion_group_inlining = _ignored
