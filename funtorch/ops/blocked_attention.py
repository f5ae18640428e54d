"""Attention on the CPU block by block: the scores of some heads at a time, which stay in the cores' caches on their way to the result.

All at once they are written to memory and read from there several times, which takes longer than the products.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ..core.op import vjp_function
from ..core.strides import inverse
from .fused_attention import spreads

Array = Any

BLOCK = 1 << 21  # bytes of scores that are made at a time: what the caches of two cores hold


def compiled(formula: Callable, present: tuple, *fixed: Any) -> tuple[Callable, Callable]:
    """What XLA compiles for the op, and what gives that for its gradients of the marked inputs (None: nothing of our own)."""

    def whole(*arrays: Array) -> Array:
        given = iter(arrays)
        return formula(*[next(given) if count is None else None for count in present], *fixed[:-1])

    masked, order = present[3] is None, fixed[-1]

    def forward(*arrays: Array) -> Array:
        result = by_blocks(whole, arrays, masked)
        return result.transpose(order) if order else result

    def gradients(mask: tuple[bool, ...], *args: Array) -> tuple[Array, ...]:
        *arrays, dot = args
        dot = dot.transpose(inverse(order)) if order else dot
        found: tuple[Array, ...] = by_blocks(vjp_function(whole, mask), (*arrays, dot), masked)
        return found

    def backward(mask: tuple[bool, ...]) -> Callable | None:
        return None if any(mask[3:]) else functools.partial(gradients, mask)

    return forward, backward


def by_blocks(fn: Callable, arrays: tuple[Array, ...], masked: bool) -> Any:
    """``fn`` of arrays (*, H, L, D), with a fourth that broadcasts where ``masked``: by blocks of heads, if that is worthwhile."""
    lead = arrays[0].shape[:-2]
    mask = arrays[3] if masked else None
    rest = [a for i, a in enumerate(arrays) if i != 3 or not masked]
    blocks = _count(*arrays[:2]) if _fit(rest, mask) else 1
    if blocks == 1:
        return fn(*arrays)  # which also says what doesn't fit
    shared = mask is not None and math.prod(mask.shape[:-2]) == 1
    if mask is not None:
        mask = mask.reshape(mask.shape[-2:]) if shared else jnp.broadcast_to(mask, (*lead, *mask.shape[-2:]))

    def split(a: Array) -> Array:
        return a.reshape(blocks, -1, *a.shape[-2:])

    def block(parts: tuple) -> Any:
        some, own = parts
        return fn(*some[:3], *([] if mask is None else [mask if shared else own]), *some[3:])

    own = None if mask is None or shared else split(mask)
    found = jax.lax.map(block, ([split(a) for a in rest], own))
    return jax.tree.map(lambda a: a.reshape(*lead, *a.shape[-2:]), found)


def _fit(arrays: list[Array], mask: Array | None) -> bool:
    """Whether all have a matrix for each head, and the mask broadcasts to the scores."""
    query, key, value = (a.shape for a in arrays[:3])
    lead = query[:-2]
    if not lead or any(a.shape[:-2] != lead for a in arrays) or key[-1] != query[-1] or value[-2] != key[-2]:
        return False
    return spreads(None if mask is None else mask.shape, (*lead, query[-2], key[-2]))


def _count(query: Array, key: Array) -> int:
    """How many blocks of equally many heads there are: 1 where all scores fit in a few."""
    heads, scores = math.prod(query.shape[:-2]), query.shape[-2] * key.shape[-2] * max(query.dtype.itemsize, 4)
    if jax.default_backend() != "cpu" or heads * scores <= 2 * BLOCK:
        return 1
    most = max(BLOCK // scores, 1)
    return heads // max(size for size in range(1, min(most, heads) + 1) if heads % size == 0)
