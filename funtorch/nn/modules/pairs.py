"""Names and values given to a container, as a mapping or as pairs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from ...errors import ArgumentTypeError, ArgumentValueError

NOT_ITERABLE = "{}.update should be called with an iterable of key/value pairs, but got {}"
NO_PAIR = "{} update sequence element #{} should be Iterable; is {}"
WRONG_LENGTH = "{} update sequence element #{} has length {}; 2 is required"


def named_values(given: Any, owner: str) -> list[tuple[str, Any]]:
    """The names and values, all of them checked to be pairs.

    Args:
        given: a mapping, a container with `items`, or an iterable of pairs.
        owner: the container's class, for messages.

    Raises:
        TypeError: it is not iterable, or an element of it is not.
        ValueError: an element has another length than 2.
    """
    if not isinstance(given, Iterable):
        raise ArgumentTypeError(NOT_ITERABLE.format(owner, type(given).__name__))
    if isinstance(given, Mapping) or hasattr(given, "items"):
        return list(given.items())
    found = []
    for i, pair in enumerate(given):
        if not isinstance(pair, Iterable):
            raise ArgumentTypeError(NO_PAIR.format(owner, i, type(pair).__name__))
        pair = pair if isinstance(pair, Sequence) else list(pair)
        if len(pair) != 2:
            raise ArgumentValueError(WRONG_LENGTH.format(owner, i, len(pair)))
        found.append((pair[0], pair[1]))
    return found
