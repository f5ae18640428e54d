"""The operator database as a suite: one cell is one op in one column."""

from __future__ import annotations

import functools
from typing import Any

import torch
from parity import gauge, lookup, rounding
from parity.aspects import Form
from parity.candidate import MismatchError, MissingError, Side, SkipError
from parity.columns import ERRORS, RANDOM, Column
from parity.compare import check_equal, check_same_form
from parity.convert import dtype_name, portable
from parity.exceptions import excuse_error_input, looseness
from parity.samples import draw, draw_errors, prepare, spread
from parity.verdict import EXCUSED, FAIL, MISSING, NOTHING, ORACLE, PASS, Cell, absent, describe, first_difference

# Aspects whose random results are held to shape and dtype alone; their values have a column of their own.
FORM_ONLY = ("forward", "method", "inplace", "out", "alias")


@functools.cache
def database() -> dict[str, Any]:
    """PyTorch's operator database by full name, in its order."""
    from torch.testing._internal.common_methods_invocations import op_db

    return {info.full_name: info for info in op_db}


def family(info: Any) -> str:
    """The group that an op is listed under: its namespace, or the kind of its database entry."""
    space, _, _ = info.name.rpartition(".")
    if space:
        return space
    return type(info).__name__.removesuffix("Info").removesuffix("Ufunc").lower() or "other"


@functools.cache
def _seeded_state() -> bytes:
    torch.manual_seed(lookup.SEED)
    return torch.get_rng_state().numpy().tobytes()


def _drew_numbers() -> bool:
    return torch.get_rng_state().numpy().tobytes() != _seeded_state()


@functools.lru_cache(maxsize=10)
def _samples(name: str, dtype: torch.dtype, requires_grad: bool) -> list[Any]:
    return draw(database()[name], dtype, requires_grad)


@functools.lru_cache(maxsize=64)
def _answers(name: str, column: Column, dtype: torch.dtype) -> list[tuple[Any, Any, bool]]:
    """PyTorch's answers: (sample, portable result, whether random numbers were drawn), where it has one."""
    info, answers = database()[name], []
    for sample in spread(_samples(name, dtype, column.differentiates), column.count):
        if not _crosses(sample):
            continue
        try:
            expected = portable(ORACLE, column.aspect(Form(info, ORACLE), sample))
        except Exception:  # whatever PyTorch refuses is not asked of the candidate
            continue
        answers.append((sample, expected, _drew_numbers()))
    return answers


def _crosses(sample: Any) -> bool:
    """Whether the harness can carry the sample. A fault of its own must surface, not look like PyTorch's refusal."""
    try:
        prepare(sample, None, ORACLE)
    except SkipError:
        return False
    return True


def check(name: str, column: Column, candidate: Side) -> Cell:
    """Runs one op in one column."""
    if column.name == ERRORS.name:
        return check_errors(name, column, candidate)
    dtype = column.dtype_for(database()[name])
    if dtype is None:
        return Cell(NOTHING)
    answers = _answers(name, column, dtype)
    if column.name == RANDOM.name:
        answers = [answer for answer in answers if answer[2]]
    if column.group == "vmap":
        answers = [answer for answer in answers if not answer[2]]
    for i, (sample, expected, drew) in enumerate(answers):
        reason = _difference(name, column, candidate, sample, expected, drew)
        if reason is not None:
            missing = isinstance(reason, MissingError)
            return Cell(MISSING if missing else FAIL, f"{'' if missing else f'sample {i}: '}{reason}")
    return Cell(PASS if answers else NOTHING)


def _difference(name: str, column: Column, candidate: Side, sample: Any, expected: Any, drew: bool) -> Any:
    """None where the candidate agrees, else what is wrong (a MissingError where a name is absent)."""
    form = Form(database()[name], candidate, expected)
    dtype = dtype_name(column.dtype_for(form.info))

    def compare(actual: Any, expected: Any) -> None:
        if name in gauge.UNINITIALISED or (drew and column.group in FORM_ONLY):
            check_same_form(actual, expected)
        elif drew and column.group == "compile":
            check_equal(actual, _eagerly(form, sample, len(expected)), dtype, looseness(name, column.name))
        elif dtype in rounding.WIDER:
            _check_rounded(form, column, sample, actual, expected)
        else:
            check_equal(actual, expected, dtype, looseness(name, column.name))

    return first_difference(lambda: column.aspect(form, sample), expected, candidate, compare)


def _check_rounded(form: Form, column: Column, sample: Any, actual: Any, expected: Any) -> None:
    try:
        check_equal(actual, expected, column.dtype or "bfloat16")
    except MismatchError as mismatch:
        try:
            rounding.check_as_near(form, column.aspect, sample, actual, expected)
        except Exception as further:
            raise MismatchError(f"{mismatch}; {further}") from None


def _eagerly(form: Form, sample: Any, times: int) -> Any:
    """What the candidate itself gives without compile: the measure for random ops."""
    with form.side.module.no_grad():
        return (portable(form.side, form.fixed_call(sample)()),) * times


def check_errors(name: str, column: Column, candidate: Side) -> Cell:
    """Inputs that must raise: the candidate raises PyTorch's exception type, or a subclass."""
    info = database()[name]
    if info.error_inputs_func is None:
        return Cell(NOTHING)
    tried, waived = 0, ""
    for i, error_input in enumerate(draw_errors(info, column.count)):
        wanted = _what_torch_raises(info, error_input) if _crosses(error_input.sample_input) else None
        if wanted is None:
            continue
        tried += 1
        try:
            reason = _wrong_error(info, error_input, wanted, candidate)
        except MissingError as missing:
            return Cell(MISSING, str(missing))
        excuse = excuse_error_input(error_input.error_regex)
        if reason and not excuse:
            return Cell(FAIL, f"error input {i}: {reason} ({' '.join(error_input.error_regex.split())[:90]})")
        waived = waived or (excuse if reason else "")
    if waived:
        return Cell(EXCUSED, waived)
    return Cell(PASS if tried else NOTHING)


def _what_torch_raises(info: Any, error_input: Any) -> type[BaseException] | None:
    try:
        prepare(error_input.sample_input, lookup.op_function(info, ORACLE), ORACLE)()
    except Exception as error:
        return type(error)
    return None


def _wrong_error(info: Any, error_input: Any, wanted: type[BaseException], candidate: Side) -> str | None:
    accepted = tuple(_own_type(kind, candidate) for kind in (wanted, error_input.error_type))
    try:
        call = prepare(error_input.sample_input, lookup.op_function(info, candidate), candidate)
    except MissingError:
        raise
    except Exception as error:
        _raise_if_absent(error, candidate)
        return f"the input itself could not be made: {describe(error)}"
    try:
        call()
    except accepted:
        return None
    except Exception as error:
        _raise_if_absent(error, candidate)
        return f"raised {describe(error)}, expected {wanted.__name__}"
    return f"raised nothing, expected {wanted.__name__}"


def _raise_if_absent(error: Exception, candidate: Side) -> None:
    missing = absent(error, candidate)
    if missing:
        raise missing


def _own_type(kind: type[BaseException], candidate: Side) -> type[BaseException]:
    if kind.__module__ == "builtins" or candidate.module is torch:
        return kind
    space = "linalg." if kind.__name__ == "LinAlgError" else ""
    return candidate.find(space + kind.__name__)
