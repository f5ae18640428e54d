"""Box-Muller on float32 as an eight-lane AVX2 loop rounds it, sixteen uniforms at a time.

Of each sixteen uniforms the first eight give radii and the last eight angles, and the eight cosines come out
before the eight sines. Logarithm, sine and cosine are the single-precision polynomials of Cephes (S. Moshier,
logf and sinf), in fused multiply-adds. A fused step is made here in float64 and rounded; the steps whose
rounding hardly ever reaches the result are left in float32.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .rounding import fused


def f4(value: float | np.floating) -> np.ndarray:
    """A constant in single precision: NumPy takes an array without dimensions faster than a number."""
    return np.array(value, np.float32)


LOG = (7.0376836292e-2, -1.1514610310e-1, 1.1676998740e-1, -1.2420140846e-1, 1.4249322787e-1)
LOG_EARLY = [f4(c) for c in (*LOG, -1.6668057665e-1)]
LOG_LATE = [np.array(np.float32(c), np.float64) for c in (2.0000714765e-1, -2.4999993993e-1, 3.3333331174e-1)]
LN2_LOW, LN2_HIGH = f4(-2.12194440e-4), f4(0.693359375)
SQRT_HALF_BITS, MANTISSA = np.array(0x3F3504F3, np.int32), np.array(23, np.int32)
PI_4_PARTS = [f4(c) for c in (-0.78515625, -2.4187564849853515625e-4, -3.77489497744594108e-8)]
FOUR_OVER_PI, TURN = f4(1.27323954473516), f4(np.float32(2 * np.pi) * np.float32(2.0**-24))
SIN = f4(-1.9515295891e-4), f4(8.3321608736e-3), np.array(np.float32(-1.6666654611e-1), np.float64)
EIGHT = np.dtype((np.void, 32))  # eight lanes move as one
MASK24, UNIT, PART = np.array(2**24 - 1, np.uint32), np.array(2**24, np.int32), f4(2.0**-24)
SIGN, ONE, EVEN = (np.array(bits, np.int32) for bits in (-(2**31), 1, ~1))
SHIFTS = {count: np.array(count, np.int32) for count in (29, 30, 31)}
HALF, WHOLE, MINUS_TWO = f4(0.5), f4(1), f4(-2)
WIDE_HALF, WIDE_ONE = np.array(0.5), np.array(1.0)
COS = f4(2.443315711809948e-5), f4(-1.388731625493765e-3), f4(4.166664568298827e-2)


class BoxMuller:
    """Turns words into normals, with scratch arrays for ``pairs`` pairs at most."""

    def __init__(self, pairs: int, mean: float, std: float) -> None:
        self._single = np.empty((5, pairs), np.float32)
        self._double = np.empty((2, pairs), np.float64)
        self._halves = np.empty(2 * pairs, np.uint32)
        self.mean, self.std = mean, std

    def __call__(self, words: np.ndarray, out: np.ndarray) -> None:
        """Fill ``out``, float32 (16 k,), from the low 24 bits of ``words``, uint32 (16 k,)."""
        pairs = words.size // 2
        self.x, self.y, self.z, self.w, self.v = (row[:pairs] for row in self._single)
        self.wide, self.wide_z = (row[:pairs] for row in self._double)
        halves = self._halves[: words.size].reshape(2, pairs)
        np.copyto(halves.view(EIGHT), words.view(EIGHT).reshape(-1, 2).T)
        np.bitwise_and(halves, MASK24, out=halves)
        first, second = halves.view(np.int32)
        radius, normals = first.view(np.float32), halves.view(np.float32)
        np.subtract(UNIT, first, out=first)  # 1 - u, so that its logarithm is finite
        np.copyto(self.x, first, casting="unsafe")
        np.multiply(self.x, PART, out=self.x)
        self._log()
        np.multiply(self.y, MINUS_TWO, out=radius)
        np.sqrt(radius, out=radius)
        np.copyto(self.x, second, casting="unsafe")
        np.multiply(self.x, TURN, out=self.x)
        sine, cosine = self._sincos()
        np.multiply(sine, radius, out=normals[1])
        np.multiply(cosine, radius, out=normals[0])
        normals = fused(normals, self.std, self.mean)
        np.copyto(out.view(EIGHT).reshape(-1, 2).T, normals.view(EIGHT))

    def _fused(self, y: np.ndarray, c: float | np.ndarray) -> None:
        """y = y z + c, rounded once; z stands in ``wide_z``."""
        np.copyto(self.wide, y)
        np.multiply(self.wide, self.wide_z, out=self.wide)
        np.add(self.wide, c, out=self.wide)
        np.copyto(y, self.wide, casting="same_kind")

    def _log(self) -> None:
        """y = log x: x = 2^e (1 + m), 1 + m in [sqrt(1/2), sqrt 2), and log(1 + m) = m - m^2/2 + m^3 P(m)."""
        m, y, z, e, bits = self.x, self.y, self.z, self.w, self.v.view(np.int32)
        np.subtract(m.view(np.int32), SQRT_HALF_BITS, out=bits)
        np.right_shift(bits, MANTISSA, out=bits)
        np.copyto(e, bits, casting="unsafe")
        np.left_shift(bits, MANTISSA, out=bits)
        np.subtract(m.view(np.int32), bits, out=m.view(np.int32))
        np.subtract(m, WHOLE, out=m)
        np.multiply(m, LOG_EARLY[0], out=y)
        np.add(y, LOG_EARLY[1], out=y)
        for c in LOG_EARLY[2:]:
            np.multiply(y, m, out=y)
            np.add(y, c, out=y)
        np.copyto(self.wide_z, m)
        for late in LOG_LATE:
            self._fused(y, late)
        np.multiply(y, m, out=y)
        np.multiply(m, m, out=z)
        np.copyto(self.wide_z, z)
        np.multiply(e, LN2_LOW, out=self.v)
        self._fused(y, self.v)
        np.multiply(z, HALF, out=z)
        np.subtract(y, z, out=y)
        np.add(y, m, out=y)
        np.multiply(e, LN2_HIGH, out=e)
        np.add(y, e, out=y)

    def _sincos(self) -> tuple[np.ndarray, np.ndarray]:
        """Sine and cosine of x on [0, 2 pi), by the distance from the nearest even multiple of pi/4."""
        x, cosine, z, sine = self.x, self.y, self.z, self.w
        octant, swap = self.v.view(np.int32), self.z.view(np.int32)
        np.multiply(x, FOUR_OVER_PI, out=cosine)
        np.copyto(octant, cosine, casting="unsafe")
        np.add(octant, ONE, out=octant)
        np.bitwise_and(octant, EVEN, out=octant)
        np.copyto(cosine, octant, casting="unsafe")
        for part in PI_4_PARTS:
            np.multiply(cosine, part, out=z)
            np.add(x, z, out=x)
        np.multiply(x, x, out=z)
        self._polynomials(x, z, sine, cosine)
        # In octants 2 and 6 the two change places; then each takes its sign.
        s, c, both = sine.view(np.int32), cosine.view(np.int32), x.view(np.int32)
        np.left_shift(octant, SHIFTS[30], out=swap)
        np.right_shift(swap, SHIFTS[31], out=swap)
        np.bitwise_xor(s, c, out=both)
        np.bitwise_and(both, swap, out=both)
        np.left_shift(octant, SHIFTS[29], out=octant)
        np.bitwise_and(octant, SIGN, out=octant)
        np.bitwise_xor(both, octant, out=both)
        np.bitwise_xor(s, both, out=s)
        np.bitwise_and(swap, SIGN, out=swap)
        np.bitwise_xor(both, swap, out=both)
        np.bitwise_xor(c, both, out=c)
        return sine, cosine

    def _polynomials(self, x: np.ndarray, z: np.ndarray, sine: np.ndarray, cosine: np.ndarray) -> None:
        """Sine and cosine of small x, z = x^2: x + x z S(z) and 1 - z/2 + z^2 C(z)."""
        np.copyto(self.wide_z, z)
        np.multiply(z, COS[0], out=cosine)
        np.add(cosine, COS[1], out=cosine)
        np.multiply(cosine, z, out=cosine)
        np.add(cosine, COS[2], out=cosine)
        np.multiply(cosine, z, out=cosine)
        np.copyto(self.wide, cosine)
        np.subtract(self.wide, WIDE_HALF, out=self.wide)
        np.multiply(self.wide, self.wide_z, out=self.wide)
        np.copyto(cosine, self.wide, casting="same_kind")
        np.add(cosine, WHOLE, out=cosine)
        np.multiply(z, SIN[0], out=sine)
        np.add(sine, SIN[1], out=sine)
        self._fused(sine, SIN[2])
        np.multiply(sine, z, out=sine)
        np.copyto(self.wide_z, x)
        np.copyto(self.wide, sine)
        np.add(self.wide, WIDE_ONE, out=self.wide)
        np.multiply(self.wide, self.wide_z, out=self.wide)
        np.copyto(sine, self.wide, casting="same_kind")


def box_muller_in_double(uniforms: np.ndarray, lib: Any) -> None:
    """The same layout in float64, in place, with ``lib``'s log, sin and cos (PyTorch's is not vectorised)."""
    blocks = uniforms.reshape(-1, 2, 8)
    radius = np.sqrt(-2.0 * lib.log(1.0 - blocks[:, 0]))
    angle = 2.0 * np.pi * blocks[:, 1]
    blocks[:, 0], blocks[:, 1] = radius * lib.cos(angle), radius * lib.sin(angle)
