"""autocast: a region in which matrix products run in a smaller type and delicate functions in float32."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import accelerator, cuda
from ..cautions import caution
from ..devices import device as Device
from ..dtypes import as_dtype
from ..errors import ArgumentValueError
from . import settings
from .settings import KINDS, SUPPORTED, known


def is_autocast_available(device_type: str) -> bool:
    """Whether there is autocast for a kind of device. Raises RuntimeError for what is no device's name."""
    return Device(device_type).type in KINDS


def autocast_decorator(autocast_instance: Any, func: Callable) -> Callable:
    """``func`` run in a region."""

    @functools.wraps(func)
    def decorated(*args: Any, **kwargs: Any) -> Any:
        with autocast_instance:
            return func(*args, **kwargs)

    return decorated


class autocast:  # noqa: N801
    """A context manager and decorator in which listed functions get their floating-point arguments cast.

    Products (``linear``, ``matmul``, convolutions, attention, ...) run in ``dtype``; functions that need range (losses, ``exp``,
    norms, ...) in float32; a few in the widest type of their arguments: PyTorch's own lists for the CPU and for accelerators. float64 and
    integers stay. A parameter is cast once in a region. In-place forms and ``out=`` are not cast.

    Args:
        device_type: "cpu", "cuda", "tpu" or "xla": the kind of device whose functions are meant.
        dtype: the type of products: bfloat16 or float16. Default: bfloat16 on CPUs and TPUs, float16 on GPUs.
        enabled: False opens a region without casts, within another.
        cache_enabled: whether a parameter is cast once for all its uses.

    Raises:
        RuntimeError: a kind of device that has no autocast. ValueError: ``device_type`` is no string.

    Warns and is disabled where there is no such device, and on the CPU for another ``dtype``.

    >>> import funtorch as torch
    >>> with torch.autocast("cpu", dtype=torch.bfloat16):
    ...     torch.mm(torch.ones(2, 2), torch.ones(2, 2)).dtype
    torch.bfloat16
    """

    def __init__(self, device_type: str, dtype: Any = None, enabled: bool = True, cache_enabled: bool | None = None) -> None:
        if not isinstance(device_type, str):
            raise ArgumentValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
        self.device = known(device_type, "autocast()")
        self.fast_dtype = settings.get_autocast_dtype(device_type) if dtype is None else as_dtype(dtype)
        self._cache_enabled = settings.is_autocast_cache_enabled() if cache_enabled is None else bool(cache_enabled)
        self._enabled = bool(enabled) and self._possible()
        self._held: list[Any] = []

    def _possible(self) -> bool:
        """Whether such casts can be made here; warns if not."""
        if self.device == "cuda" and not cuda.is_available():
            why = "CUDA is not available or torch_xla is imported. Disabling autocast."
        elif self.device in ("tpu", "xla") and not accelerator.is_available():
            why = f"User provided device_type of '{self.device}', but there is no such device. Disabling"
        elif self.fast_dtype not in SUPPORTED.get(self.device, (self.fast_dtype,)):
            why = (
                "In CPU autocast, but the target dtype is not supported. Disabling autocast.\n"
                f"CPU Autocast only supports dtypes of torch.bfloat16, torch.float16 currently, not {self.fast_dtype}."
            )
        else:
            return True
        caution(why)
        return False

    def __enter__(self) -> autocast:
        self._held.append(settings.in_force())
        settings.autocast_increment_nesting()
        now = settings.settings
        now.enabled[self.device], now.dtypes[self.device], now.cached = self._enabled, self.fast_dtype, self._cache_enabled
        settings.apply()
        return self

    def __exit__(self, *exc: object) -> None:
        if settings.autocast_decrement_nesting() == 0:
            settings.clear_autocast_cache()
        settings.restore(self._held.pop())

    def __call__(self, func: Callable) -> Callable:
        return autocast_decorator(self, func)
