"""Transforms of parts of a value, side by side."""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import funtorch as torch

from ...errors import MissingError
from ...tensor import Tensor
from .. import constraints
from .._asserted import AssertedError
from ..utils import _sum_rightmost
from .transform import Transform

__all__ = ["CatTransform", "StackTransform"]


class _Several(Transform):
    """What transforms of parts along ``dim`` share: how a value is taken apart and put together."""

    transforms: list[Transform]
    dim: int

    def _take(self, tseq: Sequence[Transform], cache_size: int) -> None:
        if not all(isinstance(t, Transform) for t in tseq):
            raise AssertedError(f"{type(self).__name__}(): expected a sequence of Transforms, got {tseq!r}")
        self.transforms = [t.with_cache(cache_size) for t in tseq] if cache_size else list(tseq)

    def _apart(self, value: Tensor) -> Sequence[Tensor]:
        raise MissingError(f"{type(self).__name__} does not say how to take values apart")

    def _together(self, parts: Sequence[Tensor], dim: int) -> Tensor:
        raise MissingError(f"{type(self).__name__} does not say how to put values together")

    def _each(self, f: Callable, *values: Tensor) -> list[Tensor]:
        for value in values:
            if not -value.dim() <= self.dim < value.dim():
                raise AssertedError(f"{type(self).__name__}: dim={self.dim} is not in a value of shape {list(value.shape)}")
        return [f(t, *parts) for t, *parts in zip(self.transforms, *map(self._apart, values), strict=True)]

    def _call(self, x: Tensor) -> Tensor:
        return self._together(self._each(lambda t, part: t(part), x), self.dim)

    def _inverse(self, y: Tensor) -> Tensor:
        return self._together(self._each(lambda t, part: t.inv(part), y), self.dim)

    @property
    def bijective(self) -> bool:  # type: ignore[override]
        """Whether all parts are."""
        return all(t.bijective for t in self.transforms)


class CatTransform(_Several):
    """Transform ``tseq[i]`` of the next ``lengths[i]`` entries along ``dim``.

    Args:
        tseq: the transforms.
        dim: the dimension.
        lengths: how many entries each takes; one each if None.
        cache_size: see `Transform`.

    >>> d = torch.distributions
    >>> d.CatTransform([d.ExpTransform(), d.AbsTransform()], lengths=[1, 2])(torch.tensor([0.0, -2.0, -3.0]))
    tensor([1., 2., 3.])
    """

    def __init__(
        self, tseq: Sequence[Transform], dim: int = 0, lengths: Sequence[int] | None = None, cache_size: int = 0
    ) -> None:
        self._take(tseq, cache_size)
        super().__init__(cache_size=cache_size)
        self.lengths = [1] * len(self.transforms) if lengths is None else list(lengths)
        if len(self.lengths) != len(self.transforms):
            raise AssertedError(f"CatTransform(): {len(self.transforms)} transforms need as many lengths, got {self.lengths}")
        self.dim = dim

    @property
    def event_dim(self) -> int:
        """The most dimensions of an event that a part has."""
        return max(t.event_dim for t in self.transforms)

    @property
    def length(self) -> int:
        """How many entries there are."""
        return sum(self.lengths)

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else CatTransform(self.transforms, self.dim, self.lengths, cache_size)

    def _apart(self, value: Tensor) -> Sequence[Tensor]:
        if value.shape[self.dim] != self.length:
            raise AssertedError(
                f"CatTransform: a value of shape {list(value.shape)} must have {self.length} entries along {self.dim}"
            )
        return value.split(self.lengths, self.dim)

    def _together(self, parts: Sequence[Tensor], dim: int) -> Tensor:
        return torch.cat(list(parts), dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        def widest(t: Transform, a: Tensor, b: Tensor) -> Tensor:
            return _sum_rightmost(t.log_abs_det_jacobian(a, b), self.event_dim - t.event_dim)

        terms = self._each(widest, x, y)
        dim = self.dim - x.dim() if self.dim >= 0 else self.dim
        dim += self.event_dim
        return torch.cat(terms, dim) if dim < 0 else reduce(operator.add, terms)

    @constraints.dependent_property
    def domain(self) -> Any:
        """The parts' side by side."""
        return constraints.cat([t.domain for t in self.transforms], self.dim, self.lengths)

    @constraints.dependent_property
    def codomain(self) -> Any:
        """The parts' side by side."""
        return constraints.cat([t.codomain for t in self.transforms], self.dim, self.lengths)


class StackTransform(_Several):
    """Transform ``tseq[i]`` of entry i along ``dim``.

    Args:
        tseq: the transforms.
        dim: the dimension.
        cache_size: see `Transform`.

    >>> d = torch.distributions
    >>> d.StackTransform([d.ExpTransform(), d.AbsTransform()])(torch.tensor([0.0, -2.0]))
    tensor([1., 2.])
    """

    def __init__(self, tseq: Sequence[Transform], dim: int = 0, cache_size: int = 0) -> None:
        self._take(tseq, cache_size)
        super().__init__(cache_size=cache_size)
        self.dim = dim

    def with_cache(self, cache_size: int = 1) -> Transform:
        return self if self._cache_size == cache_size else StackTransform(self.transforms, self.dim, cache_size)

    def _apart(self, value: Tensor) -> Sequence[Tensor]:
        if value.shape[self.dim] != len(self.transforms):
            raise AssertedError(
                f"StackTransform: a value of shape {list(value.shape)} must have {len(self.transforms)} entries along {self.dim}"
            )
        return value.unbind(self.dim)

    def _together(self, parts: Sequence[Tensor], dim: int) -> Tensor:
        return torch.stack(list(parts), dim)

    def log_abs_det_jacobian(self, x: Tensor, y: Tensor) -> Tensor:
        return torch.stack(self._each(lambda t, a, b: t.log_abs_det_jacobian(a, b), x, y), self.dim)

    @constraints.dependent_property
    def domain(self) -> Any:
        """The parts' side by side."""
        return constraints.stack([t.domain for t in self.transforms], self.dim)

    @constraints.dependent_property
    def codomain(self) -> Any:
        """The parts' side by side."""
        return constraints.stack([t.codomain for t in self.transforms], self.dim)
