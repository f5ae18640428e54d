"""Attention: values averaged with weights that come from queries and keys."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.call import call
from ..core.meta import is_meta
from ..errors import OpError
from .activation import PURE
from .declare import Array, function, op
from .fused_attention import Plan, Shapes, allowed, fused_op, plan_of, platform_of_kernels
from .linear import C_NAMES
from .random import bernoulli_mask

BOTH = "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"


def _check(q: Array, k: Array, v: Array, mask: Array | None, causal: bool) -> None:
    if min(q.ndim, k.ndim, v.ndim) < 2:
        raise OpError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got "
            f"query.dim: {q.ndim} key.dim: {k.ndim} and value.dim: {v.ndim} instead."
        )
    names = [C_NAMES.get(np.dtype(a.dtype).name, str(a.dtype)) for a in (q, k, v)]
    if len(set(names)) > 1:
        raise OpError(
            f"Expected query, key, and value to have the same dtype, but got query.dtype: {names[0]} key.dtype: {names[1]} and "
            f"value.dtype: {names[2]} instead."
        )
    if mask is None:
        return
    if mask.dtype not in (np.dtype(bool), np.dtype(np.float32), q.dtype):
        raise OpError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
            f"{C_NAMES.get(np.dtype(mask.dtype).name, mask.dtype)} and  query.dtype: {names[0]} instead."
        )
    if causal:
        raise OpError(BOTH)


def _repeated(q: Array, x: Array) -> Array:
    """Each head of keys or values as often as it takes to have one for each head of queries."""
    if q.shape[-3] % x.shape[-3]:
        raise OpError(
            f"Number of heads in key and value must divide the number of heads in query, but got {x.shape[-3]} and {q.shape[-3]}"
        )
    return jnp.repeat(x, q.shape[-3] // x.shape[-3], axis=-3)


def weights_of(scores: Array) -> Array:
    """Softmax over the last axis; 0 in a row where everything is masked."""
    top = jax.lax.stop_gradient(jnp.max(scores, axis=-1, keepdims=True, initial=-jnp.inf))
    none = top == -jnp.inf
    exps = jnp.where(none, 0, jnp.exp(scores - jnp.where(none, 0, top)))
    return exps / jnp.where(none, 1, jnp.sum(exps, axis=-1, keepdims=True))


def _masked(scores: Array, mask: Array | None, causal: bool) -> Array:
    if causal:
        mask = jnp.tri(scores.shape[-2], scores.shape[-1], dtype=bool)
    if mask is None:
        return scores
    for back in range(1, mask.ndim + 1):
        size, given = scores.shape[-back] if back <= scores.ndim else 1, mask.shape[-back]
        if given not in (1, size):
            at = scores.ndim - back
            raise OpError(
                f"The size of tensor a ({size}) must match the size of tensor b ({given}) at non-singleton dimension {at}"
            )
    return jnp.where(mask, scores, -jnp.inf) if mask.dtype == bool else scores + mask.astype(scores.dtype)


def _fitting(q: Array, k: Array, v: Array) -> None:
    batch = math.prod(q.shape[:-2])
    for x, width in ((jnp.swapaxes(k, -1, -2), q.shape[-1]), (v, k.shape[-2])):
        if x.shape[-2] != width:
            expected = f"[{batch}, {width}] but got: [{batch}, {x.shape[-2]}]"
            raise OpError(f"Expected size for first two dimensions of batch2 tensor to be: {expected}.")


@op(namespace=PURE, name="scaled_dot_product_attention", out=False)
def _attention(
    query: Array, key: Array, value: Array, attn_mask: Array | None, kept: Array | None, p, is_causal, scale, enable_gqa
):
    """softmax(q k^T scale + mask) v, with the weights multiplied by ``kept`` / (1 - p)."""
    return _formula(query, key, value, attn_mask, kept, p, is_causal, scale, enable_gqa)


def _formula(query, key, value, attn_mask, kept, p, is_causal, scale, enable_gqa) -> Array:
    _check(query, key, value, attn_mask, is_causal)
    kind = query.dtype
    q, k, v = (a.astype(jnp.float32) if a.dtype.itemsize <= 2 else a for a in (query, key, value))
    if enable_gqa:
        k, v = _repeated(q, k), _repeated(q, v)
    _fitting(q, k, v)
    factor = scale if scale is not None else 1 / math.sqrt(max(q.shape[-1], 1))
    scores = jnp.matmul(q * np.asarray(factor, q.dtype), jnp.swapaxes(k, -1, -2))  # (*, L, S)
    weights = weights_of(_masked(scores, attn_mask, is_causal))
    if kept is not None:
        weights = weights * (kept.astype(weights.dtype) * (0 if p == 1 else 1 / (1 - p)))
    return jnp.matmul(weights, v).astype(kind)  # (*, L, E)


def _planned(query: Array, key: Array, value: Array, mask: Array | None, plan: Plan) -> Array:
    return _formula(query, key, value, mask, None, 0.0, plan.causal, plan.scale, plan.groups)


def _fused(inputs: tuple, dropped: bool, causal: bool, scale: float | None, groups: bool) -> Any:
    """The result of a kernel of the accelerator's, or None where there is none that can do this."""
    given = [t for t in inputs if t is not None]
    shapes = Shapes(*(None if t is None else tuple(t.shape) for t in inputs))  # type: ignore[arg-type]
    uneven = any(t.dtype is not given[0].dtype for t in given[1:3]) or (causal and len(given) > 3)
    plan = plan_of(shapes, given[0].dtype.numpy, dropped or uneven, causal, scale, groups)
    return None if plan is None else call(fused_op(plan, _planned), given)


@function("nn.functional")
def scaled_dot_product_attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
    scale: float | None = None, enable_gqa: bool = False,
) -> Any:  # fmt: skip
    """Attention: z = softmax(q k^T scale + mask) v.

    Args:
        query: (*, H, L, D).
        key: (*, H, S, D); value: (*, H, S, E).
        attn_mask: broadcast to (*, H, L, S): bools (true: take part), or floats that are added to the scores.
        dropout_p: the probability with which a weight is dropped (whenever it's above 0).
        is_causal: a query sees only the keys up to its own place.
        scale: None: 1 / sqrt(D).
        enable_gqa: key and value may have fewer heads, which are shared by groups of queries.

    Returns:
        (*, H, L, E); 0 for a query that sees no key.

    Raises:
        RuntimeError: sizes or types that don't fit, both a mask and ``is_causal``, or no kernel left by `sdpa_kernel`.

    On a CUDA GPU and a TPU it is one kernel, JAX's, where that can do it (see docs/differences.md).

    Source: Vaswani et al., "Attention Is All You Need", 2017, eq. 1.
    """
    kept = None
    if dropout_p > 0 and not is_meta(query):
        batch = np.broadcast_shapes(tuple(query.shape[:-2]), tuple(query.shape[:-2] if enable_gqa else key.shape[:-2]))
        kept = bernoulli_mask((*batch, query.shape[-2], key.shape[-2]), 1 - dropout_p, query.dtype)
    factor = None if scale is None else float(scale)
    if platform_of_kernels() is not None or len(allowed) > 1:
        inputs = (query, key, value, attn_mask)
        made = _fused(inputs, kept is not None, bool(is_causal), factor, bool(enable_gqa))
        if made is not None:
            return made
    return _attention(query, key, value, attn_mask, kept, float(dropout_p), bool(is_causal), factor, enable_gqa)
