"""Mixed precision under its older names, for "cuda"."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import amp
from ..dtypes import dtype as DType  # noqa: N812
from ..dtypes import float16


class autocast(amp.autocast):  # noqa: N801
    """`amp.autocast` for "cuda"."""

    def __init__(self, enabled: bool = True, dtype: DType = float16, cache_enabled: bool = True) -> None:
        super().__init__("cuda", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(amp.GradScaler):
    """`amp.GradScaler` for "cuda"."""

    def __init__(
        self, init_scale: float = 65536.0, growth_factor: float = 2.0, backoff_factor: float = 0.5, growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:  # fmt: skip
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def custom_fwd(fwd: Callable | None = None, **kwargs: Any) -> Any:
    """`amp.custom_fwd` for "cuda"."""
    return amp.custom_fwd(fwd, device_type="cuda", **kwargs)


custom_bwd = functools.partial(amp.custom_bwd, device_type="cuda")


def amp_definitely_not_available() -> bool:
    """Whether there is no GPU."""
    from .devices import is_available

    return not is_available()
