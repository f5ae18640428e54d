"""Spectra of short pieces of a signal, and the signal from them."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.views import concrete
from ..errors import OpError, OutOfBoundsError
from . import registry
from .declare import Array, function, op
from .matrices import value_as
from .operands import is_inexact, kind_of
from .padding import pad_by


def _told(name: str, x: Any, **options: Any) -> str:
    """The call as its errors show it."""
    shown = []
    for key, value in options.items():
        if key == "window" and value is not None:
            value = f"torch.{kind_of(value)}Tensor{{{list(value.shape)}}}"
        shown.append(f"{key}={int(value) if isinstance(value, bool) else value}")
    tensor = f"torch.{kind_of(x)}Tensor" if name == "stft" else f"CPU{kind_of(x)}Type"
    return f"{name}({tensor}{list(x.shape)}, {', '.join(shown)})"


def _full_window(window: Array | None, length: int, n: int, dtype: Any) -> Array:
    """The window (ones if None), with zeros on both sides up to n elements."""
    window = jnp.ones(length, dtype) if window is None else window
    left = (n - length) // 2
    return jnp.pad(window, (left, n - length - left))


@op(name="_stft", method=False, out=False)
def _stft(input: Array, window: Array | None, n_fft, hop, length, normalized, onesided):
    """Spectra of the pieces: (*, frequencies, pieces)."""
    pieces = 1 + (input.shape[-1] - n_fft) // hop
    real = input.real.dtype
    at = np.arange(pieces)[:, None] * hop + np.arange(n_fft)
    cut = jnp.take(input, at, axis=-1) * _full_window(window, length, n_fft, real)  # (*, pieces, n_fft)
    z = jnp.fft.rfft(cut) if onesided and not jnp.iscomplexobj(cut) else jnp.fft.fft(cut)
    z = z / np.sqrt(n_fft).astype(real) if normalized else z
    return z.swapaxes(-1, -2)


@op(name="_stft_pad", method=False, out=False)
def _stft_pad(input: Array, amount, mode):
    """A signal padded at both ends."""
    if mode == "constant":
        return jnp.pad(input, [(0, 0)] * (input.ndim - 1) + [(amount, amount)])
    signal = input.reshape(*[1] * (3 - input.ndim), *input.shape) if input.ndim < 3 else input
    return pad_by(signal, (amount, amount), mode).reshape(*input.shape[:-1], -1)


def _check_stft(told: str, x: Any, n_fft: int, hop: int, length: int, window: Any) -> None:
    if not is_inexact(x):
        raise OpError(f"{told} : expected a tensor of floating point or complex values")
    if x.ndim not in (1, 2):
        raise OpError(f"{told} : expected a 1D or 2D tensor")
    if not 0 < n_fft <= x.shape[-1]:
        raise OpError(f"{told} : expected 0 < n_fft < {x.shape[-1]}, but got n_fft={n_fft}")
    if hop <= 0:
        raise OpError(f"{told} : expected hop_length > 0, but got hop_length={hop}")
    if not 0 < length <= n_fft:
        raise OpError(f"{told} : expected 0 < win_length <= n_fft, but got win_length={length}")
    if window is not None and tuple(window.shape) != (length,):
        raise OpError(
            f"{told} : expected a 1D window tensor of size equal to win_length={length}, but got window with size {list(window.shape)}"
        )


@function(method=True)
def stft(
    input: Any, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Any = None, center: bool = True,
    pad_mode: str = "reflect", normalized: bool = False, onesided: bool | None = None, return_complex: bool | None = None,
    align_to_window: bool | None = None,
) -> Any:  # fmt: skip
    """Fourier transforms of overlapping pieces of a signal.

    Args:
        input: (T) or (B, T), of floats or complex numbers.
        n_fft: how long the pieces are.
        hop_length: how far apart they begin; n_fft // 4 unless given.
        win_length: how long the window is; n_fft unless given. It is centred in a piece.
        window: (win_length), or ones.
        center: pad the signal by n_fft // 2 at both ends, so that piece t has its middle at t hop_length.
        pad_mode: how: as in `nn.functional.pad`.
        normalized: divide by the root of n_fft.
        onesided: give the first half of the frequencies alone; True unless the signal or the window is complex.
        return_complex: give complex numbers, not pairs of real ones; must be said for real signals.
        align_to_window: must be None or False.

    Returns:
        (B, frequencies, pieces), complex, or (B, frequencies, pieces, 2).

    Raises:
        RuntimeError: options out of range, other ranks or dtypes.
    """
    if align_to_window:
        raise (
            OpError("stft: align_to_window should only be set when center = false.")
            if center
            else OpError("stft: align_to_window=True is not supported")
        )
    hop, length = n_fft // 4 if hop_length is None else hop_length, n_fft if win_length is None else win_length
    x, w = value_as("stft", input, "input"), None if window is None else value_as("stft", window, "window", 5)
    options = {
        "n_fft": n_fft, "hop_length": hop, "win_length": length, "window": w, "normalized": normalized, "onesided": onesided,
        "return_complex": return_complex, "align_to_window": align_to_window,
    }  # fmt: skip
    is_complex = jnp.iscomplexobj(x) or (w is not None and jnp.iscomplexobj(w))
    if return_complex is None and not is_complex:
        raise OpError(
            "stft requires the return_complex parameter be given for real inputs, and will further require that return_complex=True "
            "in a future PyTorch release."
        )
    if center and x.ndim in (1, 2, 3):
        input = _stft_pad(input, n_fft // 2, pad_mode)
        x = value_as("stft", input)
    _check_stft(_told("stft", x, **options), x, n_fft, hop, length, w)
    half = not is_complex if onesided is None else onesided
    if half and is_complex:
        raise OpError("Cannot have onesided output if window or input is complex")
    z = _stft(input, window, n_fft, hop, length, bool(normalized), bool(half))
    return registry.names("torch")["view_as_real"](z) if return_complex is False else z


@op(name="_istft", method=False, out=False)
def _istft(input: Array, window: Array | None, n_fft, hop, length, center, normalized, size, to_complex):
    """The signal, and the least sum of squared windows over it."""
    x = input.swapaxes(-1, -2)  # (*, pieces, frequencies)
    real = x.real.dtype
    w = _full_window(window, length, n_fft, real)
    # A real signal is told by the first half of its spectrum; of a whole one the rest isn't read.
    cut = jnp.fft.ifft(x) if to_complex else jnp.fft.irfft(x[..., : n_fft // 2 + 1], n_fft)
    cut = (cut * np.sqrt(n_fft).astype(real) if normalized else cut) * w
    pieces = cut.shape[-2]
    total = n_fft + hop * (pieces - 1)
    at = (np.arange(pieces)[:, None] * hop + np.arange(n_fft)).reshape(-1)
    signal = jnp.zeros((*cut.shape[:-2], total), cut.dtype).at[..., at].add(cut.reshape(*cut.shape[:-2], -1))
    power = jnp.zeros(total, w.dtype).at[at].add(jnp.tile(w * w, pieces))
    start = n_fft // 2 if center else 0
    end = start + size if size is not None else total - n_fft // 2 if center else total
    signal, power = signal[..., start:end], power[start:end]
    least = jnp.min(jnp.abs(power), initial=jnp.inf)
    signal = signal / power
    missing = end - start - signal.shape[-1]
    return (jnp.pad(signal, [(0, 0)] * (signal.ndim - 1) + [(0, missing)]) if missing > 0 else signal), least


def _check_istft(told: str, x: Any, n_fft: int, hop: int, length: int, window: Any, onesided: bool) -> None:
    if not jnp.iscomplexobj(x):
        raise OpError("istft requires a complex-valued input tensor matching the output from stft with return_complex=True.")
    if x.ndim not in (2, 3):
        if x.ndim < 2:
            raise OutOfBoundsError(f"Dimension out of range (expected to be in range of [{-x.ndim - 1}, {x.ndim}], but got -3)")
        raise OpError(f"{told} : expected a tensor with 3 or 4 dimensions, but got {x.ndim + 1}")
    if not x.size:
        raise OpError(f"{told} : input tensor cannot be empty.")
    wanted = n_fft // 2 + 1 if onesided else n_fft
    if x.shape[-2] != wanted:
        rule = "n_fft / 2 + 1 when onesided=True" if onesided else "n_fft when onesided=False"
        raise OpError(
            f"{told} : expected the frequency dimension (3rd to the last) of the input tensor to match {rule}, but got {x.shape[-2]}"
        )
    if not 0 < hop <= length:
        raise OpError(f"{told} : expected 0 < hop_length <= win_length")
    if not 0 < length <= n_fft:
        raise OpError(f"{told} : expected 0 < win_length <= n_fft")
    if window is not None and tuple(window.shape) != (length,):
        raise OpError(f"{told} : Invalid window shape. window has to be 1D and length of `win_length`")


@function(method=True)
def istft(
    input: Any, n_fft: int, hop_length: int | None = None, win_length: int | None = None, window: Any = None, center: bool = True,
    normalized: bool = False, onesided: bool | None = None, length: int | None = None, return_complex: bool = False,
) -> Any:  # fmt: skip
    """The signal whose `stft` comes nearest to the one given, in the sense of least squares (Griffin and Lim 1984).

    Args:
        input: (frequencies, pieces) or (B, frequencies, pieces), complex.
        n_fft, hop_length, win_length, window, center, normalized: those of the `stft`.
        onesided: whether the first half of the frequencies is given alone; by their number unless said.
        length: of the signal; the rest is cut, or filled with zeros.
        return_complex: give a complex signal.

    Returns:
        (T) or (B, T).

    Raises:
        RuntimeError: options out of range, other ranks or dtypes, or places that no window reaches (in eager code).
    """
    x, w = value_as("istft", input, "input"), None if window is None else value_as("istft", window, "window", 5)
    hop, win = n_fft // 4 if hop_length is None else hop_length, n_fft if win_length is None else win_length
    told = _told(
        "istft", x, n_fft=n_fft, hop_length=hop, win_length=win, window=w, center=center, normalized=normalized, onesided=onesided,
        length=length, return_complex=return_complex,
    )  # fmt: skip
    half = (x.ndim > 1 and x.shape[-2] != n_fft) if onesided is None else onesided
    _check_istft(told, x, n_fft, hop, win, w, half)
    if return_complex and half:
        raise OpError("Cannot have onesided output if window or input is complex")
    if not return_complex and w is not None and jnp.iscomplexobj(w):
        raise OpError("Complex windows are incompatible with return_complex=False")
    signal, least = _istft(input, window, n_fft, hop, win, bool(center), bool(normalized), length, bool(return_complex))
    found = concrete(least)
    if found is not None and found < 1e-11:
        raise OpError(f"{told} window overlap add min: 1")
    return signal
