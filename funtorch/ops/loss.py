"""Losses that compare input and target element by element. Halves are computed in float32."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp

from ..core.handle import Handle
from ..errors import ArgumentValueError, OpError
from . import registry
from .activation import PURE, floating
from .assignment import TYPE_NAMES
from .declare import Array, Operand, function, op
from .loss_reduction import broadcast, reduced, reducing, reduction_of, warn_of_broadcast
from .operands import in_float32, is_inexact, kind_of, refuse
from .picking import known

WEIGHTS = "Weights and input must have the same size."
KL_MEAN = (
    "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides only by the "
    "batch size, and aligns with the KL div math definition.'mean' will be changed to behave the same as 'batchmean' in the "
    "next major release."
)


def _error(kind: str, size: float) -> Callable:
    """Of the difference d between input and target, the loss named ``kind``."""

    def absolute(d: Array) -> Array:
        return jnp.abs(d) if jnp.iscomplexobj(d) else d * jnp.sign(d)

    return {
        "mse": lambda d: d * d,
        "l1": absolute,
        # Both are quadratic below a threshold; they differ in scale.
        "smooth_l1": lambda d: jnp.where(absolute(d) < size, 0.5 * d * d / (size or 1), absolute(d) - 0.5 * size),
        "huber": lambda d: jnp.where(absolute(d) <= size, 0.5 * d * d, size * (absolute(d) - 0.5 * size)),
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
        return jnp.sum(losses) / jnp.sum(w) if reduction == "mean" else reduced(losses, reduction)

    return in_float32(weighted)(x, y, weight)


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

    input (*), target (*), weight (*), reduction: as in `mse_loss`. Raises RuntimeError for delta <= 0.
    """
    if delta <= 0:
        raise OpError("huber_loss does not support non-positive values for delta.")
    return _difference("huber", input, target, weight, reduction_of(reduction), delta)


@jax.custom_jvp
def _cross(x: Array, y: Array) -> Array:
    """-(y log x + (1 - y) log(1 - x)), logarithms at least -100."""
    return -(y * jnp.maximum(jnp.log(x), -100.0) + (1 - y) * jnp.maximum(jnp.log1p(-x), -100.0))


@_cross.defjvp
def _cross_jvp(primals: tuple, tangents: tuple) -> tuple:
    # PyTorch's slope is finite at 0 and 1, where the logarithms' own isn't.
    (x, y), (x_dot, y_dot) = primals, tangents
    slope = (x - y) / jnp.maximum((1 - x) * x, 1e-12)
    other = jnp.maximum(jnp.log1p(-x), -100.0) - jnp.maximum(jnp.log(x), -100.0)
    return _cross(x, y), slope * x_dot + other * y_dot


def _check_probabilities(input: Any, target: Any, weight: Any, reduction: str) -> None:
    if input.dtype != target.dtype:
        raise OpError(f"Found dtype {TYPE_NAMES[target.dtype.name]} but expected {TYPE_NAMES[input.dtype.name]}")
    values = known(input)
    if values is not None and not ((values >= 0) & (values <= 1)).all():
        raise OpError("all elements of input should be between 0 and 1")


@op(namespace=PURE, name="binary_cross_entropy", out=False, check=_check_probabilities)
def _binary_cross_entropy(input: Array, target: Array, weight: Array | None, reduction):
    """Cross entropy of probabilities with targets in [0, 1]."""
    refuse("binary_cross_entropy", input, "bic")
    if weight is None:
        return reducing(_cross, reduction)(input, target)
    return reducing(lambda x, y, w: _cross(x, y) * w, reduction)(input, target, weight)


@function("nn.functional")
def binary_cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Any:
    """-(y log x + (1 - y) log(1 - x)), with logarithms of at least -100.

    Args:
        input: (*) in [0, 1].
        target: (*) in [0, 1], of the same type.
        weight: broadcast to (*): a factor for each element.
        size_average, reduce, reduction: as in `mse_loss`.

    Raises:
        ValueError: other sizes.
        RuntimeError: probabilities outside [0, 1], or two types.
    """
    how = reduction_of(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise ArgumentValueError(
            f"Using a target size ({target.shape}) that is different to the input size ({input.shape}) is deprecated. "
            "Please ensure they have the same size."
        )
    return _binary_cross_entropy(input, target, weight, how)


@op(namespace=PURE, name="binary_cross_entropy_with_logits", out=False)
def _with_logits(input: Array, target: Array, weight: Array | None, pos_weight: Array | None, reduction):
    """Cross entropy of logits with targets in [0, 1]."""
    if is_inexact(input) and not is_inexact(target):
        raise OpError(f"result type {kind_of(input)} can't be cast to the desired output type {kind_of(target)}")
    refuse("binary_cross_entropy_with_logits", input, "bic")
    factors = [w for w in (weight, pos_weight) if w is not None]

    def losses(x: Array, y: Array, *factors: Array) -> Array:
        given = iter(factors)
        w = None if weight is None else next(given)
        below = jnp.logaddexp(-x, 0.0)
        scale = 1 if pos_weight is None else 1 + (next(given) - 1) * y
        z = (1 - y) * x + scale * below
        return z if w is None else z * w

    return reducing(losses, reduction)(input, target, *factors)


@function("nn.functional")
def binary_cross_entropy_with_logits(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean",
    pos_weight: Any = None,
) -> Any:  # fmt: skip
    """`binary_cross_entropy` of 1 / (1 + e^-x), without overflow.

    Args:
        input: (*) of floats: logits.
        target: (*) in [0, 1].
        weight: broadcast to (*): a factor for each element.
        size_average, reduce, reduction: as in `mse_loss`.
        pos_weight: broadcast to (*): a factor for y log x.

    Raises:
        ValueError: other sizes.
        RuntimeError: a target of integers.
    """
    how = reduction_of(reduction, size_average, reduce)
    if target.shape != input.shape:
        raise ArgumentValueError(f"Target size ({target.shape}) must be the same as input size ({input.shape})")
    return _with_logits(input, target, weight, pos_weight, how)


@op(namespace=PURE, name="kl_div", promote="arith", out=False)
def _kl_div(input: Operand, target: Operand, reduction, log_target):
    """Kullback-Leibler divergence, element by element."""
    x, y = broadcast(input, target)

    def divergence(x: Array, y: Array) -> Array:
        if log_target:
            return jnp.exp(y) * (y - x)
        # y log y is 0 at 0; below it there is no logarithm.
        return jnp.where(y == 0, 0, y * jnp.log(jnp.where(y == 0, 1, y))) - y * x

    if reduction == "batchmean":
        return in_float32(lambda x, y: jnp.sum(divergence(x, y)) / (x.shape[0] if x.ndim else 1))(x, y)
    return reducing(divergence, reduction)(x, y)


@function("nn.functional")
def kl_div(
    input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean", log_target: bool = False
) -> Any:
    """Kullback-Leibler divergence: y (log y - x).

    Args:
        input: (*): log-probabilities.
        target: (*): probabilities, or their logarithms if ``log_target``.
        size_average, reduce: old forms of ``reduction``.
        reduction: "batchmean" (the sum by the batch size, the divergence), "mean" (with a warning), "sum" or "none".

    Raises:
        ValueError: an unknown reduction.
    """
    if size_average is not None or reduce is not None or reduction != "batchmean":
        reduction = reduction_of(reduction, size_average, reduce)
    if reduction == "mean":
        warnings.warn(KL_MEAN, stacklevel=2)
    return _kl_div(input, target, reduction, log_target)


@op(namespace=PURE, name="poisson_nll_loss", promote="arith", out=False)
def _poisson(input: Operand, target: Operand, log_input, full, eps, reduction):
    """Negative log-likelihood of counts under a Poisson law."""
    refuse("poisson_nll_loss", input, "bc")

    def losses(x: Array, y: Array) -> Array:
        z = jnp.exp(x) - y * x if log_input else x - y * jnp.log(x + eps)
        if full:
            many = jnp.where(y > 1, y, 1)  # Stirling's formula for log y!, from 2 on
            z = z + jnp.where(y > 1, many * jnp.log(many) - many + 0.5 * jnp.log(2 * math.pi * many), 0)
        return z

    return reducing(losses, reduction)(*broadcast(floating(input), floating(target)))


@function("nn.functional")
def poisson_nll_loss(
    input: Any, target: Any, log_input: bool = True, full: bool = False, size_average: Any = None, eps: float = 1e-8,
    reduce: Any = None, reduction: str = "mean",
) -> Any:  # fmt: skip
    """Negative log-likelihood of counts under Poisson's law: e^x - y x, or x - y log(x + eps) without ``log_input``.

    Args:
        input: (*): the rate, or its logarithm if ``log_input``.
        target: (*): counts.
        full: add Stirling's approximation of log y!.
        eps: keeps the logarithm finite.
        size_average, reduce, reduction: as in `mse_loss`.

    Raises:
        ValueError: an unknown reduction.
    """
    return _poisson(input, target, log_input, full, float(eps), reduction_of(reduction, size_average, reduce))


@op(namespace=PURE, name="gaussian_nll_loss", out=False)
def _gaussian(input: Array, target: Array, var: Array, full, eps, reduction):
    """Negative log-likelihood under a normal law."""

    def losses(x: Array, y: Array, v: Array) -> Array:
        # The floor of the variance is not differentiated: below it the gradient passes, as in PyTorch.
        v = v + jax.lax.stop_gradient(jnp.maximum(v, eps) - v)
        z = 0.5 * (jnp.log(v) + (x - y) ** 2 / v)
        return z + 0.5 * math.log(2 * math.pi) if full else z

    return reducing(losses, reduction)(input, target, var)


def _differs_by_one(shape: Any, var: Any) -> bool:
    """Whether the variances have size 1 in one dimension, and the sizes of the input in the others."""
    if len(shape) != len(var):
        return False
    return [n for n, size in zip(var, shape, strict=True) if n != size] == [1]


@function("nn.functional")
def gaussian_nll_loss(input: Any, target: Any, var: Any, full: bool = False, eps: float = 1e-6, reduction: str = "mean") -> Any:
    """Negative log-likelihood under a normal law: (log v + (x - y)^2 / v) / 2.

    Args:
        input: (*): the means.
        target: (*): samples.
        var: (*), (*) without its last dimension or with size 1 in one, or a number: the variances, not negative.
        full: add log(2 pi) / 2.
        eps: the least variance.
        reduction: "mean", "sum" or "none".

    Raises:
        ValueError: a negative variance, or one of another size, or an unknown reduction.
    """
    if not isinstance(var, Handle):
        if var < 0:
            raise ArgumentValueError("var has negative entry/entries")
        var = registry.names("torch")["full_like"](input, var)
    else:
        values = known(var)
        if values is not None and (values < 0).any():
            raise ArgumentValueError("var has negative entry/entries")
    if var.shape != input.shape:
        if input.shape[:-1] == var.shape:
            var = var.unsqueeze(-1)
        elif not _differs_by_one(input.shape, var.shape):
            raise ArgumentValueError("var is of incorrect size")
    if reduction not in ("none", "mean", "sum"):
        raise ArgumentValueError(f"{reduction} is not valid")
    return _gaussian(input, target, var, full, float(eps), reduction)


@op(namespace=PURE, name="soft_margin_loss", promote="arith", out=False)
def _soft_margin(input: Operand, target: Operand, reduction):
    """log(1 + e^(-y x))."""
    refuse("soft_margin_loss", input, "bic")
    return reducing(lambda x, y: jnp.logaddexp(-y * x, 0.0), reduction)(*broadcast(input, target))


@function("nn.functional")
def soft_margin_loss(input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> Any:
    """log(1 + e^(-y x)). input (*), target (*) of 1 and -1; reduction: as in `mse_loss`."""
    return _soft_margin(input, target, reduction_of(reduction, size_average, reduce))
