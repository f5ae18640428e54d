"""The half-normal distribution."""

from __future__ import annotations

import math
from typing import Any

from ..tensor import Tensor
from . import constraints
from ._half import Half
from .normal import Normal
from .transforms import AbsTransform

__all__ = ["HalfNormal"]


class HalfNormal(Half):
    r"""The absolute value of a `Normal` of mean zero. Samples are PyTorch's from the same seed.

    Args:
        scale: the normal's standard deviation (B), positive, a number or a floating-point Tensor.

    Raises:
        ValueError: ``scale`` is not positive.

    >>> torch.distributions.HalfNormal(1.0).mean
    tensor(0.7979)
    """

    arg_constraints = {"scale": constraints.positive}

    def __init__(self, scale: Any, validate_args: bool | None = None) -> None:
        super().__init__(Normal(0, scale, validate_args=False), AbsTransform(), validate_args=validate_args)

    @property
    def mean(self) -> Tensor:
        """scale sqrt(2 / pi)."""
        return self.scale * math.sqrt(2 / math.pi)

    @property
    def variance(self) -> Tensor:
        """scale^2 (1 - 2 / pi)."""
        return self.scale.pow(2) * (1 - 2 / math.pi)
