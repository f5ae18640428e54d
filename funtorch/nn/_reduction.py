"""How losses are reduced: the numbers of the words, and the words of the old arguments."""

from __future__ import annotations

from ..ops.loss_reduction import REDUCTIONS, reduction_of

NUMBERS = {"none": 0, "mean": 1, "sum": 2}


def get_enum(reduction: str) -> int:
    """0, 1, 2 for "none", "mean", "sum". Raises ValueError for another word."""
    return NUMBERS[reduction_of(reduction)]


def legacy_get_string(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> str:
    """The word for ``size_average`` and ``reduce``, where None is true; with a warning."""
    average = size_average is None or size_average
    if emit_warning:
        return reduction_of("mean", average, reduce is None or reduce)
    return REDUCTIONS[2] if reduce is False else REDUCTIONS[0] if average else REDUCTIONS[1]


def legacy_get_enum(size_average: bool | None, reduce: bool | None, emit_warning: bool = True) -> int:
    """The number of `legacy_get_string`'s word."""
    return get_enum(legacy_get_string(size_average, reduce, emit_warning))
