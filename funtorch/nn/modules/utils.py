"""Numbers for each dimension from one for all, and prefixes of saved states: what code around modules takes from PyTorch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any

from ...errors import ArgumentValueError


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple]:
    """A function that repeats a value ``n`` times, and makes a tuple of what has several values already."""

    def parse(x: Any) -> tuple:
        return tuple(x) if isinstance(x, Iterable) else tuple(repeat(x, n))

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Take ``prefix`` off the keys of a saved state that have it, in place."""
    for key in [key for key in state_dict if key.startswith(prefix)]:
        state_dict[key[len(prefix) :]] = state_dict.pop(key)
    metadata = getattr(state_dict, "_metadata", None)
    if metadata is not None:
        for key in [key for key in metadata if key and (key.startswith(prefix) or key == prefix.removesuffix("."))]:
            metadata[key[len(prefix) :]] = metadata.pop(key)


def _reverse_repeat_tuple(t: Sequence[Any], n: int) -> tuple:
    """The values from the last to the first, each ``n`` times."""
    return tuple(x for x in reversed(t) for _ in range(n))


def _list_with_default(out_size: Sequence[int | None], defaults: Sequence[int]) -> Any:
    """Sizes, the last of the defaults in place of those that are None. Raises ValueError for more sizes than defaults."""
    if isinstance(out_size, int):
        return out_size
    if len(defaults) <= len(out_size):
        raise ArgumentValueError(f"Input dimension should be at least {len(out_size) + 1}")
    return [size if size is not None else other for size, other in zip(out_size, defaults[-len(out_size) :], strict=True)]
