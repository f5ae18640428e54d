"""Mixed precision under its older names, for "cpu"."""

from __future__ import annotations

from .. import amp
from ..amp.older import warn_of_older
from ..dtypes import bfloat16
from ..dtypes import dtype as DType  # noqa: N812

__all__ = ["GradScaler", "autocast"]


class autocast(amp.autocast):  # noqa: N801
    """`amp.autocast` for "cpu"."""

    def __init__(self, enabled: bool = True, dtype: DType = bfloat16, cache_enabled: bool = True) -> None:
        warn_of_older("cpu", "autocast")
        super().__init__("cpu", enabled=enabled, dtype=dtype, cache_enabled=cache_enabled)


class GradScaler(amp.GradScaler):
    """`amp.GradScaler` for "cpu"."""

    def __init__(
        self, init_scale: float = 65536.0, growth_factor: float = 2.0, backoff_factor: float = 0.5, growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:  # fmt: skip
        warn_of_older("cpu", "GradScaler")
        super().__init__("cpu", init_scale, growth_factor, backoff_factor, growth_interval, enabled)
