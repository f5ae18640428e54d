"""Covariances, correlations, and cross products."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..core.dims import wrap_dim
from ..core.handle import Handle
from ..errors import OpError
from .declare import Array, op
from .operands import is_inexact, kind_of, seen


def _check_weights(input: Any, correction: Any, fweights: Any, aweights: Any) -> None:
    if input.dim() > 2:
        raise OpError(f"cov(): expected input to have two or fewer dimensions but got an input with {input.dim()} dimensions")
    if input.dtype.name == "bool":
        raise OpError("cov(): bool dtype is not supported for input")
    for name, weights, floating in (("fweights", fweights, False), ("aweights", aweights, True)):
        if weights is None:
            continue
        if not isinstance(weights, Handle) or weights.dim() > 1:
            raise OpError(f"cov(): expected {name} to have one or fewer dimensions")
        if weights.is_floating_point() != floating:
            raise OpError(f"cov(): expected {name} to have {'floating point' if floating else 'integral'} dtype")
        if weights.numel() != (input.numel() if input.dim() < 2 else input.shape[1]):
            raise OpError(f"cov(): expected {name} to have the same numel as there are observations in the input")
        values = seen(weights)
        if values is not None and (values < 0).any():
            raise OpError(f"cov(): {name} cannot be negative")


def _covariance(x: Array, correction: Any, fweights: Array | None, aweights: Array | None) -> Array:
    x = x.reshape(1, -1) if x.ndim < 2 else x
    x = x if is_inexact(x) else x.astype(jnp.float32)
    weights = None
    for w in (fweights, aweights):
        if w is not None:
            weights = w.reshape(-1) if weights is None else weights * w.reshape(-1)
    if weights is None:
        total = jnp.asarray(x.shape[1], x.real.dtype)
        centred = x - (x.sum(1, keepdims=True) / total)
        spread = centred
    else:
        total = weights.sum()
        centred = x - (x * weights).sum(1, keepdims=True) / total
        spread = centred * weights
    if aweights is not None and correction != 0:
        heavy = (weights * aweights.reshape(-1)).sum() / total
        degrees = total - correction * heavy
    else:
        degrees = total - correction
    matrix = centred @ spread.T.conj() / jnp.maximum(degrees, 0)
    return matrix.squeeze() if matrix.shape == (1, 1) else matrix


@op(out=False, check=_check_weights)
def cov(input: Array, *, correction=1, fweights: Array | None = None, aweights: Array | None = None):
    """Covariance matrix of variables (rows) over observations (columns).

    input (N, M) or (M,); fweights (M,): how often each observation counts, integers; aweights (M,): their weights, floats.
    z (N, N) or (). Raises RuntimeError for more dimensions and for weights of other types or sizes.
    """
    return _covariance(input, correction, fweights, aweights)


@op(out=False)
def corrcoef(input: Array):
    """Correlation coefficients of variables (rows) over observations (columns). input (N, M) or (M,); z (N, N) or ()."""
    if input.ndim > 2:
        raise OpError(f"corrcoef(): expected input to have two or fewer dimensions but got an input with {input.ndim} dimensions")
    matrix = _covariance(input, 1, None, None)
    if not matrix.ndim:
        return matrix / matrix
    deviation = jnp.sqrt(jnp.diagonal(matrix).real).astype(matrix.dtype)
    ratio = matrix / deviation[:, None] / deviation[None, :]
    if jnp.iscomplexobj(ratio):
        return jnp.clip(ratio.real, -1, 1) + 1j * jnp.clip(ratio.imag, -1, 1)
    return jnp.where(ratio < -1, -1, jnp.where(ratio > 1, 1, ratio))


def _cross(x: Array, y: Array, dim: int) -> Array:
    """The cross product of vectors along a dimension of size 3."""
    axis = dim - x.ndim if dim >= 0 else dim
    x, y = jnp.broadcast_arrays(x, y)
    a, b = jnp.moveaxis(x, axis, 0), jnp.moveaxis(y, axis, 0)
    parts = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    return jnp.stack(parts, axis=axis)


@op()
def cross(input: Array, other: Array, dim=None):
    """Cross product of vectors along a dimension of size 3 (the first such one if not given). input (*), other (*).

    Raises RuntimeError if there's no such dimension, or the shapes or types don't fit.
    """
    if input.ndim != other.ndim:
        raise OpError(f"linalg.cross: inputs must have the same number of dimensions. Got {input.ndim} and {other.ndim}")
    if dim is None:
        found = [d for d in range(input.ndim) if input.shape[d] == 3]
        if not found:
            raise OpError("cross(): no dimension of size 3 in input")
        dim = found[0]
    axis = wrap_dim(dim, input.ndim)
    if input.shape[axis] != 3 or other.shape[axis] != 3:
        raise OpError(
            f"linalg.cross: inputs dimension {axis} must have length 3. Got {input.shape[axis]} and {other.shape[axis]}"
        )
    if input.dtype != other.dtype:
        raise OpError(f"expected scalar type {kind_of(input)} but found {kind_of(other)}")
    return _cross(input, other, axis)
