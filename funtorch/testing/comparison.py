"""assert_close: numbers, Tensors, arrays, and what is made of them, compared with tolerances by dtype."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from .. import dtypes
from ..dtypes import dtype as DType  # noqa: N812
from ..errors import ArgumentTypeError, ArgumentValueError
from ..ops import registry
from ..tensor import Tensor

__all__ = ["assert_allclose", "assert_close"]

# By dtype, relative and absolute; whole numbers are compared exactly.
TOLERANCES: dict[DType, tuple[float, float]] = {
    dtypes.float16: (1e-3, 1e-5),
    dtypes.bfloat16: (1.6e-2, 1e-5),
    dtypes.float32: (1.3e-6, 1e-5),
    dtypes.float64: (1e-7, 1e-7),
    dtypes.complex64: (1.3e-6, 1e-5),
    dtypes.complex128: (1e-7, 1e-7),
}
OF_NUMBERS = {bool: dtypes.bool_, int: dtypes.int64, float: dtypes.float64, complex: dtypes.complex128}


class Options(NamedTuple):
    """How to compare, as `assert_close` says."""

    rtol: float | None
    atol: float | None
    equal_nan: bool
    check_device: bool
    check_dtype: bool
    check_layout: bool
    check_stride: bool
    allow_subclasses: bool
    msg: str | Callable[[str], str] | None

    def tolerances(self, *kinds: DType) -> tuple[float, float]:
        """The larger of the dtypes' own, or those that were given."""
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        each = [TOLERANCES.get(kind, (0.0, 0.0)) for kind in kinds]
        return max(rtol for rtol, _ in each), max(atol for _, atol in each)

    def fail(self, message: str, where: str) -> None:
        """Raise AssertionError with a message, for the item at a path."""
        message = f"{message}\n\nThe failure occurred for item {where}" if where else message
        raise AssertionError(self.msg(message) if callable(self.msg) else self.msg or message)


def assert_close(
    actual: Any,
    expected: Any,
    *,
    allow_subclasses: bool = True,
    rtol: float | None = None,
    atol: float | None = None,
    equal_nan: bool = False,
    check_device: bool = True,
    check_dtype: bool = True,
    check_layout: bool = True,
    check_stride: bool = False,
    msg: str | Callable[[str], str] | None = None,
) -> None:
    r"""Assert that two things are close: :math:`|a - e| \le \mathrm{atol} + \mathrm{rtol} \cdot |e|` everywhere.

    Args:
        actual: a Tensor, an array, a number, or a sequence or mapping of these.
        expected: what it should be.
        allow_subclasses: whether types may differ if one derives from the other.
        rtol, atol: both or neither; by dtype unless given: 1.3e-6 and 1e-5 for float32, 1e-7 both for float64, 0 for ints.
        equal_nan: whether NaN is close to NaN.
        check_device, check_dtype, check_layout, check_stride: whether these must be equal too.
        msg: the message in place of the own one, or a function of it.

    Raises:
        AssertionError: they are not close; the message says where and by how much.
        ValueError: only one of rtol and atol is given.
        TypeError: their types can't be compared.

    Example:
        >>> torch.testing.assert_close(torch.ones(2), torch.ones(2) + 1e-7)
        >>> torch.testing.assert_close({"a": 1.0}, {"a": 1.0 + 1e-9})
    """
    if (rtol is None) != (atol is None):
        given, other = ("rtol", "atol") if atol is None else ("atol", "rtol")
        raise ArgumentValueError(f"assert_close(): {given} is given but {other} is not; give both or neither")
    checks = (equal_nan, check_device, check_dtype, check_layout, check_stride, allow_subclasses)
    _compare(actual, expected, Options(rtol, atol, *checks, msg), "")


def _compare(actual: Any, expected: Any, options: Options, where: str) -> None:
    if _is_mapping(actual) and _is_mapping(expected):
        if set(actual) != set(expected):
            missing, more = (sorted(map(repr, a - b)) for a, b in ((set(expected), set(actual)), (set(actual), set(expected))))
            options.fail(f"The keys of the mappings do not match: missing {missing}, additional {more}", where)
        for key in expected:
            _compare(actual[key], expected[key], options, f"{where}[{key!r}]")
    elif _is_sequence(actual) and _is_sequence(expected):
        if len(actual) != len(expected):
            options.fail(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}", where)
        for index, (a, e) in enumerate(zip(actual, expected, strict=True)):
            _compare(a, e, options, f"{where}[{index}]")
    elif actual is None or expected is None:
        if actual is not expected:
            options.fail(f"None mismatch: {actual!r} is not {expected!r}", where)
    elif _is_number(actual) and _is_number(expected):
        _compare_numbers(actual, expected, options, where)
    else:
        _compare_arrays(actual, expected, options, where)


def _is_mapping(value: Any) -> bool:
    return isinstance(value, Mapping)


def _is_sequence(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str)


def _is_number(value: Any) -> bool:
    return isinstance(value, (bool, int, float, complex, np.number, np.bool_)) and not isinstance(value, Tensor)


def _compare_numbers(actual: Any, expected: Any, options: Options, where: str) -> None:
    kinds = [type(value.item() if isinstance(value, np.generic) else value) for value in (actual, expected)]
    if options.check_dtype and kinds[0] is not kinds[1]:
        options.fail(f"The (d)types do not match: {kinds[0]} != {kinds[1]}.", where)
    rtol, atol = options.tolerances(*(OF_NUMBERS[kind] for kind in kinds))
    if _close(np.asarray(actual), np.asarray(expected), rtol, atol, options.equal_nan).all():
        return
    exact = rtol == atol == 0
    lines = [f"Scalars are not {'equal' if exact else 'close'}!", "", f"Expected {expected} but got {actual}."]
    gap = abs(actual - expected) if not isinstance(actual, bool) else int(actual != expected)
    lines.append(f"Absolute difference: {gap}" + ("" if exact else f" (up to {atol} allowed)"))
    relative = gap / abs(expected) if expected else float("inf")
    lines.append(f"Relative difference: {relative}" + ("" if exact else f" (up to {rtol} allowed)"))
    options.fail("\n".join(lines), where)


def _as_tensor(value: Any) -> Tensor:
    if isinstance(value, Tensor):
        return value
    try:
        return registry.names("torch")["as_tensor"](value)
    except (TypeError, ValueError, RuntimeError):
        raise ArgumentTypeError(
            f"assert_close(): no comparison pair was able to handle inputs of type {type(value).__name__}"
        ) from None


def _compare_arrays(actual: Any, expected: Any, options: Options, where: str) -> None:
    related = isinstance(actual, type(expected)) or isinstance(expected, type(actual))
    if not related or (not options.allow_subclasses and type(actual) is not type(expected)):
        raise ArgumentTypeError(
            f"assert_close(): no comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}."
        )
    a, e = _as_tensor(actual).detach(), _as_tensor(expected).detach()
    _compare_attributes(a, e, options, where)
    if a.is_meta or e.is_meta:  # without data there is nothing more to compare
        return
    rtol, atol = options.tolerances(a.dtype, e.dtype)
    got, wanted = (np.asarray(_wide(each)) for each in (a, e))
    close = _close(got, wanted, rtol, atol, options.equal_nan)
    if not close.all():
        options.fail(_difference(got, wanted, close, rtol, atol), where)


def _compare_attributes(a: Tensor, e: Tensor, options: Options, where: str) -> None:
    """Compare everything but the values."""
    checks = [
        (True, "shape", tuple(a.shape), tuple(e.shape)),
        (options.check_layout, "layout", a.layout, e.layout),
        (options.check_device, "device", a.device, e.device),
        (options.check_dtype, "dtype", a.dtype, e.dtype),
    ]
    for wanted, name, mine, other in checks:
        if wanted and mine != other:
            options.fail(f"The values for attribute '{name}' do not match: {mine} != {other}.", where)
    if options.check_stride and a.stride() != e.stride():
        options.fail(f"The values for attribute 'stride()' do not match: {a.stride()} != {e.stride()}.", where)


def _wide(tensor: Tensor) -> np.ndarray:
    """The values in a dtype of NumPy's own that holds each exactly."""
    dense = tensor.to_dense() if "strided" not in str(tensor.layout) else tensor
    wider = {"f": np.float64, "c": np.complex128, "V": np.float64}  # V: those of ml_dtypes
    array = dense.cpu().numpy()
    return array.astype(wider[array.dtype.kind]) if array.dtype.kind in wider else array


def _close(a: np.ndarray, e: np.ndarray, rtol: float, atol: float, equal_nan: bool) -> np.ndarray:
    if rtol == atol == 0 and not equal_nan:
        return np.asarray(a == e)
    kind = np.result_type(a, e, np.float64) if "c" not in (a.dtype.kind, e.dtype.kind) else np.complex128
    return np.isclose(a.astype(kind), e.astype(kind), rtol=rtol, atol=atol, equal_nan=equal_nan)


def _difference(a: np.ndarray, e: np.ndarray, close: np.ndarray, rtol: float, atol: float) -> str:
    """How many items differ, and where the most."""
    exact = rtol == atol == 0
    count, size = int((~close).sum()), close.size
    wide = np.complex128 if "c" in (a.dtype.kind, e.dtype.kind) else np.float64
    with np.errstate(all="ignore"):
        gap = np.abs(a.astype(wide) - e.astype(wide))
        relative = gap / np.abs(e.astype(wide))
    lines = [f"{'Scalars' if a.ndim == 0 else 'Tensor-likes'} are not {'equal' if exact else 'close'}!", ""]
    if a.ndim == 0:
        lines.append(f"Expected {e.item()} but got {a.item()}.")
    else:
        lines.append(f"Mismatched elements: {count} / {size} ({count / size:.1%})")
    for name, values, limit in (("absolute", gap, atol), ("relative", relative, rtol)):
        shown = np.where(close, 0.0, values)
        at = np.unravel_index(int(np.argmax(np.where(np.isnan(shown), np.inf, shown))), shown.shape)
        place = f" at index {tuple(int(i) for i in at)}" if a.ndim else ""
        start = f"Greatest {name} difference" if a.ndim else f"{name.capitalize()} difference"
        lines.append(f"{start}: {float(values[at])}{place}" + ("" if exact else f" (up to {limit} allowed)"))
    return "\n".join(lines)


def assert_allclose(
    actual: Any, expected: Any, rtol: float | None = None, atol: float | None = None, equal_nan: bool = True, msg: str = ""
) -> None:
    """`assert_close` under its older name, which converts what it gets and compares neither dtypes nor devices; it warns."""
    warnings.warn(
        "`torch.testing.assert_allclose()` is deprecated; use `torch.testing.assert_close()`", FutureWarning, stacklevel=2
    )
    made = registry.names("torch")["as_tensor"]
    expected = expected if isinstance(expected, Tensor) else made(expected)
    actual = actual if isinstance(actual, Tensor) else made(actual, dtype=expected.dtype)
    if rtol is None and atol is None:
        rtol, atol = TOLERANCES.get(expected.dtype, (0.0, 0.0))
    assert_close(
        actual, expected, rtol=rtol, atol=atol, equal_nan=equal_nan, check_device=False, check_dtype=False, msg=msg or None
    )
