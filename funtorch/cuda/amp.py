"""Mixed precision under its older names. As PyTorch does, both warn and switch themselves off where there is no GPU.

Raises NotImplementedError where there is one: funtorch has no automatic casts yet.
"""

from __future__ import annotations

import contextlib
import warnings
from typing import Any

from ..dtypes import dtype as DType  # noqa: N812
from ..dtypes import float16
from ..errors import MissingError
from .devices import GPUS

MISSING = "{} is not there yet: convert the model with .to(torch.bfloat16), or pass enabled=False"


def _wanted(name: str, enabled: bool) -> None:
    """Warn where there is no GPU; NotImplementedError where there is one."""
    if not enabled:
        return
    if GPUS.is_available():
        raise MissingError(MISSING.format(name))
    warnings.warn(f"{name}: there is no GPU, so it is disabled", stacklevel=3)


class autocast(contextlib.ContextDecorator):  # noqa: N801
    """A context manager and decorator that changes nothing: what PyTorch's does without a GPU."""

    def __init__(self, enabled: bool = True, dtype: DType = float16, cache_enabled: bool = True) -> None:
        _wanted("torch.cuda.amp.autocast", enabled)

    def __enter__(self) -> autocast:
        return self

    def __exit__(self, *exc: object) -> None:
        pass


class GradScaler:
    """A scaler of losses that is switched off: it hands losses and steps on as they are."""

    def __init__(
        self, init_scale: float = 65536.0, growth_factor: float = 2.0, backoff_factor: float = 0.5, growth_interval: int = 2000,
        enabled: bool = True,
    ) -> None:  # fmt: skip
        _wanted("torch.cuda.amp.GradScaler", enabled)

    def is_enabled(self) -> bool:
        """False."""
        return False

    def scale(self, outputs: Any) -> Any:
        """``outputs``, unscaled."""
        return outputs

    def unscale_(self, optimizer: Any) -> None:
        """Nothing: nothing was scaled."""

    def step(self, optimizer: Any, *args: Any, **kwargs: Any) -> Any:
        """The optimiser's own step."""
        return optimizer.step(*args, **kwargs)

    def update(self, new_scale: Any = None) -> None:
        """Nothing."""

    def get_scale(self) -> float:
        """1."""
        return 1.0

    def state_dict(self) -> dict[str, Any]:
        """Empty, as that of PyTorch's disabled scaler."""
        return {}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Nothing."""
