"""Equality of two portable results: same structure, shapes and dtypes, and values within a dtype's tolerance."""

from __future__ import annotations

from typing import Any

import numpy as np
from parity.candidate import MismatchError
from parity.convert import Array, Record

# Relative and absolute tolerance by the dtype of the result. Two libraries sum in different orders, so a few
# units in the last place are granted after a reduction over the samples' small axes.
TOLERANCES = {
    "float64": (1e-7, 1e-9),
    "complex128": (1e-7, 1e-9),
    "float32": (1e-4, 1e-5),
    "complex64": (1e-4, 1e-5),
    "bfloat16": (2e-2, 1e-2),
    "float16": (2e-3, 1e-3),
    "complex32": (2e-3, 1e-3),
    "float8_e4m3fn": (0.125, 0.01),
    "float8_e5m2": (0.25, 0.01),
}
EXACT = (0.0, 0.0)


def tolerance(dtypes: tuple[str, ...], factor: float = 1.0) -> tuple[float, float]:
    """The loosest tolerance among the dtypes, times a factor."""
    pairs = [TOLERANCES.get(dtype, EXACT) for dtype in dtypes]
    return max(pair[0] for pair in pairs) * factor, max(pair[1] for pair in pairs) * factor


def check_equal(actual: Any, expected: Any, input_dtype: str, factor: float = 1.0, where: str = "result") -> None:
    """Raises MismatchError at the first difference. ``where`` names the place in the message."""
    if isinstance(expected, Record):
        _check_fields(actual, expected, where)
        actual, expected = actual.values, expected.values
    if isinstance(actual, Record):
        actual = actual.values
    if isinstance(expected, tuple):
        _check_sequence(actual, expected, input_dtype, factor, where)
    elif isinstance(expected, dict):
        _check_mapping(actual, expected, input_dtype, factor, where)
    elif isinstance(expected, Array):
        _check_array(actual, expected, input_dtype, factor, where)
    else:
        _check_scalar(actual, expected, input_dtype, factor, where)


def check_same_form(actual: Any, expected: Any, where: str = "result") -> None:
    """Same structure, shapes and dtypes; values may differ (random and uninitialised results)."""
    if isinstance(expected, Record):
        expected = expected.values
    if isinstance(actual, Record):
        actual = actual.values
    if isinstance(expected, tuple):
        _check_length(actual, expected, where)
        for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
            check_same_form(a, e, f"{where}[{i}]")
    elif isinstance(expected, Array):
        _check_array_form(actual, expected, where)
    elif type(actual) is not type(expected):
        raise MismatchError(f"{where} is {kind(actual)}, expected {kind(expected)}")


def kind(value: Any) -> str:
    """A short name for a portable value: ``float32[2, 3]``, ``tuple of 2``, ``int``."""
    if isinstance(value, Array):
        return f"{value.dtype}{list(value.value.shape)}"
    if isinstance(value, (tuple, Record)):
        return f"tuple of {len(value if isinstance(value, tuple) else value.values)}"
    return type(value).__name__


def _check_fields(actual: Any, expected: Record, where: str) -> None:
    if not isinstance(actual, Record):
        raise MismatchError(f"{where} has no fields {', '.join(expected.fields)}: it is a {kind(actual)}")
    if actual.fields != expected.fields:
        raise MismatchError(f"{where} has fields {actual.fields}, expected {expected.fields}")


def _check_length(actual: Any, expected: tuple, where: str) -> None:
    if not isinstance(actual, tuple) or len(actual) != len(expected):
        raise MismatchError(f"{where} is {kind(actual)}, expected {kind(expected)}")


def _check_sequence(actual: Any, expected: tuple, input_dtype: str, factor: float, where: str) -> None:
    _check_length(actual, expected, where)
    for i, (a, e) in enumerate(zip(actual, expected, strict=True)):
        check_equal(a, e, input_dtype, factor, f"{where}[{i}]")


def _check_mapping(actual: Any, expected: dict, input_dtype: str, factor: float, where: str) -> None:
    if not isinstance(actual, dict) or list(actual) != list(expected):
        keys = list(actual) if isinstance(actual, dict) else kind(actual)
        raise MismatchError(f"{where} has keys {keys}, expected {list(expected)}")
    for key, value in expected.items():
        check_equal(actual[key], value, input_dtype, factor, f"{where}[{key!r}]")


def _check_array_form(actual: Any, expected: Array, where: str) -> None:
    if not isinstance(actual, Array):
        raise MismatchError(f"{where} is {kind(actual)}, expected {kind(expected)}")
    if actual.dtype != expected.dtype or actual.value.shape != expected.value.shape:
        raise MismatchError(f"{where} is {kind(actual)}, expected {kind(expected)}")
    if actual.sparse != expected.sparse:
        raise MismatchError(f"{where} is {'sparse' if actual.sparse else 'dense'}, expected the other")


def _check_array(actual: Any, expected: Array, input_dtype: str, factor: float, where: str) -> None:
    _check_array_form(actual, expected, where)
    rtol, atol = tolerance((expected.dtype, input_dtype) if _is_inexact(expected) else ("exact",), factor)
    a, e = actual.value, expected.value
    with np.errstate(all="ignore"):
        if np.array_equal(a, e) or np.allclose(a, e, rtol, atol, equal_nan=_is_inexact(expected)):
            return
        raise MismatchError(f"{where} {kind(expected)} {_worst(a, e, rtol, atol)}")


def _is_inexact(array: Array) -> bool:
    return np.issubdtype(array.value.dtype, np.inexact)


def _worst(actual: np.ndarray, expected: np.ndarray, rtol: float, atol: float) -> str:
    wrong = ~np.isclose(actual, expected, rtol, atol, equal_nan=np.issubdtype(expected.dtype, np.inexact))
    at = tuple(int(i) for i in np.argwhere(wrong)[0])
    got, want = actual[at], expected[at]
    return f"differs at {int(wrong.sum())} of {wrong.size} places: {got:.8g} at {list(at)}, expected {want:.8g}"


def _check_scalar(actual: Any, expected: Any, input_dtype: str, factor: float, where: str) -> None:
    if type(actual) is not type(expected):
        raise MismatchError(f"{where} is {kind(actual)} {actual!r:.60}, expected {kind(expected)} {expected!r:.60}")
    if isinstance(expected, (float, complex)):
        _check_array(
            Array("float64", np.asarray(actual)),
            Array("float64", np.asarray(expected)),
            input_dtype,
            factor,
            where,
        )
    elif actual != expected:
        raise MismatchError(f"{where} is {actual!r:.60}, expected {expected!r:.60}")
