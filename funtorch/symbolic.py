"""Functions for sizes that PyTorch may not know while it traces. Sizes are numbers here, always, and these are Python's functions."""

from __future__ import annotations

import math
from typing import Any

__all__ = ["sym_float", "sym_int", "sym_ite", "sym_max", "sym_min", "sym_not", "sym_sqrt", "sym_sum"]


def sym_float(a: Any) -> float:
    """``float(a)``."""
    return float(a)


def sym_int(a: Any) -> int:
    """``a`` without its fraction."""
    return int(a)


def sym_ite(b: bool, t: Any, f: Any) -> Any:
    """``t`` if ``b``, else ``f``. Raises AssertionError if the two have different types."""
    assert isinstance(b, bool) and type(t) is type(f), f"sym_ite({b!r}, {t!r}, {f!r}): expected a bool and two values of one type"
    return t if b else f


def sym_max(a: Any, b: Any) -> Any:
    """The larger of two numbers: a float if one of them is."""
    largest = max(a, b)
    return float(largest) if isinstance(a, float) or isinstance(b, float) else largest


def sym_min(a: Any, b: Any) -> Any:
    """The smaller of two numbers: a float if one of them is."""
    smallest = min(a, b)
    return float(smallest) if isinstance(a, float) or isinstance(b, float) else smallest


def sym_not(a: Any) -> bool:
    """``not a``."""
    return not a


def sym_sqrt(a: Any) -> float:
    """The square root of a number. Raises ValueError for one below 0."""
    return math.sqrt(a)


def sym_sum(args: Any) -> Any:
    """The sum of several numbers."""
    return sum(args)
