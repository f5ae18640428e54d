"""How tensors print: pure functions from NumPy arrays to PyTorch's text, and the options that steer them.

A text is made in three steps. The array is cut down to the elements that are shown; a `_Column` is chosen,
which writes one element and knows the width that the elements share; the rows are laid out within the line
width.
"""

import dataclasses
from collections.abc import Callable

import numpy as np

_PROFILES: dict[str | None, dict[str, float]] = {
    "default": {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80},
    "short": {"precision": 2, "threshold": 1000, "edgeitems": 2, "linewidth": 80},
    "full": {"precision": 4, "threshold": float("inf"), "edgeitems": 3, "linewidth": 80},
}
_COMPLEX_OF = {"torch.float64": "torch.complex128"}
_ELLIPSIS = "..."


@dataclasses.dataclass
class _Options:
    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


_options = _Options()


@dataclasses.dataclass(frozen=True)
class _Column:
    """How one element is written: ``write`` makes its text, ``width`` is that of the widest."""

    write: Callable[..., str]
    width: int

    def __call__(self, value: object) -> str:
        return self.write(value).rjust(self.width)


@dataclasses.dataclass(frozen=True)
class _ComplexColumn:
    """A column for the real parts and one for the imaginary parts, joined by a sign."""

    real: _Column
    imag: _Column

    @property
    def width(self) -> int:
        return self.real.width + self.imag.width + 1

    def __call__(self, value: complex) -> str:
        imag = self.imag(value.imag).lstrip()
        sign = "" if imag.startswith("-") else "+"
        return f"{self.real(value.real)}{sign}{imag}j"


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Set how tensors print; what is left out keeps its value, but ``sci_mode`` goes back to automatic.

    Args:
        precision: digits after the point (4).
        threshold: number of elements above which only the edges are shown (1000).
        edgeitems: how many elements are shown at each end of a shortened axis (3).
        linewidth: characters in a line (80).
        profile: "default", "short" or "full", a set of the four values above; those given by name win over
            it. As in PyTorch, any other text changes nothing.
        sci_mode: True or False to switch scientific notation on or off; None to choose by the values.

    Example:
        >>> set_printoptions(precision=2)
        >>> set_printoptions(profile="default")
    """
    given = {"precision": precision, "threshold": threshold, "edgeitems": edgeitems, "linewidth": linewidth}
    chosen = {
        **_PROFILES.get(profile, {}),
        **{name: value for name, value in given.items() if value is not None},
    }
    for name, value in chosen.items():
        setattr(_options, name, value)
    _options.sci_mode = sci_mode


def get_printoptions() -> dict[str, object]:
    """Return the options of ``set_printoptions`` as a dict, which ``set_printoptions`` takes back by ``**``.

    Example:
        >>> get_printoptions()["linewidth"]
        80
    """
    return dataclasses.asdict(_options)


def tensor_text(
    array: np.ndarray,
    *,
    dtype_name: str | None = None,
    default_dtype_name: str = "torch.float32",
    device: str | None = None,
    requires_grad: bool = False,
    grad_fn_name: str | None = None,
    prefix: str = "tensor",
    indent: int = 0,
) -> str:
    """Write an array as PyTorch's ``repr`` of the tensor that holds it.

    Args:
        array: the values (*), of any dtype of NumPy or ml_dtypes that a tensor can have.
        dtype_name: as in "torch.float64"; None takes the name from the array. It is shown where PyTorch shows
            it: unless the values alone tell it.
        default_dtype_name: the floating dtype that new tensors have at present.
        device: shown as ``device='...'`` where given.
        requires_grad: whether to add ``requires_grad=True``, unless there is a ``grad_fn_name``.
        grad_fn_name: shown as ``grad_fn=<...>``.
        prefix: the name in front of the bracket: a subclass's own.
        indent: the column in which the text will start.

    Returns:
        The text, of several lines where it needs them.

    Example:
        >>> tensor_text(np.array([1.0, 2.5]))
        'tensor([1.0000, 2.5000], dtype=torch.float64)'
    """
    dtype_name = dtype_name or f"torch.{array.dtype.name}"
    start = indent + len(prefix) + 1
    tail = [f"device='{device}'"] if device else []
    # The size is written where the brackets do not show it; without edges, PyTorch writes it always.
    if array.size:
        body, hidden, sized = _body(array, start), _plain_dtypes(default_dtype_name), not _options.edgeitems
    else:
        body, hidden, sized = "[]", {default_dtype_name}, array.ndim != 1
    if sized:
        tail.append(f"size={array.shape}")
    if dtype_name not in hidden:
        tail.append(f"dtype={dtype_name}")
    return _with_tail(f"{prefix}({body}", tail + _autograd_tail(requires_grad, grad_fn_name), start)


def text_without_values(
    tail: list[str], requires_grad: bool = False, grad_fn_name: str | None = None, prefix: str = "tensor"
) -> str:
    """What `tensor_text` would write for a tensor without values: an ellipsis, and what else there is to say (``tail``).

    Example:
        >>> text_without_values(["device='meta'", "size=(2,)"])
        "tensor(..., device='meta', size=(2,))"
    """
    return _with_tail(f"{prefix}(...", tail + _autograd_tail(requires_grad, grad_fn_name), len(prefix) + 1)


def format_scalar(array: np.ndarray, spec: str = "") -> str:
    """Write an array of one element as ``format`` writes the Python number that it holds.

    Args:
        array: one element, of any shape.
        spec: what stands after the colon in an f-string.

    Raises:
        ValueError: the array has not exactly one element, or the spec does not fit the number.

    Example:
        >>> format_scalar(np.array(0.123), ".1f")
        '0.1'
    """
    return format(_python_values(array.reshape(-1)).item(), spec)


def _plain_dtypes(default_dtype_name: str) -> set[str]:
    """The dtypes that the printed values tell by themselves."""
    return {
        default_dtype_name,
        _COMPLEX_OF.get(default_dtype_name, "torch.complex64"),
        "torch.int64",
        "torch.bool",
    }


def _autograd_tail(requires_grad: bool, grad_fn_name: str | None) -> list[str]:
    if grad_fn_name:
        return [f"grad_fn=<{grad_fn_name}>"]
    return ["requires_grad=True"] if requires_grad else []


def _with_tail(text: str, tail: list[str], indent: int) -> str:
    """Append the suffixes and the bracket; a suffix starts a line where the last one has no room."""
    # One above the length of the last line, as PyTorch counts it: its lines break one character early.
    used = len(text) - text.rfind("\n") + 1
    for suffix in tail:
        if used + len(suffix) + 2 > _options.linewidth:
            text += ",\n" + " " * indent + suffix
            used = indent + len(suffix)
        else:
            text += ", " + suffix
            used += len(suffix) + 2
    return text + ")"


def _body(array: np.ndarray, indent: int) -> str:
    """The values in their brackets, shortened where the array is large."""
    edge = _options.edgeitems
    cut = tuple(array.size > _options.threshold and size > 2 * edge for size in array.shape)
    shown = array
    for axis in np.flatnonzero(cut):
        ends = np.r_[:edge, array.shape[axis] - edge : array.shape[axis]]
        shown = shown.take(ends, axis=axis)
    shown = _python_values(shown)
    return _nested(shown, cut, _column_of(shown), indent)


def _python_values(array: np.ndarray) -> np.ndarray:
    """The same values with elements that Python knows: bfloat16 and its like become float64."""
    return array.astype(np.float64) if _is_foreign(array.dtype) else array


def _is_foreign(dtype: np.dtype) -> bool:
    """Whether another library than NumPy brought the dtype (``kind`` does not tell: one float8 says "f")."""
    return dtype.isbuiltin == 2


def _column_of(values: np.ndarray) -> _Column | _ComplexColumn:
    kind = values.dtype.kind
    if kind == "c":
        return _ComplexColumn(_float_column(values.real), _float_column(values.imag))
    if kind == "f":
        return _float_column(values)
    return _Column(str, max((len(str(value)) for value in values.ravel().tolist()), default=1))


def _float_column(values: np.ndarray) -> _Column:
    """Whole numbers, fixed point or scientific notation, as suits the finite values other than zero."""
    values = values.astype(np.float64).ravel()
    telling = values[np.isfinite(values) & (values != 0)]
    if telling.size == 0:
        return _Column(_write_whole, 1)
    whole = bool((telling == np.ceil(telling)).all())
    scientific = _is_scientific(np.abs(telling)) if _options.sci_mode is None else _options.sci_mode
    write: Callable[..., str] = _write_whole
    if scientific or not whole:
        write = f"{{:.{_options.precision}{'e' if scientific else 'f'}}}".format
    return _Column(write, max(len(write(value)) for value in telling.tolist()))


def _is_scientific(sizes: np.ndarray) -> bool:
    """Whether the sizes are too far apart, too large or too small for fixed point."""
    smallest, largest = sizes.min(), sizes.max()
    with np.errstate(over="ignore"):
        return bool(largest / smallest > 1000 or largest > 1e8 or smallest < 1e-4)


def _write_whole(value: float) -> str:
    return f"{value:.0f}" + ("." if np.isfinite(value) else "")


def _nested(values: np.ndarray, cut: tuple[bool, ...], column: _Column | _ComplexColumn, indent: int) -> str:
    """Brackets for the first axis around the texts of what it holds; ``cut``: the shortened axes."""
    if values.ndim == 0:
        return column(values.item())
    if values.ndim == 1:
        return _row([column(value) for value in values.tolist()], cut[0], column.width, indent)
    parts = [_nested(part, cut[1:], column, indent + 1) for part in values]
    if cut[0]:
        parts.insert(_options.edgeitems, _ELLIPSIS)
    return "[" + ("," + "\n" * (values.ndim - 1) + " " * (indent + 1)).join(parts) + "]"


def _row(cells: list[str], cut: bool, width: int, indent: int) -> str:
    """A vector, over as many lines as it needs."""
    if cut:
        cells.insert(_options.edgeitems, " " + _ELLIPSIS if _options.edgeitems else _ELLIPSIS)
    room = min(_options.linewidth - indent, (width + 2) * len(cells))
    count = max(1, int(room // (width + 2)))
    lines = [", ".join(cells[at : at + count]) for at in range(0, len(cells), count)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"
