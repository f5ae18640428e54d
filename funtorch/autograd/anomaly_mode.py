"""detect_anomaly: find the forward call whose backward step gives a NaN."""

from __future__ import annotations

import warnings
from typing import Any

from ..core.state import state

ENABLED = "Anomaly Detection has been enabled. This mode will increase the runtime and should only be enabled for debugging."


class set_detect_anomaly:  # noqa: N801
    """Switch anomaly mode on or off, at once; as a context manager, until its end. ``check_nan``: raise at the first NaN.

    >>> import funtorch as torch
    >>> with torch.autograd.set_detect_anomaly(True):
    ...     torch.is_anomaly_enabled()
    True
    """

    def __init__(self, mode: bool, check_nan: bool = True) -> None:
        self.before = (state.anomaly, state.anomaly_nan)
        state.anomaly, state.anomaly_nan = bool(mode), bool(check_nan)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: Any) -> None:
        state.anomaly, state.anomaly_nan = self.before


class detect_anomaly:  # noqa: N801
    """Within: a backward step that gives a NaN raises RuntimeError, and a warning shows its forward call's traceback."""

    def __init__(self, check_nan: bool = True) -> None:
        self.check_nan = check_nan
        warnings.warn(ENABLED, stacklevel=2)

    def __enter__(self) -> None:
        self.before = (state.anomaly, state.anomaly_nan)
        state.anomaly, state.anomaly_nan = True, bool(self.check_nan)

    def __exit__(self, *exc: Any) -> None:
        state.anomaly, state.anomaly_nan = self.before


def set_anomaly_enabled(mode: bool, check_nan: bool = True) -> None:
    """Switch anomaly mode on or off. ``check_nan``: raise at the first NaN."""
    set_detect_anomaly(mode, check_nan)


def is_anomaly_enabled() -> bool:
    """Whether anomaly mode is on."""
    return state.anomaly


def is_anomaly_check_nan_enabled() -> bool:
    """Whether anomaly mode raises at a NaN."""
    return state.anomaly_nan
