"""Losses that compare distances and similarities: margins between pairs and triplets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from ..errors import ArgumentValueError, OpError
from .activation import PURE, floating
from .declare import Array, Operand, function, op
from .distance import pairwise_distance
from .loss_reduction import broadcast, reduced, reducing, reduction_of
from .operands import in_common
from .selection import clamp_min, minimum

SQUARE_FLOOR = 1e-12  # PyTorch's, under the root of cosine_embedding_loss


def above_zero(x: Array) -> Array:
    """max(x, 0), with gradient 1 at 0."""
    return jnp.where(x < 0, 0, x)


@op(namespace=PURE, name="margin_ranking_loss", promote="arith", out=False)
def _margin_ranking(input1: Operand, input2: Operand, target: Operand, margin, reduction):
    """max(0, -y (x1 - x2) + margin)."""
    return reducing(lambda x, y, t: above_zero(-t * (x - y) + margin), reduction)(
        *map(floating, broadcast(input1, input2, target))
    )


@function("nn.functional")
def margin_ranking_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """max(0, -y (x1 - x2) + margin): x1 should be above x2 if y = 1, below if y = -1.

    Args:
        input1, input2: (*), of the same rank as ``target``.
        target: (*) of 1 and -1.
        size_average, reduce: old forms of ``reduction``.
        reduction: "mean", "sum" or "none".

    Raises:
        RuntimeError: different ranks.
        ValueError: an unknown reduction.
    """
    how = reduction_of(reduction, size_average, reduce)
    if not input1.dim() == input2.dim() == target.dim():
        raise OpError(
            "margin_ranking_loss : All input tensors should have same dimension but got sizes: "
            f"input1: {input1.shape}, input2: {input2.shape}, target: {target.shape} "
        )
    return _margin_ranking(input1, input2, target, float(margin), how)


@op(namespace=PURE, name="hinge_embedding_loss", out=False)
def _hinge_embedding(input: Array, target: Array, margin, reduction):
    """x for y = 1, max(0, margin - x) for y = -1."""

    def losses(x: Array, far: Array, near: Array) -> Array:
        return jnp.where(far, above_zero(margin - x), 0) + jnp.where(near, x, 0)

    x, y = broadcast(input, target)
    return reducing(losses, reduction)(x, y != 1, y != -1)


@function("nn.functional")
def hinge_embedding_loss(
    input: Any, target: Any, margin: float = 1.0, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Any:
    """x for y = 1, max(0, margin - x) for y = -1. input (*), target (*); reduction: as in `margin_ranking_loss`."""
    return _hinge_embedding(input, target, float(margin), reduction_of(reduction, size_average, reduce))


@op(namespace=PURE, name="cosine_embedding_loss", out=False)
def _cosine_embedding(input1: Array, input2: Array, target: Array, margin, reduction):
    """1 - cos for y = 1, max(0, cos - margin) for y = -1."""
    x, y = map(floating, broadcast(input1, input2))

    def losses(x: Array, y: Array, like: Array, unlike: Array) -> Array:
        squares = (jnp.sum(v * v, axis=-1) + SQUARE_FLOOR for v in (x, y))
        first, second = squares
        cosine = jnp.sum(x * y, axis=-1) / jnp.sqrt(first * second)
        cosine, like, unlike = broadcast(cosine, like, unlike)
        return reduced(jnp.where(like, 1 - cosine, 0) + jnp.where(unlike, above_zero(cosine - margin), 0), reduction)

    return in_common(losses)(x, y, target == 1, target == -1)


@function("nn.functional")
def cosine_embedding_loss(
    input1: Any, input2: Any, target: Any, margin: float = 0, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """1 - cos(x1, x2) for y = 1, max(0, cos(x1, x2) - margin) for y = -1.

    Args:
        input1, input2: (N, D) or (D).
        target: (N) or (), of 1 and -1.
        size_average, reduce, reduction: as in `margin_ranking_loss`.

    Raises:
        RuntimeError: other ranks.
    """
    how = reduction_of(reduction, size_average, reduce)
    if target.dim() not in (0, 1):
        raise OpError("0D or 1D target tensor expected, multi-target not supported")
    rank = target.dim() + 1
    if input1.dim() != rank or input2.dim() != rank:
        raise OpError(
            f"{target.dim()}D target tensor expects {rank}D input tensors, but found inputs with sizes {list(input1.shape)} and "
            f"{list(input2.shape)}."
        )
    return _cosine_embedding(input1, input2, target, float(margin), how)


def _check_triplet(anchor: Any, positive: Any, negative: Any, margin: float) -> None:
    if not anchor.dim() == positive.dim() == negative.dim():
        raise OpError(
            "The anchor, positive, and negative tensors are expected to have the same number of dimensions, but got: "
            f"anchor {anchor.dim()}D, positive {positive.dim()}D, and negative {negative.dim()}D inputs"
        )
    if margin <= 0:
        raise ArgumentValueError(f"margin must be greater than 0, got {margin}")


def _triplet(distance: Callable, anchor: Any, positive: Any, negative: Any, margin: float, swap: bool, reduction: str) -> Any:
    near, far = distance(anchor, positive), distance(anchor, negative)
    if swap:
        far = minimum(far, distance(positive, negative))
    losses = clamp_min(near - far + margin, 0)
    return losses.mean() if reduction == "mean" else losses.sum() if reduction == "sum" else losses


@function("nn.functional")
def triplet_margin_loss(
    anchor: Any, positive: Any, negative: Any, margin: float = 1.0, p: float = 2, eps: float = 1e-6, swap: bool = False,
    size_average: Any = None, reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """max(0, d(a, p) - d(a, n) + margin) with the distance of order p.

    Args:
        anchor, positive, negative: (N, D) or (D).
        margin: above 0.
        p, eps: of `pairwise_distance`.
        swap: use the distance of positive and negative where it's less than that of anchor and negative.
        size_average, reduce, reduction: as in `margin_ranking_loss`.

    Raises:
        RuntimeError: different ranks.
        ValueError: margin <= 0.

    Source: Balntas et al., "Learning shallow convolutional feature descriptors with triplet losses", 2016.
    """
    how = reduction_of(reduction, size_average, reduce)
    _check_triplet(anchor, positive, negative, margin)
    return _triplet(lambda x, y: pairwise_distance(x, y, p, eps), anchor, positive, negative, margin, swap, how)


@function("nn.functional")
def triplet_margin_with_distance_loss(
    anchor: Any, positive: Any, negative: Any, *, distance_function: Callable | None = None, margin: float = 1.0,
    swap: bool = False, reduction: str = "mean",
) -> Any:  # fmt: skip
    """`triplet_margin_loss` with a distance of one's own.

    Args:
        anchor, positive, negative: (N, D) or (D).
        distance_function: of two Tensors; None: `pairwise_distance`.
        margin, swap, reduction: as in `triplet_margin_loss`.

    Raises:
        RuntimeError: different ranks.
        ValueError: margin <= 0, or an unknown reduction.
    """
    how = reduction_of(reduction)
    _check_triplet(anchor, positive, negative, margin)
    return _triplet(distance_function or pairwise_distance, anchor, positive, negative, margin, swap, how)
