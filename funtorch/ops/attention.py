"""Attention: values averaged with weights that come from queries and keys."""

from __future__ import annotations

import math
import numbers
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.call import call
from ..core.compiler_options import EIGEN, WIDE, Options
from ..core.handle import Handle
from ..core.meta import is_meta
from ..core.strides import inverse, memory_order
from ..errors import ArgumentTypeError, ArgumentValueError, MissingError, OpError, OutOfBoundsError
from . import blocked_attention
from .activation import PURE
from .declare import Array, function, op
from .fused_attention import Plan, Shapes, allowed, fused_op, plan_of, platform_of_kernels
from .linear import C_NAMES
from .operands import is_floating, kind_of, refuse
from .random import bernoulli_mask

Sizes = tuple[int, ...]
BOTH = "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True"


def _check(q: Any, k: Any, v: Any, mask: Any, groups: bool) -> None:
    """Raise for arrays, or the shapes and types of them, that don't fit together."""
    _check_types(q, k, v, mask)
    if groups:
        _check_groups(q.shape, k.shape, v.shape)
    batches = [x.shape[:-3] if groups else x.shape[:-2] for x in (q, k, v)]
    for other in batches[1:]:
        _check_broadcast(batches[0], other)
    batch = math.prod(q.shape[:-2])
    for found, width in ((k.shape[-1], q.shape[-1]), (v.shape[-2], k.shape[-2])):
        if found != width:
            expected = f"[{batch}, {width}] but got: [{batch}, {found}]"
            raise OpError(f"Expected size for first two dimensions of batch2 tensor to be: {expected}.")


def _check_broadcast(left: Sizes, right: Sizes) -> None:
    rank = max(len(left), len(right))
    for back, (a, b) in enumerate(zip(reversed(left), reversed(right), strict=False), 1):
        if a != b and 1 not in (a, b):
            at = rank - back
            raise OpError(f"The size of tensor a ({a}) must match the size of tensor b ({b}) at non-singleton dimension {at}")


def _check_types(q: Any, k: Any, v: Any, mask: Any) -> None:
    if min(len(q.shape), len(k.shape), len(v.shape)) < 2:
        raise OpError(
            "Expected query, key, and value to all be  at least 2 dimensional, but got "
            f"query.dim: {len(q.shape)} key.dim: {len(k.shape)} and value.dim: {len(v.shape)} instead."
        )
    names = [C_NAMES.get(np.dtype(a.dtype).name, str(a.dtype)) for a in (q, k, v)]
    if len(set(names)) > 1:
        raise OpError(
            f"Expected query, key, and value to have the same dtype, but got query.dtype: {names[0]} key.dtype: {names[1]} and "
            f"value.dtype: {names[2]} instead."
        )
    if mask is not None and mask.dtype not in (np.dtype(bool), np.dtype(np.float32), q.dtype):
        raise OpError(
            "Expected attn_mask dtype to be bool or float or to match query dtype, but got attn_mask.dtype: "
            f"{C_NAMES.get(np.dtype(mask.dtype).name, mask.dtype)} and  query.dtype: {names[0]} instead."
        )
    refuse("softmax_lastdim_kernel_impl", q, "c")
    if not is_floating(q):
        raise OpError(f"expected scalar type Float but found {kind_of(q)}")
    if q.dtype.itemsize < 2:
        raise MissingError(f"\"scaled_dot_product_attention\" not implemented for '{kind_of(q)}'")


def _check_groups(query: Sizes, key: Sizes, value: Sizes) -> None:
    least = min(len(query), len(key), len(value))
    if least < 3:
        raise OutOfBoundsError(f"Dimension out of range (expected to be in range of [-{least}, {least - 1}], but got -3)")
    for heads in (key[-3], value[-3]):
        if not heads or query[-3] % heads:
            raise OpError(
                f"Number of heads in key and value must divide the number of heads in query, but got {heads} and {query[-3]}"
            )


def _repeated(q: Array, x: Array) -> Array:
    """Each head of keys or values as often as it takes to have one for each head of queries."""
    return jnp.repeat(x, q.shape[-3] // x.shape[-3], axis=-3)


def weights_of(scores: Array) -> Array:
    """Softmax over the last axis; 0 in a row where everything is masked."""
    top = jax.lax.stop_gradient(jnp.max(scores, axis=-1, keepdims=True, initial=-jnp.inf))
    none = top == -jnp.inf
    exps = jnp.where(none, 0, jnp.exp(scores - jnp.where(none, 0, top)))
    return exps / jnp.where(none, 1, jnp.sum(exps, axis=-1, keepdims=True))


def _masked(scores: Array, mask: Array | None, causal: bool) -> Array:
    if mask is not None:
        _check_mask(scores.shape, mask.shape)
        scores = jnp.where(mask, scores, -jnp.inf) if mask.dtype == bool else scores + mask.astype(scores.dtype)
    if causal:
        scores = jnp.where(jnp.tri(scores.shape[-2], scores.shape[-1], dtype=bool), scores, -jnp.inf)
    return scores


def _check_mask(scores: Sizes, mask: Sizes) -> None:
    _check_broadcast(scores, mask)
    whole = np.broadcast_shapes(scores, mask)
    if whole != tuple(scores):
        raise OpError(f"output with shape {list(scores)} doesn't match the broadcast shape {list(whole)}")


def _compiled(present: tuple, *fixed: Any) -> tuple[Callable, Callable, Options]:
    return *blocked_attention.compiled(_formula, present, *fixed), WIDE + EIGEN


@op(namespace=PURE, name="scaled_dot_product_attention", out=False, compiled=_compiled)
def _attention(
    query: Array, key: Array, value: Array, attn_mask: Array | None, kept: Array | None, p, is_causal, scale, enable_gqa, order=()
):
    """softmax(q k^T scale + mask) v, with the weights multiplied by ``kept`` / (1 - p), and its dimensions in another ``order``."""
    result = _formula(query, key, value, attn_mask, kept, p, is_causal, scale, enable_gqa)
    return result.transpose(order) if order else result


def _formula(query, key, value, attn_mask, kept, p, is_causal, scale, enable_gqa) -> Array:
    _check(query, key, value, attn_mask, enable_gqa)
    kind = query.dtype
    q, k, v = (a.astype(jnp.float32) if a.dtype.itemsize <= 2 else a for a in (query, key, value))
    if enable_gqa:
        k, v = _repeated(q, k), _repeated(q, v)
    factor = scale if scale is not None else 1 / math.sqrt(max(q.shape[-1], 1))
    scores = jnp.matmul(q * np.asarray(factor, q.dtype), jnp.swapaxes(k, -1, -2))  # (*, L, S)
    weights = weights_of(_masked(scores, attn_mask, is_causal))
    if p == 1:
        weights = weights * 0
    elif kept is not None:
        weights = weights * (kept.astype(weights.dtype) * (1 / (1 - p)))
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


def _check_options(dropout_p: Any, is_causal: Any, scale: Any) -> None:
    for name, value, kind in (("dropout_p", dropout_p, "float"), ("scale", 0.0 if scale is None else scale, "float")):
        if type(value) is not float and not isinstance(value, (numbers.Real, np.number, Handle)):
            raise ArgumentTypeError(
                f"scaled_dot_product_attention(): argument '{name}' must be {kind}, not {type(value).__name__}"
            )
    if type(is_causal) is not bool and not isinstance(is_causal, np.bool_):
        found = type(is_causal).__name__
        raise ArgumentTypeError(f"scaled_dot_product_attention(): argument 'is_causal' must be bool, not {found}")


def _drawn(query: Any, key: Any, value: Any, mask: Any, p: float, groups: bool) -> Any:
    """Ones for the weights that stay; None where nothing is to be drawn. All is checked before a number is drawn."""
    given = [jax.ShapeDtypeStruct(tuple(t.shape), t.dtype.numpy) for t in (query, key, value, mask) if t is not None]
    _check(given[0], given[1], given[2], given[3] if len(given) > 3 else None, groups)
    if not 0 <= p <= 1:
        raise OpError(f"dropout probability has to be between 0 and 1, but got {p}")
    if p == 1 or is_meta(query):
        return None
    q, k = given[0].shape, given[1].shape
    batch = np.broadcast_shapes(q[:-2], q[:-2] if groups else k[:-2])
    return bernoulli_mask((*batch, q[-2], k[-2]), 1 - p, query.dtype)


def _order_of(query: Any, key: Any, value: Any, mask: Any, groups: bool) -> tuple[int, ...] | None:
    """The order in which the result's dimensions lie in memory, if it is the query's: where PyTorch uses its fused kernel for the CPU."""
    order = memory_order(query)
    if order is None or order[-1] != 3 or len(order) != 4 or "FLASH_ATTENTION" not in allowed[0]:
        return None
    alike = 1 if groups else 2
    fits = all(x.shape[:alike] == query.shape[:alike] and x.shape[3] == query.shape[3] for x in (key, value))
    return order if fits and not (mask is not None and mask.requires_grad) else None


@function("nn.functional")
def scaled_dot_product_attention(
    query: Any, key: Any, value: Any, attn_mask: Any = None, dropout_p: float = 0.0, is_causal: bool = False,
    *, scale: float | None = None, enable_gqa: bool = False,
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
        RuntimeError: sizes or types that don't fit, a probability outside [0, 1], no kernel left by `sdpa_kernel`, or a mask with
            ``is_causal`` where that isn't plain: other than 4 dimensions, dropout, or a mask that requires a gradient.
        TypeError: options of another type. NotImplementedError: complex numbers. ValueError: a `CausalBias` with ``is_causal``.

    On a CUDA GPU and a TPU it is one kernel, JAX's, where that can do it (see docs/differences.md).

    Source: Vaswani et al., "Attention Is All You Need", 2017, eq. 1.
    """
    _check_options(dropout_p, is_causal, scale)
    kept = _drawn(query, key, value, attn_mask, float(dropout_p), enable_gqa) if dropout_p else None
    if is_causal and hasattr(attn_mask, "variant"):
        raise ArgumentValueError("CausalBias should not be used with causal=True")
    if is_causal and attn_mask is not None and (dropout_p or query.dim() != 4 or attn_mask.requires_grad):
        raise OpError(BOTH)
    factor = None if scale is None else float(scale)
    if platform_of_kernels() is not None or "MATH" not in allowed[0]:
        inputs = (query, key, value, attn_mask)
        made = _fused(inputs, dropout_p > 0, bool(is_causal), factor, bool(enable_gqa))
        if made is not None:
            return made
    fixed = float(dropout_p), bool(is_causal), factor, bool(enable_gqa)
    order = None if dropout_p else _order_of(query, key, value, attn_mask, enable_gqa)
    if order is None:
        return _attention(query, key, value, attn_mask, kept, *fixed)
    made = _attention(query, key, value, attn_mask, kept, *fixed, order)
    return made.permute(inverse(order))
