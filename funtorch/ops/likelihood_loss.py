"""Losses of probabilities, element by element: cross entropy of two classes, and negative log-likelihoods. Halves in float32."""

from __future__ import annotations

import math
from typing import Any

import jax
import jax.numpy as jnp

from ..cautions import caution
from ..core.handle import Handle, form_of
from ..errors import ArgumentValueError, OpError
from . import registry
from .activation import PURE, floating
from .assignment import TYPE_NAMES
from .declare import Array, Operand, function, op
from .loss_reduction import broadcast, reducing, reduction_of
from .operands import in_float32, is_inexact, kind_of, refuse, seen

KL_MEAN = (
    "reduction: 'mean' divides the total loss by both the batch size and the support size.'batchmean' divides only by the "
    "batch size, and aligns with the KL div math definition.'mean' will be changed to behave the same as 'batchmean' in the "
    "next major release."
)


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
    values = seen(input)
    if values is not None and not ((values >= 0) & (values <= 1)).all():
        raise OpError("all elements of input should be between 0 and 1")
    aims = seen(target)
    if aims is not None and not ((aims >= 0) & (aims <= 1)).all():
        raise OpError("all elements of target should be between 0 and 1")


@op(namespace=PURE, name="binary_cross_entropy", out=False, check=_check_probabilities)
def _binary_cross_entropy(input: Array, target: Array, weight: Array | None, reduction):
    """Cross entropy of probabilities with targets in [0, 1]."""
    refuse("binary_cross_entropy", input, "bic")
    if weight is None:
        return reducing(_cross, reduction)(input, target)
    broadcast(weight, input)
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
    for factor in factors:
        broadcast(factor, input)

    def losses(x: Array, y: Array, *factors: Array) -> Array:
        given = iter(factors)
        w = None if weight is None else next(given)
        below = jnp.logaddexp(-x, 0.0)
        scale = 1 if pos_weight is None else 1 + (next(given) - 1) * y
        z = (1 - y) * x + scale * below
        return z if w is None else z * w

    return reducing(losses, reduction)(input, target, *factors).astype(target.dtype)


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


def refuse_integers(*arguments: Any) -> None:
    """Raise RuntimeError if a Tensor among the arguments of `kl_div` has integers."""
    for argument in arguments:
        if isinstance(argument, Handle) and not is_inexact(form_of(argument)):
            raise OpError("kl_div: Integral inputs not supported.")


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
        RuntimeError: sizes that can't be broadcast, or integers.
    """
    if size_average is not None or reduce is not None:
        reduction = reduction_of(reduction, size_average, reduce)
    elif reduction == "mean":
        caution(KL_MEAN)
    elif reduction != "batchmean":
        reduction = reduction_of(reduction)
    refuse_integers(input, target)
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
        values = seen(var)
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
