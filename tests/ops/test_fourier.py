"""Fourier transforms, spectra of pieces of signals and windows against torch."""

import numpy as np
import pytest

REAL = np.random.default_rng(0).normal(size=(3, 4, 6))
COMPLEX = REAL + 1j * np.random.default_rng(1).normal(size=REAL.shape)
ONE = [("fft", COMPLEX), ("fft", REAL), ("ifft", COMPLEX), ("rfft", REAL), ("irfft", COMPLEX), ("hfft", COMPLEX), ("ihfft", REAL)]


@pytest.mark.parametrize(("name", "x"), ONE)
@pytest.mark.parametrize("options", [{}, {"n": 5, "norm": "ortho"}, {"n": 8, "dim": 1, "norm": "forward"}], ids=str)
def test_along_one_dimension(agree, name: str, x: np.ndarray, options: dict) -> None:
    agree(lambda t, x: getattr(t.fft, name)(x, **options), x)


@pytest.mark.parametrize(("name", "x"), ONE)
def test_along_several_dimensions(agree, name: str, x: np.ndarray) -> None:
    agree(lambda t, x: getattr(t.fft, f"{name}2")(x, s=(3, 7), norm="ortho"), x)
    agree(lambda t, x: getattr(t.fft, f"{name}n")(x, dim=(0, 2)), x)


def test_shifts_and_frequencies(agree) -> None:
    agree(lambda t, x: (t.fft.fftshift(x), t.fft.ifftshift(x, dim=(0, 2))), REAL)
    agree(lambda t, x: (t.fft.fftfreq(5, 0.5), t.fft.rfftfreq(4), t.fft.fftfreq(0)), REAL)


@pytest.mark.parametrize(
    "call",
    [
        lambda t, x: t.fft.fft(x, n=0), lambda t, x: t.fft.fft(x, norm="unit"), lambda t, x: t.fft.fft(x, dim=3), lambda t, x: t.fft.fft(x.half()),
        lambda t, x: t.fft.rfft(x + 0j), lambda t, x: t.fft.fftn(x, s=(2,), dim=(0, 1)), lambda t, x: t.fft.fftn(x, s=(2, 2, 2, 2)),
        lambda t, x: t.fft.fftn(x, dim=(0, 0)), lambda t, x: t.fft.rfftn(x, dim=()), lambda t, x: t.fft.irfft(x[..., :1]),
    ],
)  # fmt: skip
def test_errors(refuse, call) -> None:
    refuse(call, REAL)


SIGNAL = np.random.default_rng(2).normal(size=(2, 50))
SPECTRA = [
    {}, {"hop_length": 3, "window": True, "normalized": True}, {"center": False, "onesided": False}, {"win_length": 6, "pad_mode": "constant", "window": True},
]  # fmt: skip


@pytest.mark.parametrize("options", SPECTRA, ids=str)
def test_stft_and_back(agree, options: dict) -> None:
    def window(t):
        return {"window": t.hann_window(options.get("win_length", 8), dtype=t.float64) + 0.1} if "window" in options else {}

    def spectrum(t, x):
        return t.stft(x, 8, return_complex=True, **options | window(t))

    def signal(t, x):
        kept = {k: v for k, v in options.items() if k != "pad_mode"}
        return t.istft(spectrum(t, x), 8, length=44, **kept | window(t))

    agree(spectrum, SIGNAL)
    agree(signal, SIGNAL)


def test_stft_errors(refuse) -> None:
    for options in ({}, {"hop_length": 0}, {"win_length": 20}, {"n_fft": 0}):
        given = {"n_fft": 16, "return_complex": True if options else None} | options
        refuse(lambda t, x, given=given: t.stft(x.float(), **given), SIGNAL)
    refuse(lambda t, x: t.istft(t.complex(x, x).to(t.complex64), 16), SIGNAL)


def test_windows(agree) -> None:
    agree(
        lambda t, x: [
            getattr(t, f"{n}_window")(m, p, dtype=t.float64)
            for n in ("hann", "hamming", "blackman", "bartlett", "kaiser")
            for m in (0, 1, 5)
            for p in (True, False)
        ],
        SIGNAL,
    )
    agree(
        lambda t, x: (t.hamming_window(5, False, 0.5, 0.4, dtype=t.float64), t.kaiser_window(5, True, 3.0, dtype=t.float64)),
        SIGNAL,
    )
    numbers = {"general_cosine": {"a": [0.4, 0.6]}, "gaussian": {"std": 2.0}, "exponential": {"tau": 2.0}}
    names = (
        "bartlett",
        "blackman",
        "cosine",
        "exponential",
        "gaussian",
        "general_cosine",
        "general_hamming",
        "hamming",
        "hann",
        "kaiser",
        "nuttall",
    )
    agree(
        lambda t, x: [
            getattr(t.signal.windows, n)(6, sym=s, dtype=t.float64, **numbers.get(n, {})) for n in names for s in (True, False)
        ],
        SIGNAL,
    )
    agree(lambda t, x: t.hann_window(3, dtype=t.float64), SIGNAL)


def test_window_errors(refuse) -> None:
    refuse(lambda t, x: t.hann_window(-1), SIGNAL)
    refuse(lambda t, x: t.signal.windows.gaussian(5, std=-1.0), SIGNAL)
