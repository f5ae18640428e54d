"""A weight as a length and a direction."""

from __future__ import annotations

from typing import Any

from . import registry
from .declare import function


@function()
def norm_except_dim(v: Any, pow: int = 2, dim: int = 0) -> Any:
    """Norms over all dimensions but one, which are kept with size 1; over all for dim -1. v (*); z () or (1, .., K, .., 1)."""
    vector_norm = registry.names("linalg")["vector_norm"]
    if dim == -1:
        return vector_norm(v, pow)
    others = tuple(d for d in range(v.dim()) if d != dim)
    # A vector is its own norms' absolute value.
    return vector_norm(v, pow, others, keepdim=True) if others else v.abs()


@function(name="_weight_norm")
def _weight_norm(v: Any, g: Any, dim: int = 0) -> Any:
    """v g / |v|, with norms over all dimensions but one. v (*), g as `norm_except_dim` gives; z (*)."""
    return v * (g / norm_except_dim(v, 2, dim))
