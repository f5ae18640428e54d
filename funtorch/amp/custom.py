"""custom_fwd and custom_bwd: an `autograd.Function` under autocast."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

from ..core.handle import Handle
from ..dtypes import dtype, float64
from ..errors import ArgumentValueError
from . import settings
from .autocast_mode import autocast


def _cast(value: Any, to: dtype) -> Any:
    if isinstance(value, Handle):
        return value.to(to) if value.is_floating_point() and value.dtype is not float64 else value
    if isinstance(value, (str, bytes)):
        return value
    if isinstance(value, Mapping):
        return {_cast(k, to): _cast(v, to) for k, v in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)([_cast(v, to) for v in value])
    return value


def _check_kind(device_type: Any, who: str) -> None:
    if not isinstance(device_type, str):
        raise ArgumentValueError(f"Expected `device_type` of type `str`, got: `{type(device_type)}`")
    settings.known(device_type, who)


def custom_fwd(fwd: Callable | None = None, *, device_type: str, cast_inputs: dtype | None = None) -> Any:
    """Decorates a Function's ``forward``.

    Args:
        device_type: the kind of device whose autocast is meant.
        cast_inputs: cast floating-point Tensors (float64 aside) to this type, and run ``forward`` without autocast. None: run
            it with the casts in force, which `custom_bwd` puts in force again.

    Raises:
        RuntimeError: a kind of device that has no autocast. ValueError: ``device_type`` is no string.
    """
    _check_kind(device_type, "custom_fwd()")
    if fwd is None:
        return functools.partial(custom_fwd, device_type=device_type, cast_inputs=cast_inputs)

    @functools.wraps(fwd)
    def decorated(ctx: Any, *args: Any, **kwargs: Any) -> Any:
        on = settings.is_autocast_enabled(device_type)
        ctx._dtype = settings.get_autocast_dtype(device_type)
        if cast_inputs is None:
            ctx._fwd_used_autocast = on
            return fwd(ctx, *args, **kwargs)
        ctx._fwd_used_autocast = False
        if not on:
            return fwd(ctx, *args, **kwargs)
        with autocast(device_type, enabled=False):
            return fwd(ctx, *_cast(args, cast_inputs), **_cast(kwargs, cast_inputs))

    return decorated


def custom_bwd(bwd: Callable | None = None, *, device_type: str) -> Any:
    """Decorates a Function's ``backward``: it runs with the casts that ``forward`` ran with.

    Raises RuntimeError for a kind of device that has no autocast, ValueError for what is no string.
    """
    _check_kind(device_type, "custom_bwd()")
    if bwd is None:
        return functools.partial(custom_bwd, device_type=device_type)

    @functools.wraps(bwd)
    def decorated(ctx: Any, *grads: Any) -> Any:
        with autocast(device_type, enabled=ctx._fwd_used_autocast, dtype=ctx._dtype):
            return bwd(ctx, *grads)

    return decorated
