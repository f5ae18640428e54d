"""The verdict on one cell of the table, and how a candidate's run becomes one."""

from __future__ import annotations

import traceback
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import torch
from parity.candidate import MismatchError, MissingError, Side, SkipError
from parity.compare import check_equal
from parity.convert import portable

ORACLE = Side("torch", torch, oracle=True)
# Passed, failed, absent, excused (fails for a documented reason), and nothing to check.
PASS, FAIL, MISSING, EXCUSED, NOTHING = "P", "F", "M", "X", "-"
EQUAL_IN_FLOAT64 = partial(check_equal, input_dtype="float64")


@dataclass(frozen=True)
class Cell:
    """A letter, and the reason where it is not P."""

    letter: str
    reason: str = ""


def first_difference(
    run: Callable[[], Any],
    expected: Any,
    candidate: Side,
    compare: Callable[[Any, Any], None] = EQUAL_IN_FLOAT64,
) -> MissingError | str | None:
    """Runs the candidate: None where it agrees, a MissingError where a name is absent, else what is wrong."""
    try:
        compare(portable(candidate, run()), expected)
    except MissingError as missing:
        return missing
    except MismatchError as mismatch:
        return str(mismatch)
    except SkipError as skip:
        return f"PyTorch has an answer here, the candidate has none: {skip}"
    except Exception as error:  # anything may come out of a candidate at work
        return absent(error, candidate) or describe(error)
    return None


def absent(error: Exception, candidate: Side) -> MissingError | None:
    """An AttributeError on the candidate's own modules or tensors: it lacks the name."""
    if not isinstance(error, AttributeError) or error.name is None:
        return None
    holder, module = error.obj, candidate.module
    if holder is module or candidate.is_tensor(holder) or holder is module.Tensor:
        return MissingError(f"{candidate.name}: {error}")
    place = getattr(holder, "__name__", "")
    return MissingError(f"{place}.{error.name}") if str(place).startswith(f"{candidate.name}.") else None


def describe(error: BaseException) -> str:
    """Type, first line of the message, and the innermost place in the candidate's own files."""
    lines = str(error).strip().splitlines()
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if "/parity/" not in f.filename and "site-packages" not in f.filename]
    place = f" ({own[-1].filename.rsplit('/', 1)[-1]}:{own[-1].lineno})" if own else ""
    return f"{type(error).__name__}: {lines[0][:160] if lines else ''}{place}"
