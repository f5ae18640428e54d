"""Kullback-Leibler divergences."""

from . import between_families, multivariate, one_family  # noqa: F401  (they register theirs)
from .registry import _KL_MEMOIZE, _KL_REGISTRY, kl_divergence, register_kl  # noqa: F401

__all__ = ["register_kl", "kl_divergence"]
