"""NumPy rules for lax primitives, one family a file; importing the package fills the table."""

from . import (
    control,
    conversions,
    convolution,
    cumulative,
    elementwise,
    indexing,
    linalg,
    linear,
    random,
    reductions,
    scatter,
    shapes,
    shortcuts,
    sorting,
    special,
    windows,
)

__all__ = [
    "control",
    "conversions",
    "convolution",
    "cumulative",
    "elementwise",
    "indexing",
    "linalg",
    "linear",
    "random",
    "reductions",
    "scatter",
    "shapes",
    "shortcuts",
    "sorting",
    "special",
    "windows",
]
