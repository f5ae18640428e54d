"""What autocast is set to on this thread, by kind of device, and PyTorch's functions that ask and set it."""

from __future__ import annotations

import threading
from typing import Any

import numpy as np

from ..core import casting
from ..core.state import state
from ..dtypes import as_dtype, bfloat16, dtype, float16
from ..errors import ArgumentTypeError, OpError

# The table of each device's name. The last ones are PyTorch's, of which there are none here: nothing is cast for them.
KINDS = {"cpu": "cpu", "cuda": "gpu", "gpu": "gpu", "tpu": "gpu", "xla": "gpu", "mps": "none", "xpu": "none", "ipu": "none"}
_DEFAULTS = {
    "cpu": bfloat16,
    "cuda": float16,
    "gpu": float16,
    "tpu": bfloat16,
    "xla": bfloat16,
    "mps": float16,
    "xpu": float16,
    "ipu": float16,
}


class Settings(threading.local):
    """On or off, and the type, for each kind of device."""

    def __init__(self) -> None:
        self.enabled: dict[str, bool] = {}
        self.dtypes: dict[str, dtype] = {}
        self.cached = True
        self.nesting = 0


settings = Settings()


def known(device_type: str, who: str) -> str:
    """``device_type``, if there is autocast for it. Raises TypeError for what is no name, RuntimeError for another one."""
    if not isinstance(device_type, str):
        found = type(device_type).__name__
        raise ArgumentTypeError(f"{who}: argument 'device_type' (position 1) must be str, not {found}")
    if device_type not in KINDS:
        raise OpError(f"{who}: User specified an unsupported autocast device_type '{device_type}'")
    return device_type


def apply() -> None:
    """Bring what is set into force for the functions that follow."""
    types: dict[str, np.dtype | None] = {}
    for name, on in settings.enabled.items():
        if on:
            types[KINDS[name]] = get_autocast_dtype(name).numpy
    before = state.autocast
    if not types:
        state.autocast = None
    else:
        state.autocast = casting.Casting(types, settings.cached)
        if before is not None:
            state.autocast.casts = before.casts
    if (before is None) != (state.autocast is None):
        casting.active.append(None) if before is None else casting.active.pop()


def is_autocast_enabled(device_type: str = "cuda") -> bool:
    """Whether autocast is on for a kind of device. Raises RuntimeError for a kind that has none."""
    return settings.enabled.get(known(device_type, "is_autocast_enabled()"), False)


def set_autocast_enabled(device_type: Any, enabled: bool | None = None) -> None:
    """Switch autocast for a kind of device: ``set_autocast_enabled("cpu", True)``; with one argument, for "cuda"."""
    if enabled is None:
        device_type, enabled = "cuda", device_type
    settings.enabled[known(device_type, "set_autocast_enabled()")] = bool(enabled)
    apply()


def get_autocast_dtype(device_type: str) -> dtype:
    """The type to which autocast casts on a kind of device: bfloat16 on CPUs and TPUs, float16 on GPUs, unless set."""
    return settings.dtypes.get(known(device_type, "get_autocast_dtype()"), _DEFAULTS[device_type])


def set_autocast_dtype(device_type: str, dtype: Any) -> None:
    """Set that type."""
    settings.dtypes[known(device_type, "set_autocast_dtype()")] = as_dtype(dtype)
    apply()


def is_autocast_cache_enabled() -> bool:
    """Whether a parameter is cast once for all its uses in an autocast region."""
    return settings.cached


def set_autocast_cache_enabled(enabled: bool) -> None:
    """Switch that."""
    settings.cached = bool(enabled)
    apply()


def clear_autocast_cache() -> None:
    """Forget the casts of parameters made so far."""
    if state.autocast is not None:
        state.autocast.casts.clear()


def autocast_increment_nesting() -> int:
    """Count one more open autocast; returns their number."""
    settings.nesting += 1
    return settings.nesting


def autocast_decrement_nesting() -> int:
    """Count one less; returns their number."""
    settings.nesting -= 1
    return settings.nesting


def in_force() -> tuple[dict[str, bool], dict[str, dtype], bool]:
    """What is set, to be put back by `restore`."""
    return dict(settings.enabled), dict(settings.dtypes), settings.cached


def restore(held: tuple[dict[str, bool], dict[str, dtype], bool]) -> None:
    """Put back what `in_force` gave."""
    settings.enabled, settings.dtypes, settings.cached = dict(held[0]), dict(held[1]), held[2]
    apply()


SUPPORTED = {"cpu": (bfloat16, float16)}  # elsewhere any of these and float32, as PyTorch takes them
