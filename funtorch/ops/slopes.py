"""Estimates of a function's slopes from its samples, to second order."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..core.dims import wrap_dims
from ..core.handle import Handle
from ..errors import OpError
from .declare import Array, function, op
from .operands import in_float32, is_inexact, shown_as


def _slopes(x: Array, gaps: Array, dim: int, edge_order: int) -> Array:
    """Slopes along a dimension for samples that are ``gaps`` (n - 1,) apart."""
    kind = jnp.promote_types(x.dtype, gaps.dtype)
    kind = kind if jnp.issubdtype(kind, jnp.inexact) else jnp.dtype(jnp.float32)
    return in_float32(_slopes_of)(x.astype(kind), gaps.astype(kind), dim=dim, edge_order=edge_order)


def _slopes_of(x: Array, gaps: Array, dim: int, edge_order: int) -> Array:
    f = jnp.moveaxis(x, dim, -1)
    left, right = gaps[:-1], gaps[1:]
    both = left + right
    inner = (
        -right / (left * both) * f[..., :-2] + (right - left) / (left * right) * f[..., 1:-1] + left / (right * both) * f[..., 2:]
    )
    rise = f[..., 1:] - f[..., :-1]
    first, last = rise[..., :1] / gaps[:1], rise[..., -1:] / gaps[-1:]
    if edge_order == 2:
        # The parabola through the three samples at the edge.
        bend = (rise[..., 1:] / right - rise[..., :-1] / left) / both
        first = first - bend[..., :1] * gaps[:1]
        last = last + bend[..., -1:] * gaps[-1:]
    return jnp.moveaxis(jnp.concatenate([first, inner, last], axis=-1), -1, dim)


@shown_as("gradient")
@op(name="_slopes_evenly", method=False, out=False)
def _slopes_evenly(input: Array, spacing, dim, edge_order):
    """Slopes along a dimension for evenly spaced samples."""
    kind = input.real.dtype if is_inexact(input) else jnp.float32
    return _slopes(input, jnp.full(input.shape[dim] - 1, spacing, kind), dim, edge_order)


@shown_as("gradient")
@op(name="_slopes_at", method=False, out=False)
def _slopes_at(input: Array, places: Array, dim, edge_order):
    """Slopes along a dimension for samples at given places (n,)."""
    return _slopes(input, places[1:] - places[:-1], dim, edge_order)


@function()
def gradient(input: Any, *, spacing: Any = 1, dim: Any = None, edge_order: int = 1) -> tuple:
    """Slopes of sampled functions along each dimension, by central differences inside and one-sided ones at the edges.

    input (*); spacing: a number, one for each dimension, or Tensors (n,) of the samples' places; dim: one, several or all;
    edge_order: 1 or 2. Gives a tuple of Tensors (*), one for each dimension. Raises RuntimeError for a dimension with
    fewer than edge_order + 1 samples, or spacing of another length.
    """
    dims = wrap_dims(dim, input.dim())
    spacing = 1 if spacing is None else spacing
    if edge_order not in (1, 2):
        raise OpError("torch.gradient only supports edge_order=1 and edge_order=2.")
    for d in dims:
        if input.shape[d] < edge_order + 1:
            raise OpError("torch.gradient expected each dimension size to be at least edge_order+1")
    listed = list(spacing) if isinstance(spacing, (tuple, list)) else [spacing] * len(dims)
    if len(listed) != len(dims):
        raise OpError(
            f"torch.gradient expected spacing to be unspecified, a scalar or a list of length {len(dims)}, but got a list of "
            f"length {len(listed)}"
        )
    found = []
    for d, gap in zip(dims, listed, strict=True):
        if isinstance(gap, Handle) and gap.dim() == 1:
            if gap.numel() != input.shape[d]:
                raise OpError(
                    f"torch.gradient expected each element of spacing to have the length of its dimension: got {gap.numel()} "
                    f"for {input.shape[d]}"
                )
            found.append(_slopes_at(input, gap, d, edge_order))
        else:
            found.append(_slopes_evenly(input, gap, d, edge_order))
    return tuple(found)
