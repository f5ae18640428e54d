"""PyTorch's CPU generator: draws what PyTorch 2.13 draws on x86 (AVX2), and leaves the same state behind.

Methods take a shape and a NumPy dtype and return a new array. Values are PyTorch's to the last bit, but for
normals in float32 from 16 elements on, which differ in the last bit about once in 40000, and for float64
draws through log, exp, sin, cos or tan of more than 16384 elements, which do so now and then (and those of `exponential`,
`geometric` and `cauchy` in narrower types perhaps once in 10^8).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import MissingError, OpError, describe
from . import categories, integers, samplers
from .mersenne_state import MersenneState, parts
from .normals import by_sixteen, in_turn
from .permutation import FEW, grown, swapped, swapped_in_turn
from .rounding import FLOATS, functions, fused, narrow
from .uniforms import law

Shape = tuple[int, ...]
REAL = {np.dtype(np.complex64): np.dtype(np.float32), np.dtype(np.complex128): np.dtype(np.float64)}
COUNTS = FLOATS | {np.dtype(kind) for kind in (np.uint8, np.int8, np.int16, np.int32, np.int64)}
RANDPERM_64 = (2**32 - 1) // 20


class MersenneTwister(MersenneState):
    """The CPU generator: state and seeding from the base class, draws here.

    >>> MersenneTwister(0).uniform((2,)).round(4)
    array([0.4963, 0.7682], dtype=float32)
    """

    __slots__ = ()

    def uniform(self, shape: Shape, dtype: Any = np.float32, low: float = 0.0, high: float = 1.0) -> np.ndarray:
        """Uniform on [low, high): ``rand``, ``uniform_``. A complex dtype draws both parts.

        Raises:
            NotImplementedError: ``dtype`` is neither floating nor complex.
            RuntimeError: low > high, or a bound or their distance is more than ``dtype`` holds.
        """
        dtype = np.dtype(dtype)
        if dtype.kind == "c":
            return self.uniform((*shape, 2), REAL[dtype], low, high).view(dtype)[..., 0]
        kind, fill = law(dtype, low, high)
        draw = self.bits53 if kind == np.float64 else self.bits24
        out = np.empty(math.prod(shape), dtype)
        for part in parts(out):
            fill(draw(part.size), part)
        return out.reshape(shape)

    def normal(
        self,
        shape: Shape,
        dtype: Any = np.float32,
        mean: float | np.ndarray = 0.0,
        std: float | np.ndarray = 1.0,
        contiguous: bool = True,
    ) -> np.ndarray:
        """Normal with ``mean`` and ``std``: ``randn``, ``normal_``, and with arrays ``torch.normal``.

        Args:
            shape: of the result; ``mean`` and ``std`` broadcast to it where they are arrays.
            dtype: floating or complex; of complex numbers each part has the variance std^2 / 2.
            contiguous: whether the tensor that ``normal_`` fills is so; if not, PyTorch draws one at a time.

        Raises:
            NotImplementedError: ``dtype`` is neither floating nor complex.
            RuntimeError: std < 0.
        """
        dtype = np.dtype(dtype)
        _check_std(std)
        if isinstance(mean, np.ndarray) or isinstance(std, np.ndarray):
            return self._normal_of_arrays(shape, dtype, mean, std)
        if dtype in REAL:
            part = self.normal((*shape, 2), REAL[dtype], mean, std / math.sqrt(2), contiguous)
            return part.view(dtype)[..., 0]
        _check_floating("normal_kernel_cpu", dtype)
        n = math.prod(shape)
        if n < 16 or not contiguous:
            return narrow(fused(in_turn(self, n), std, mean), dtype).reshape(shape)
        return by_sixteen(self, n, dtype, mean, std).reshape(shape)

    def log_normal(self, shape: Shape, dtype: Any = np.float32, mean: float = 1.0, std: float = 2.0) -> np.ndarray:
        """exp of a normal: ``log_normal_``. Raises RuntimeError where std <= 0."""
        dtype = np.dtype(dtype)
        if not std > 0:
            raise OpError(f"log_normal_ expects std > 0.0, but found std={std}")
        _check_floating("log_normal_cpu", dtype)
        n = math.prod(shape)
        values = functions(n).exp(fused(in_turn(self, n), std, mean))
        return narrow(values, dtype).reshape(shape)

    def exponential(self, shape: Shape, dtype: Any = np.float32, rate: float = 1.0) -> np.ndarray:
        """-log(1 - u) / rate: ``exponential_``. Raises RuntimeError where rate <= 0 or on whole numbers."""
        dtype = np.dtype(dtype)
        if not rate > 0:
            raise OpError(f"exponential_ expects lambda > 0.0, but found lambda={rate}")
        _check_continuous("Exponential", dtype)
        return self._from_doubles(shape, dtype, lambda u, lib: -1.0 / rate * lib.log1p(-u))

    def geometric(self, shape: Shape, dtype: Any = np.float32, p: float = 0.5) -> np.ndarray:
        """Trials up to the first success: ``geometric_``. Raises RuntimeError unless 0 < p < 1, NotImplementedError for bool and complex."""
        if not 0 < p < 1:
            raise OpError(f"geometric_ expects p to be in (0, 1), but got p={p}")
        dtype, scale = np.dtype(dtype), math.log1p(-p)
        if dtype not in COUNTS:
            raise MissingError(f'"geometric_cpu" not implemented for {dtype}')
        return self._from_doubles(shape, dtype, lambda u, lib: np.ceil(lib.log(u) / scale))

    def cauchy(self, shape: Shape, dtype: Any = np.float32, median: float = 0.0, sigma: float = 1.0) -> np.ndarray:
        """median + sigma tan(pi (u - 1/2)): ``cauchy_``. Raises RuntimeError where sigma <= 0."""
        dtype = np.dtype(dtype)
        if not sigma > 0:
            raise OpError(f"cauchy_ expects sigma > 0.0, but found sigma={sigma}")
        _check_continuous("Cauchy", dtype)
        return self._from_doubles(shape, dtype, lambda u, lib: fused(lib.tan(math.pi * (u - 0.5)), sigma, median))

    def bernoulli(self, shape: Shape, p: float | np.ndarray = 0.5, dtype: Any = np.float32) -> np.ndarray:
        """One with probability ``p``, else zero: ``bernoulli_``, ``torch.bernoulli``, and dropout's masks.

        Args:
            p: a number or float64 array (53 random bits are compared with it), or another floating array
                (24 bits), which broadcasts to ``shape``.

        Raises:
            RuntimeError: a ``p`` is outside [0, 1].
            NotImplementedError: ``dtype`` is complex or a wide unsigned one, or ``p`` holds whole numbers.
        """
        dtype = np.dtype(dtype)
        if dtype not in COUNTS and dtype.kind != "b":
            raise MissingError(f'"bernoulli_scalar_cpu_" not implemented for {dtype}')
        if isinstance(p, np.ndarray):
            return self._bernoulli_of_array(shape, p, dtype)
        if not 0 <= p <= 1:
            raise OpError(f"bernoulli_ expects p to be in [0, 1], but got p={p}")
        out = np.empty(math.prod(shape), dtype)
        limit = np.int64(math.ceil(p * 2.0**53))
        for part in parts(out):
            part[:] = (self.words64(part.size).view(np.int64) & np.int64(2**53 - 1)) < limit
        return out.reshape(shape)

    def randint(self, low: int, high: int, shape: Shape, dtype: Any = np.int64) -> np.ndarray:
        """Whole numbers of [low, high): ``randint``, ``random_(low, high)``.

        Raises:
            RuntimeError: low >= high, or ``dtype`` can't hold them.
        """
        return self.random(shape, dtype, low, high)

    def random(self, shape: Shape, dtype: Any = np.int64, low: int | None = None, high: int | None = None) -> np.ndarray:
        """``random_``: of [low, high), of [low, the dtype's greatest], or with neither of [0, greatest].

        Raises:
            RuntimeError: low >= high, or ``dtype`` can't hold them.
            NotImplementedError: ``dtype`` is not real.
        """
        dtype = np.dtype(dtype)
        draw = integers.plan(dtype, low, high)
        out = np.empty(math.prod(shape), dtype)
        for part in parts(out):
            part[:] = draw(self, part.size)
        return out.reshape(shape)

    def randperm(self, n: int, dtype: Any = np.int64) -> np.ndarray:
        """A shuffle of 0 ... n - 1: ``randperm``, DataLoader's order. Raises RuntimeError where n < 0."""
        if n < 0:
            raise OpError(f"randperm: n must be non-negative, got {n}")
        dtype = np.dtype(dtype)
        integers.check_counts(dtype, n)
        if n >= RANDPERM_64:
            targets = self.words64(n) % np.arange(1, n + 1, dtype=np.uint64)
            return narrow(grown(targets, n), dtype)
        if n <= FEW:
            return np.array(swapped_in_turn(self.words(max(n - 1, 0)).tolist(), n), dtype)
        left = np.arange(n, 1, -1)
        return narrow(swapped(self.words(n - 1) % left + np.arange(n - 1), n), dtype)

    def multinomial(self, weights: np.ndarray, n: int, replacement: bool = False, by_columns: bool = False) -> np.ndarray:
        """``n`` categories of each row: int64 (n,) or (rows, n); see :func:`categories.multinomial`."""
        return categories.multinomial(self, weights, n, replacement, by_columns)

    def poisson(self, rate: np.ndarray) -> np.ndarray:
        """Counts with mean ``rate``, in its shape and dtype; see :func:`samplers.poisson`."""
        return samplers.poisson(self, rate)

    def binomial(self, count: np.ndarray, prob: np.ndarray) -> np.ndarray:
        """Successes in ``count`` trials, in its dtype; see :func:`samplers.binomial`."""
        return samplers.binomial(self, count, prob)

    def standard_gamma(self, alpha: np.ndarray) -> np.ndarray:
        """Gamma of shape ``alpha`` and scale one, in its dtype; see :func:`samplers.standard_gamma`."""
        return samplers.standard_gamma(self, alpha)

    def dirichlet(self, alpha: np.ndarray) -> np.ndarray:
        """Shares along the last axis, in the shape and dtype of ``alpha``; see :func:`samplers.dirichlet`."""
        return samplers.dirichlet(self, alpha)

    def _from_doubles(self, shape: Shape, dtype: np.dtype, formula: Callable[..., np.ndarray]) -> np.ndarray:
        """``formula`` of 53-bit uniforms, one for each element."""
        out = np.empty(math.prod(shape), dtype)
        lib = functions(out.size) if dtype == np.float64 else np  # the last bit of a double is none of a narrower type's
        with np.errstate(divide="ignore"):
            for part in parts(out):
                part[:] = narrow(formula(self.doubles(part.size), lib), dtype)
        return out.reshape(shape)

    def _normal_of_arrays(self, shape: Shape, dtype: np.dtype, mean: Any, std: Any) -> np.ndarray:
        """std times a standard normal, plus mean: each step is rounded to ``dtype``."""
        if not isinstance(std, np.ndarray):
            return (self.normal(shape, dtype, 0.0, std) + mean).astype(dtype, copy=False)
        values = self.normal(shape, dtype)
        return ((values * std).astype(dtype, copy=False) + np.asarray(mean, dtype)).astype(dtype, copy=False)

    def _bernoulli_of_array(self, shape: Shape, p: np.ndarray, dtype: np.dtype) -> np.ndarray:
        if p.dtype not in FLOATS:
            raise MissingError(f'"bernoulli_tensor_cpu_p_" not implemented for {p.dtype}')
        if p.size and not bool(np.all((p >= 0) & (p <= 1))):
            raise OpError(f"bernoulli expects every p to be in [0, 1], but {describe(p)} has others")
        kind = np.float64 if p.dtype == np.float64 else np.float32
        u = np.empty(math.prod(shape), kind)
        for part in parts(u):
            self.fill_uniform(part)
        return (u.reshape(shape) < p.astype(kind, copy=False)).astype(dtype)


def _check_floating(name: str, dtype: np.dtype) -> None:
    if dtype not in FLOATS:
        raise MissingError(f'"{name}" not implemented for {dtype}')


def _check_continuous(name: str, dtype: np.dtype) -> None:
    if dtype not in FLOATS:
        raise OpError(
            f"{name} distribution is a continuous probability distribution. dtype must be a floating point but you specified {dtype}"
        )


def _check_std(std: float | np.ndarray) -> None:
    if isinstance(std, np.ndarray):
        if std.size and not bool(np.all(std >= 0)):
            raise OpError("normal expects all elements of std >= 0.0")
    elif not std >= 0:
        raise OpError(f"normal expects std >= 0.0, but found std {std}")
