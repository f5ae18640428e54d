"""What a pickle names, found without running any of it."""

from __future__ import annotations

import pickletools
import struct
from pickle import UnpicklingError
from typing import Any

from .source import Source


def named(source: Source) -> list[tuple[str, str]]:
    """The (module, name) pairs of a pickle, each once, in order. Raises pickle.UnpicklingError if it is damaged."""
    found: dict[tuple[str, str], None] = {}
    texts: list[str] = []  # what STACK_GLOBAL takes its two names from
    memo: list[Any] = []
    try:
        for code, value, _ in pickletools.genops(source):  # type: ignore[arg-type]
            argument: Any = value
            if code.name == "GLOBAL":
                module, _, name = argument.partition(" ")
                found[module, name] = None
            elif code.name == "STACK_GLOBAL" and len(texts) > 1:
                found[texts[-2], texts[-1]] = None
            elif code.name == "MEMOIZE":
                memo.append(texts[-1] if texts else None)
            elif code.name in ("BINGET", "LONG_BINGET") and argument < len(memo) and memo[argument] is not None:
                texts.append(memo[argument])
            elif "UNICODE" in code.name:
                texts.append(argument)
    except (ValueError, IndexError, struct.error, OverflowError) as error:
        raise UnpicklingError(f"load(): the pickle in the file is damaged: {error}") from None
    return list(found)
