"""Mixed precision under its older names, for "cuda"."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .. import amp
from ..amp.older import OLD_DECORATOR, warn_of_older
from ..dtypes import dtype as DType  # noqa: N812
from ..dtypes import float16


class autocast(amp.autocast):  # noqa: N801
    """`amp.autocast` for "cuda"."""

    def __init__(self, enabled: bool = True, dtype: DType = float16, cache_enabled: bool = True) -> None:
        warn_of_older("cuda", "autocast")
        super().__init__("cuda", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(amp.GradScaler):
    """`amp.GradScaler` for "cuda"."""

    def __init__(
        self, init_scale: float = 65536.0, growth_factor: float = 2.0, backoff_factor: float = 0.5, growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:  # fmt: skip
        warn_of_older("cuda", "GradScaler")
        super().__init__("cuda", init_scale, growth_factor, backoff_factor, growth_interval, enabled)


def custom_fwd(fwd: Callable | None = None, *, cast_inputs: DType | None = None) -> Any:
    """`amp.custom_fwd` for "cuda"."""
    warn_of_older("cuda", "custom_fwd", OLD_DECORATOR)
    return amp.custom_fwd(fwd, device_type="cuda", cast_inputs=cast_inputs)


def custom_bwd(bwd: Callable) -> Any:
    """`amp.custom_bwd` for "cuda"."""
    warn_of_older("cuda", "custom_bwd", OLD_DECORATOR)
    return amp.custom_bwd(bwd, device_type="cuda")


def amp_definitely_not_available() -> bool:
    """Whether there is no GPU."""
    from .devices import is_available

    return not is_available()
