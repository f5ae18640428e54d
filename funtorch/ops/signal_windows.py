"""Windows for spectral analysis, by their old names and in namespace signal.windows.

A symmetric window of M points is a function of i = 0 .. M-1; a periodic one is that of M + 1 points without the last.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from .. import dtypes
from ..dtypes import as_dtype
from ..errors import ArgumentTypeError, ArgumentValueError, OpError
from ..layouts import strided
from .declare import function
from .placing import place_made

Points = np.ndarray


def _cosines(i: Points, m: int, weights: Sequence[float]) -> Points:
    """sum_k (-1)^k a_k cos(2 pi k i / (m - 1))."""
    angle = 2 * np.pi * i / (m - 1)
    return sum((-1) ** k * a * np.cos(k * angle) for k, a in enumerate(weights))


def _bartlett(i: Points, m: int) -> Points:
    return 1 - np.abs(2 * i / (m - 1) - 1)


def _kaiser(i: Points, m: int, beta: float) -> Points:
    return np.i0(beta * np.sqrt(np.maximum(1 - (2 * i / (m - 1) - 1) ** 2, 0))) / np.i0(np.float64(beta))


def _gaussian(i: Points, m: int, std: float) -> Points:
    return np.exp(-(((i - (m - 1) / 2) / std) ** 2) / 2)


def _exponential(i: Points, m: int, center: float | None, tau: float) -> Points:
    return np.exp(-np.abs(i - ((m - 1) / 2 if center is None else center)) / tau)


def _cosine(i: Points, m: int) -> Points:
    return np.sin(np.pi * (i + 0.5) / m)


BLACKMAN = (0.42, 0.5, 0.08)
NUTTALL = (0.3635819, 0.4891775, 0.1365995, 0.0106411)


def _sampled(formula: Callable, count: int, periodic: bool) -> Points:
    """The formula at ``count`` points: ``formula(i, m)``."""
    if count == 0:
        return np.zeros(0)
    if count == 1:
        return np.ones(1)
    return formula(np.arange(count), count + periodic)


def _made(name: str, formula: Callable, count: int, periodic: bool, dtype: Any, device: Any, requires_grad: bool) -> Any:
    kind = dtypes.default() if dtype is None else as_dtype(dtype)
    if not kind.is_floating_point:
        raise OpError(f"{name} expects floating point dtypes, got: {kind}")
    return place_made(lambda: _sampled(formula, count, periodic).astype(kind.numpy), (count,), kind.numpy, device, requires_grad)


def _old(name: str, formula: Callable, defaults: dict[str, float], what: str) -> None:
    """The window of ``torch``: (window_length, periodic=True, *its own numbers, *, dtype, ...)."""

    def window(
        window_length: int, periodic: bool = True, *numbers: float, dtype: Any = None, layout: Any = None, device: Any = None,
        pin_memory: bool = False, requires_grad: bool = False, **named: float,
    ) -> Any:  # fmt: skip
        given = dict(zip(defaults, numbers, strict=False)) | named
        unknown = set(given) - set(defaults)
        if unknown or len(numbers) > len(defaults):
            raise ArgumentTypeError(f"{name}(): unexpected arguments: {', '.join(sorted(unknown)) or numbers[len(defaults) :]}")
        if window_length < 0:
            raise OpError(f"{name} requires non-negative window_length, got window_length={window_length}")
        chosen = tuple((defaults | given).values())
        return _made(name, lambda i, m: formula(i, m, *chosen), window_length, bool(periodic), dtype, device, requires_grad)

    window.__name__ = window.__qualname__ = name
    window.__doc__ = (
        f"{what} of ``window_length`` points: (window_length). ``periodic``: one more point is computed and left out.\n\n"
        "    Raises RuntimeError for a negative length or a dtype that isn't floating point.\n    "
    )
    function(name=name)(window)


_old("hann_window", lambda i, m: _cosines(i, m, (0.5, 0.5)), {}, "Hann's window")
_old("hamming_window", lambda i, m, a, b: _cosines(i, m, (a, b)), {"alpha": 0.54, "beta": 0.46}, "Hamming's window")
_old("blackman_window", lambda i, m: _cosines(i, m, BLACKMAN), {}, "Blackman's window")
_old("bartlett_window", _bartlett, {}, "Bartlett's window")
_old("kaiser_window", _kaiser, {"beta": 12.0}, "Kaiser's window")


def _new(name: str, formula: Callable, defaults: dict[str, Any], what: str, check: Callable | None = None) -> None:
    """The window of ``torch.signal.windows``: (M, *, its own numbers, sym=True, dtype, ...)."""

    def window(
        M: int,
        *,
        sym: bool = True,
        dtype: Any = None,
        layout: Any = None,
        device: Any = None,
        requires_grad: bool = False,
        **numbers: Any,  # noqa: N803
    ) -> Any:
        unknown = set(numbers) - set(defaults)
        if unknown:
            raise ArgumentTypeError(f"{name}(): unexpected arguments: {', '.join(sorted(unknown))}")
        if M < 0:
            raise ArgumentValueError(f"{name} requires non-negative window length, got M={M}")
        if layout is not None and layout is not strided:
            raise ArgumentValueError(f"{name} is implemented for strided tensors only, got: {layout}")
        chosen = defaults | numbers
        if check is not None:
            check(chosen, sym)
        kind = dtypes.default() if dtype is None else as_dtype(dtype)
        if not kind.is_floating_point or kind.itemsize < 4:
            raise ArgumentValueError(f"{name} expects float32 or float64 dtypes, got: {kind}")
        return _made(name, lambda i, m: formula(i, m, *chosen.values()), M, not sym, kind, device, requires_grad)

    window.__name__ = window.__qualname__ = name
    window.__doc__ = (
        f"{what} of M points: (M). ``sym=False`` computes one more point and leaves it out.\n\n"
        "    Raises ValueError for a negative length or numbers out of range.\n    "
    )
    function("signal.windows", name=name)(window)


def _positive(label: str, problem: str) -> Callable:
    def check(chosen: dict[str, Any], sym: bool) -> None:
        if chosen[label] <= 0:
            raise ArgumentValueError(f"{problem}, got: {chosen[label]} instead.")

    return check


def _check_kaiser(chosen: dict[str, Any], sym: bool) -> None:
    if chosen["beta"] < 0:
        raise ArgumentValueError(f"beta must be non-negative, got: {chosen['beta']} instead.")


def _check_weights(chosen: dict[str, Any], sym: bool) -> None:
    if not isinstance(chosen["a"], Iterable):
        raise ArgumentTypeError("Coefficients must be a list/tuple")
    if not tuple(chosen["a"]):
        raise ArgumentValueError("Coefficients cannot be empty")


def _check_exponential(chosen: dict[str, Any], sym: bool) -> None:
    if chosen["tau"] <= 0:
        raise ArgumentValueError(f"Tau must be positive, got: {chosen['tau']} instead.")
    if sym and chosen["center"] is not None:
        raise ArgumentValueError("Center must be None for symmetric windows")


_new("bartlett", _bartlett, {}, "Bartlett's window")
_new("blackman", lambda i, m: _cosines(i, m, BLACKMAN), {}, "Blackman's window")
_new("cosine", _cosine, {}, "The sine's first half")
_new("exponential", _exponential, {"center": None, "tau": 1.0}, "exp(-|i - center| / tau)", _check_exponential)
_new("gaussian", _gaussian, {"std": 1.0}, "The normal density's shape", _positive("std", "Standard deviation must be positive"))
_new("general_cosine", lambda i, m, a: _cosines(i, m, tuple(a)), {"a": ()}, "A sum of cosines with weights a", _check_weights)
_new("general_hamming", lambda i, m, a: _cosines(i, m, (a, 1 - a)), {"alpha": 0.54}, "Hamming's window with another weight")
_new("hamming", lambda i, m: _cosines(i, m, (0.54, 0.46)), {}, "Hamming's window")
_new("hann", lambda i, m: _cosines(i, m, (0.5, 0.5)), {}, "Hann's window")
_new("kaiser", _kaiser, {"beta": 12.0}, "Kaiser's window", _check_kaiser)
_new("nuttall", lambda i, m: _cosines(i, m, NUTTALL), {}, "Nuttall's window")
