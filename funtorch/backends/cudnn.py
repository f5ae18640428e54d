"""Switches of cuDNN, which XLA uses by itself: ``enabled``, ``benchmark``, ``deterministic`` can be set and change nothing."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

from ..cuda import is_available as _gpu_there

enabled = True
benchmark = False
benchmark_limit = 10
deterministic = False
allow_tf32 = True
conv, rnn = SimpleNamespace(fp32_precision="tf32"), SimpleNamespace(fp32_precision="tf32")


def is_available() -> bool:
    """Whether there is a GPU, with which XLA uses cuDNN."""
    return _gpu_there()


def is_acceptable(tensor: Any) -> bool:
    """Whether a Tensor is one for cuDNN: on a GPU, of floats."""
    return bool(enabled and tensor.is_cuda and tensor.dtype.is_floating_point)


def version() -> int | None:
    """None: which cuDNN XLA has loaded is not known."""
    return None


def set_flags(
    _enabled: bool | None = None, _benchmark: bool | None = None, _benchmark_limit: int | None = None, _deterministic: bool | None = None,
    _allow_tf32: bool | None = None,
) -> tuple:  # fmt: skip
    """Set the switches that are not None, and return what they were."""
    names = ("enabled", "benchmark", "benchmark_limit", "deterministic", "allow_tf32")
    before = tuple(globals()[name] for name in names)
    for name, value in zip(names, (_enabled, _benchmark, _benchmark_limit, _deterministic, _allow_tf32), strict=True):
        if value is not None:
            globals()[name] = value
    return before


@contextlib.contextmanager
def flags(
    enabled: bool = False, benchmark: bool = False, benchmark_limit: int = 10, deterministic: bool = False, allow_tf32: bool = True,
) -> Iterator[None]:  # fmt: skip
    """The switches as given, inside; as they were, after."""
    before = set_flags(enabled, benchmark, benchmark_limit, deterministic, allow_tf32)
    try:
        yield
    finally:
        set_flags(*before)
