"""Values reduced into the places of an array: sum, product, mean, largest and smallest, with gradients of any order.

``at`` is a tuple of index arrays, one for each dimension of the base, of the values' shape.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax

from ..errors import OpError

Array = Any
At = tuple[Any, ...]


def _touched(base: Array, at: At) -> Array:
    return jnp.zeros(base.shape, bool).at[at].set(True)


def _sum(base: Array, at: At, values: Array, include: bool) -> Array:
    start = base if include else jnp.where(_touched(base, at), jnp.zeros_like(base), base)
    return start.at[at].add(values)


def _mean(base: Array, at: At, values: Array, include: bool) -> Array:
    total = _sum(base, at, values, include)
    counts = jnp.zeros(base.shape, np.int64).at[at].add(1)
    counts = jnp.maximum(counts + include, 1).astype(base.dtype)
    return total // counts if base.dtype.kind in "iu" else total / counts


def products(places: Array, values: Array, size: int) -> Array:
    """The product of the values at each of ``size`` places, 1 where there is none.

    A running product over the values in the order of their places: unlike a division by each factor, its derivatives
    are right where factors are zero.
    """
    if not values.size:
        return jnp.ones(size, values.dtype)
    order = jnp.argsort(places)
    places, values = places[order], values[order]
    new = places[1:] != places[:-1]
    edge = jnp.ones(1, bool)

    def join(a: tuple, b: tuple) -> tuple:
        # The inner where keeps an infinite product of one place out of the derivative at the next.
        return a[0] | b[0], jnp.where(b[0], jnp.ones_like(a[1]), a[1]) * b[1]

    _, running = lax.associative_scan(join, (jnp.concatenate([edge, new]), values))
    ends = jnp.where(jnp.concatenate([new, edge]), places, size)
    return jnp.ones(size, values.dtype).at[ends].set(running, mode="drop", unique_indices=False)


def _prod(base: Array, at: At, values: Array, include: bool) -> Array:
    flat = jnp.ravel_multi_index(at, base.shape, mode="clip").reshape(-1) if base.ndim else jnp.zeros(values.size, np.int64)
    made = products(flat, values.reshape(-1), base.size).reshape(base.shape)
    return base * made if include else jnp.where(_touched(base, at), made, base)


def _extreme(base: Array, at: At, values: Array, include: bool, largest: bool) -> Array:
    if not include:
        base = jnp.where(_touched(base, at), _worst(base.dtype, largest), base)
    place = base.at[at]
    best = lax.stop_gradient(place.max(values) if largest else place.min(values))
    # Those that reach the extreme share its derivative evenly.
    ours, theirs = _ties(base, best), _ties(values, best[at])
    count = ours.astype(np.int64).at[at].add(theirs.astype(np.int64))
    if base.dtype.kind not in "fc" and not jnp.issubdtype(base.dtype, jnp.floating):
        return best
    share = jnp.where(count > 0, 1 / jnp.maximum(count, 1), 0).astype(base.dtype)
    moved = _passing(base, ours) * share
    return best + moved.at[at].add(_passing(values, theirs) * share[at])


def _ties(x: Array, best: Array) -> Array:
    return (x == best) | (jnp.isnan(x) & jnp.isnan(best)) if jnp.issubdtype(x.dtype, jnp.floating) else x == best


def _passing(x: Array, winners: Array) -> Array:
    """Zero, with the derivative of ``x`` where it wins."""
    kept = jnp.where(winners & jnp.isfinite(x), x, 0)
    return kept - lax.stop_gradient(kept)


def _worst(dtype: np.dtype, largest: bool) -> Any:
    if dtype.kind == "b":
        return not largest
    if dtype.kind in "iu":
        return np.array(np.iinfo(dtype).min if largest else np.iinfo(dtype).max, dtype)
    return np.array(-np.inf if largest else np.inf).astype(dtype)


def _amax(base: Array, at: At, values: Array, include: bool) -> Array:
    return _extreme(base, at, values, include, largest=True)


def _amin(base: Array, at: At, values: Array, include: bool) -> Array:
    return _extreme(base, at, values, include, largest=False)


REDUCTIONS = {"sum": _sum, "prod": _prod, "mean": _mean, "amax": _amax, "amin": _amin}


def reduced(base: Array, at: At, values: Array, reduce: str, include: bool) -> Array:
    """``base`` with ``values`` reduced into the places ``at``. Raises RuntimeError for a reduction of another name.

    Without ``include`` the base's own value does not take part where a value arrives.
    """
    if reduce not in REDUCTIONS:
        raise OpError(f"reduce argument must be either sum, prod, mean, amax or amin, got {reduce}")
    if base.dtype == bool and reduce in ("sum", "prod", "mean"):
        return REDUCTIONS[reduce](base.astype(np.int64), at, values.astype(np.int64), include) != 0
    return REDUCTIONS[reduce](base, at, values, include)
