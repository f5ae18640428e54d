"""The same bits in every run. The engine's choice of tier depends on counts alone, so runs of one program agree already;
asking for it also makes every op a kernel, so that its bits don't depend on how often it ran before."""

from __future__ import annotations

import os
from typing import Any

import jax

from .cautions import caution
from .core.engine import set_engine, settings
from .errors import ArgumentTypeError, ArgumentValueError

_LEVELS = {"default": 0, "warn": 1, "error": 2}
_GPU_FLAG = "--xla_gpu_deterministic_ops"
_NEEDS_FLAG = (
    f"use_deterministic_algorithms(): XLA's GPU kernels are deterministic only with XLA_FLAGS={_GPU_FLAG}=true, set before start"
)
_state: dict[str, Any] = {"level": 0, "engine": "auto"}


def use_deterministic_algorithms(mode: bool, *, warn_only: bool = False) -> None:
    """True: run every op as a kernel (see `set_engine`); False: as before. Raises TypeError unless ``mode`` is a bool.

    Warns on a GPU whose XLA was not started with deterministic kernels.
    """
    if not isinstance(mode, bool):
        raise ArgumentTypeError(
            f"use_deterministic_algorithms(): argument 'mode' (position 1) must be bool, not {type(mode).__name__}"
        )
    before = _state["level"]
    _state["level"] = (1 if warn_only else 2) if mode else 0
    if mode and not before:
        _state["engine"] = settings.mode
        set_engine("kernel")
    elif before and not mode:
        set_engine(str(_state["engine"]))
    if mode and jax.default_backend() == "gpu" and _GPU_FLAG not in os.environ.get("XLA_FLAGS", ""):
        caution(_NEEDS_FLAG)


def are_deterministic_algorithms_enabled() -> bool:
    """Whether `use_deterministic_algorithms` is on."""
    return _state["level"] != 0


def is_deterministic_algorithms_warn_only_enabled() -> bool:
    """Whether it was asked to warn only."""
    return _state["level"] == 1


def set_deterministic_debug_mode(debug_mode: int | str) -> None:
    """0 or "default": off; 1 or "warn", 2 or "error": on. Raises ValueError for another level."""
    level = _LEVELS.get(debug_mode) if isinstance(debug_mode, str) else debug_mode
    if level not in _LEVELS.values():
        raise ArgumentValueError(
            f"set_deterministic_debug_mode(): expected one of {', '.join(_LEVELS)} or 0, 1, 2, got {debug_mode!r}"
        )
    use_deterministic_algorithms(level != 0, warn_only=level == 1)


def get_deterministic_debug_mode() -> int:
    """0: off, 1: warn, 2: error."""
    return int(_state["level"])
