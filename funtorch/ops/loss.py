"""Losses that compare input and target element by element. Halves are computed in float32."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp

from ..errors import ArgumentValueError, OpError
from .activation import PURE
from .declare import Array, Operand, function, op
from .loss_reduction import broadcast, reduced, reducing, reduction_of, warn_of_broadcast
from .operands import in_common, is_inexact, kind_of, refuse

WEIGHTS = "Weights and input must have the same size."


def _error(kind: str, size: float) -> Callable:
    """Of the difference d between input and target, the loss named ``kind``."""

    def absolute(d: Array) -> Array:
        return jnp.abs(d) if jnp.iscomplexobj(d) else d * jnp.sign(d)

    def quadratic_below(d: Array, below: Array, scale: float, beyond: Array) -> Array:
        inner = jnp.where(below, d, 0)  # whose square is finite: beyond, its slope counts for nothing, not for NaN
        return jnp.where(below, 0.5 * inner * inner / scale, beyond)

    return {
        "mse": lambda d: d * d,
        "l1": absolute,
        # Both are quadratic below a threshold; they differ in scale.
        "smooth_l1": lambda d: quadratic_below(d, absolute(d) < size, size or 1, absolute(d) - 0.5 * size),
        "huber": lambda d: quadratic_below(d, absolute(d) <= size, 1, size * (absolute(d) - 0.5 * size)),
    }[kind]


def _of_difference(input: Array, target: Array, weight: Array | None, kind: str, size: float, reduction: str) -> Array:
    """A loss of the difference of input (*) and target (*), each element times its weight (*)."""
    refuse(f"{kind}_cpu", input, "b" if kind == "l1" else "bic")
    if reduction == "mean" and not is_inexact(input):
        raise OpError(f"l1_loss(): the mean needs a floating point or complex dtype. Got: {kind_of(input)}")
    x, y = broadcast(input, target)
    measure = _error(kind, size)
    if weight is None:
        return reducing(lambda x, y: measure(x - y), reduction)(x, y)

    def weighted(x: Array, y: Array, w: Array) -> Array:
        losses = measure(x - y) * w
        # Alone among these, Huber's weighted mean is over the number of elements.
        weighted_mean = reduction == "mean" and kind != "huber"
        return jnp.sum(losses) / jnp.sum(w) if weighted_mean else reduced(losses, reduction)

    return in_common(weighted)(x, y, weight)


def _difference_op(kind: str) -> Callable:
    def loss(input: Operand, target: Operand, weight: Array | None, size, reduction):
        return _of_difference(input, target, weight, kind, size, reduction)

    return op(loss, namespace=PURE, name=f"{kind}_loss", promote="arith", out=False)


DIFFERENCES = {kind: _difference_op(kind) for kind in ("mse", "l1", "smooth_l1", "huber")}


def _difference(kind: str, input: Any, target: Any, weight: Any, reduction: str, size: float = 0.0) -> Any:
    warn_of_broadcast(input, target)
    if weight is not None and weight.shape != input.shape:
        raise ArgumentValueError(WEIGHTS)
    return DIFFERENCES[kind](input, target, weight, float(size), reduction)


@function("nn.functional")
def mse_loss(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean", weight: Any = None
) -> Any:
    """Squared error: (x - y)^2.

    Args:
        input: (*) of floats.
        target: (*), of the same size (another size is broadcast, with a warning).
        size_average, reduce: old forms of ``reduction``.
        reduction: "mean", "sum" or "none".
        weight: (*), a factor for each element; the mean is then the weighted one.

    Returns:
        (), or (*) without reduction.

    Raises:
        ValueError: an unknown reduction, or a weight of another size.
        RuntimeError: sizes that can't be broadcast.
    """
    return _difference("mse", input, target, weight, reduction_of(reduction, size_average, reduce))


@function("nn.functional")
def l1_loss(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean", weight: Any = None
) -> Any:
    """Absolute error: |x - y|. input (*), target (*), weight (*); reduction and errors: as in `mse_loss`."""
    return _difference("l1", input, target, weight, reduction_of(reduction, size_average, reduce))


@function("nn.functional")
def smooth_l1_loss(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean", beta: float = 1.0
) -> Any:
    """(x - y)^2 / (2 beta) where |x - y| < beta, else |x - y| - beta / 2.

    input (*), target (*), reduction: as in `mse_loss`. Raises RuntimeError for a negative beta.
    """
    if beta < 0:
        raise OpError("smooth_l1_loss does not support negative values for beta.")
    kind = "smooth_l1" if beta else "l1"
    return _difference(kind, input, target, None, reduction_of(reduction, size_average, reduce), beta)


@function("nn.functional")
def huber_loss(input: Any, target: Any, reduction: str = "mean", delta: float = 1.0, weight: Any = None) -> Any:
    """(x - y)^2 / 2 where |x - y| <= delta, else delta (|x - y| - delta / 2).

    input (*), target (*), weight (*), reduction: as in `mse_loss`, but the mean is over the number of elements, with weights
    too. Raises RuntimeError for delta <= 0.
    """
    if delta <= 0:
        raise OpError("huber_loss does not support non-positive values for delta.")
    return _difference("huber", input, target, weight, reduction_of(reduction), delta)


@op(namespace=PURE, name="soft_margin_loss", promote="arith", out=False)
def _soft_margin(input: Operand, target: Operand, reduction):
    """log(1 + e^(-y x))."""
    refuse("soft_margin_loss", input, "bic")
    x, y = broadcast(input, target)
    if x.shape != input.shape:
        raise OpError(f"output with shape {list(input.shape)} doesn't match the broadcast shape {list(x.shape)}")
    return reducing(lambda x, y: jnp.logaddexp(-y * x, 0.0), reduction)(x, y)


@function("nn.functional")
def soft_margin_loss(input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> Any:
    """log(1 + e^(-y x)). input (*), target of 1 and -1, broadcast to (*); reduction: as in `mse_loss`."""
    return _soft_margin(input, target, reduction_of(reduction, size_average, reduce))
