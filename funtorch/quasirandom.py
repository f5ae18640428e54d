"""``funtorch.quasirandom``: Sobol's sequence, by SciPy."""

from __future__ import annotations

import warnings

from .dtypes import default
from .dtypes import dtype as DType  # noqa: N812
from .errors import ArgumentValueError
from .ops import registry
from .tensor import Tensor

__all__ = ["SobolEngine"]


class SobolEngine:
    """Points of the unit cube that fill it more evenly than random ones.

    Args:
        dimension: of the cube, 1 to 21201.
        scramble: whether to scramble them at random, which keeps them even.
        seed: of the scrambling.

    Differs from PyTorch: scrambled points are other ones. Those without scrambling are PyTorch's.

    Raises:
        ValueError: the dimension is outside of that.

    Example:
        >>> torch.quasirandom.SobolEngine(2).draw(3)
        tensor([[0.0000, 0.0000],
                [0.5000, 0.5000],
                [0.7500, 0.2500]])

    Source: Joe and Kuo, "Constructing Sobol sequences with better two-dimensional projections", 2008.
    """

    MAXBIT = 30
    MAXDIM = 21201

    def __init__(self, dimension: int, scramble: bool = False, seed: int | None = None) -> None:
        if not 1 <= dimension <= self.MAXDIM:
            raise ArgumentValueError(f"Supported range of dimensionality for SobolEngine is [1, {self.MAXDIM}], got {dimension}")
        self.dimension, self.scramble, self.seed = dimension, scramble, seed
        self.reset()

    def reset(self) -> SobolEngine:
        """Start again from the first point, and return the engine."""
        from scipy.stats import qmc

        self._engine = qmc.Sobol(self.dimension, scramble=self.scramble, bits=self.MAXBIT, rng=self.seed)
        self.num_generated = 0
        return self

    def draw(self, n: int = 1, out: Tensor | None = None, dtype: DType | None = None) -> Tensor:
        """The next points.

        Args:
            n: how many.
            out: a Tensor to put them into.
            dtype: the default dtype unless given.

        Returns:
            (n, dimension), in [0, 1).
        """
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)  # SciPy's, of numbers of points that are no power of 2
            points = self._engine.random(n)
        self.num_generated += n
        made = registry.names("torch")["from_numpy"](points).to(default() if dtype is None else dtype)
        return made if out is None else out.resize_(made.shape).copy_(made)

    def draw_base2(self, m: int, out: Tensor | None = None, dtype: DType | None = None) -> Tensor:
        """The next 2 ** m points. Raises ValueError unless those drawn before and these together are a power of 2."""
        n = 2**m
        total = self.num_generated + n
        if total & (total - 1):
            raise ArgumentValueError(
                f"draw_base2(): the points of a Sobol sequence are balanced in powers of 2; {self.num_generated} points were drawn, and "
                f"2**{m} more would make {total}"
            )
        return self.draw(n, out, dtype)

    def fast_forward(self, n: int) -> SobolEngine:
        """Leave out the next n points, and return the engine."""
        self._engine.fast_forward(n)
        self.num_generated += n
        return self

    def __repr__(self) -> str:
        parts = [f"dimension={self.dimension}", *(["scramble=True"] if self.scramble else [])]
        parts += [f"seed={self.seed}"] if self.seed is not None else []
        return f"{type(self).__name__}({', '.join(parts)})"
