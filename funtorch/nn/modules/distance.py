"""Layers of distances between vectors."""

from __future__ import annotations

from typing import Any

from .. import functional as F
from ..module import Module

__all__ = ["CosineSimilarity", "PairwiseDistance"]


class PairwiseDistance(Module):
    """||x - y + eps||_p along the last dimension.

    Args:
        p: the order of the norm.
        eps: keeps the gradient finite for equal vectors.
        keepdim: keep the last dimension, with size 1.
    """

    __constants__ = ["norm", "eps", "keepdim"]

    def __init__(self, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False) -> None:
        super().__init__()
        self.norm = p
        self.eps = eps
        self.keepdim = keepdim

    def forward(self, x1: Any, x2: Any) -> Any:
        """x1 (N, D), x2 (N, D); z (N) or (N, 1)."""
        return F.pairwise_distance(x1, x2, self.norm, self.eps, self.keepdim)


class CosineSimilarity(Module):
    """Cosine of the angle between vectors along a dimension.

    Args:
        dim: the dimension.
        eps: the least length.
    """

    __constants__ = ["dim", "eps"]

    def __init__(self, dim: int = 1, eps: float = 1e-8) -> None:
        super().__init__()
        self.dim = dim
        self.eps = eps

    def forward(self, x1: Any, x2: Any) -> Any:
        """x1 (*, D, *), x2 (*, D, *); z without D."""
        return F.cosine_similarity(x1, x2, self.dim, self.eps)
