"""The law of Lewandowski, Kurowicka and Joe of correlation matrices, for their Cholesky factors."""

from __future__ import annotations

import math
from typing import Any

import funtorch as torch

from ..errors import ArgumentValueError
from ..size import Size
from ..tensor import Tensor
from . import constraints
from .beta import Beta
from .distribution import Distribution
from .utils import broadcast_all

__all__ = ["LKJCholesky"]


class LKJCholesky(Distribution):
    r"""Cholesky factors L of correlation matrices whose density is :math:`\propto \det(L L^T)^{\eta - 1}` (LKJ, 2009).

    Samples are made by the onion method. Differs from PyTorch: its rows from the third on are longer left of the diagonal than
    this density says; here they follow it. For n = 2 the samples are PyTorch's from the same seed.

    Args:
        dim: the matrices' size n, at least 2.
        concentration: :math:`\eta > 0` (B): 1 is uniform over correlation matrices, more is nearer to the identity.

    Raises:
        ValueError: ``dim`` is below 2, or ``concentration`` is not positive.

    >>> torch.distributions.LKJCholesky(2, 1.0).log_prob(torch.eye(2))
    tensor(-0.6931)
    """

    arg_constraints = {"concentration": constraints.positive}
    support = constraints.corr_cholesky
    dim: int
    _expanded = {"concentration": 0}
    _kept = ("dim",)

    def __init__(self, dim: int, concentration: Any = 1.0, validate_args: bool | None = None) -> None:
        if dim < 2:
            raise ArgumentValueError(f"Expected dim to be an integer greater than or equal to 2. Found dim={dim}.")
        self.dim = dim
        (self.concentration,) = broadcast_all(concentration)
        super().__init__(self.concentration.shape, Size((dim, dim)), validate_args=validate_args)
        self._beta = self._radii()

    def _radii(self) -> Beta:
        """The laws of the squared length of each row, less its last entry: (B, n)."""
        marginal = self.concentration + 0.5 * (self.dim - 2)
        steps = torch.arange(self.dim - 1, dtype=self.concentration.dtype, device=self.concentration.device)
        steps = torch.cat([steps.new_zeros((1,)), steps])
        return Beta(0.5 * (steps + 1), marginal.unsqueeze(-1) - 0.5 * steps)

    def expand(self, batch_shape: Any, _instance: Any = None) -> Any:
        new = super().expand(batch_shape, _instance)
        new._beta = self._beta.expand(Size((*batch_shape, self.dim)))
        return new

    def sample(self, sample_shape: Any = ()) -> Tensor:
        with torch.no_grad():
            lengths = self._beta.sample(sample_shape).unsqueeze(-1)  # (S, B, n, 1), squared
            shape, dtype = self._extended_shape(sample_shape), lengths.dtype
            directions = torch.randn(shape, dtype=dtype, device=lengths.device).tril(-1)
            directions = directions / directions.norm(dim=-1, keepdim=True)
            first = torch.arange(self.dim, device=lengths.device).unsqueeze(-1) == 0  # the first row is all on the diagonal
            w = lengths.sqrt() * torch.where(first, 0.0, directions)
            last = (1 - (w**2).sum(-1)).clamp(min=torch.finfo(dtype).tiny).sqrt()
            return w + torch.diag_embed(last)

    def log_prob(self, value: Tensor) -> Tensor:
        self._checked(value)
        diagonal = value.diagonal(dim1=-1, dim2=-2)[..., 1:]
        steps = torch.arange(2, self.dim + 1, dtype=self.concentration.dtype, device=self.concentration.device)
        order = 2 * (self.concentration - 1).unsqueeze(-1) + self.dim - steps
        below = self.dim - 1
        alpha = self.concentration + 0.5 * below
        normalizer = 0.5 * below * math.log(math.pi) + torch.mvlgamma(alpha - 0.5, below) - torch.lgamma(alpha) * below
        return (order * diagonal.log()).sum(-1) - normalizer
