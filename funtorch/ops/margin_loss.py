"""Losses that ask for a margin between the scores of classes."""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp

from ..core.handle import value_of
from ..errors import ArgumentValueError, OpError, OutOfBoundsError
from .activation import PURE
from .class_loss import computed
from .declare import Array, function, op
from .gathering import outside
from .loss_reduction import broadcast, reduced, reduction_of
from .operands import in_common, in_float32, kind_of, refuse, seen


def _expect_dtype(kind: str, x: Array) -> None:
    if kind_of(x) != kind:
        raise OpError(f"expected scalar type {kind} but found {kind_of(x)}")


def _check_margin(input: Any, target: Any, weight: Any, p: int, margin: float, reduction: str) -> None:
    shape = value_of(input).shape
    if 0 < len(shape) <= 2 and value_of(target).dtype.kind in "iu" and outside(target, shape[-1]) is not None:
        raise OpError("target out of range")


@op(namespace=PURE, name="multi_margin_loss", out=False, check=_check_margin)
def _multi_margin(input: Array, target: Array, weight: Array | None, p, margin, reduction):
    """Margins of the target's class over the others."""
    refuse("multi_margin_loss", input, "bic")
    if input.ndim > 2 or not input.size and input.shape[-1] == 0:
        raise OpError(f"Expected non-empty vector or matrix with optional 0-dim batch size, but got: {list(input.shape)}")
    classes = input.shape[-1] if input.ndim else 1
    rows = 1 if input.ndim < 2 else input.shape[0]
    if target.size != rows or target.ndim > 1:
        raise OpError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch size). "
            f"Expected target size [{rows}], but got {list(target.shape)}. Input has shape {list(input.shape)}."
        )
    if weight is not None and weight.shape != (classes,):
        raise OpError(f"inconsistent weight size, expected {classes} but got {list(weight.shape)}")
    _expect_dtype("Long", target)
    if weight is not None:
        _expect_dtype(kind_of(input), weight)

    def losses(x: Array, y: Array, w: Array | None = None) -> Array:
        x, y = x.reshape(rows, classes), y.reshape(rows, 1)
        chosen = jnp.arange(classes) == y
        own = jnp.sum(jnp.where(chosen, x, 0), axis=1, keepdims=True)
        gap = margin - own + x
        gap = jnp.where(chosen | (gap <= 0), 0, gap)
        z = gap if p == 1 else gap * gap
        if w is not None:
            z = z * jnp.sum(jnp.where(chosen, w, 0), axis=1, keepdims=True)
        z = jnp.sum(z, axis=1) / classes
        return reduced(z.reshape(target.shape) if input.ndim >= 2 else z.reshape(()), reduction)

    return computed(input, target, weight, losses)


@function("nn.functional")
def multi_margin_loss(
    input: Any, target: Any, p: int = 1, margin: float = 1.0, weight: Any = None, size_average: Any = None, reduce: Any = None,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """sum_{i != c} max(0, w_c (margin - x_c + x_i))^p / C for the class c that the target names.

    Args:
        input: (C) or (N, C) of floats.
        target: () or (N) of int64.
        p: 1 or 2.
        weight: (C).
        size_average, reduce, reduction: as in `nll_loss`.

    Raises:
        ValueError: another p, or an unknown reduction.
        RuntimeError: other sizes or types, or a class that doesn't exist.
    """
    how = reduction_of(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ArgumentValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ArgumentValueError("weight must be one-dimensional")
    return _multi_margin(input, target, weight, p, float(margin), how)


def _check_labels(input: Any, target: Any, reduction: str) -> None:
    values = seen(target)
    shape = value_of(input).shape
    if values is not None and values.size and shape and (values.min() < -1 or values.max() >= shape[-1]):
        raise OpError("argument #2 'target' is out of range")


@op(namespace=PURE, name="multilabel_margin_loss", out=False, check=_check_labels)
def _multilabel_margin(input: Array, target: Array, reduction):
    """Margins of the target's classes over all others."""
    refuse("multilabel_margin_loss", input, "bic")
    if input.shape != target.shape:
        raise OpError(f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}")
    _expect_dtype("Long", target)

    def losses(x: Array, y: Array) -> Array:
        classes = x.shape[-1] if x.ndim else 1
        x, y = x.reshape(-1, classes), y.reshape(-1, classes)
        named = jnp.cumsum(y < 0, axis=1) == 0  # the labels before the first -1
        hits = (y[:, :, None] == jnp.arange(classes)) & named[:, :, None]
        inside = jnp.any(hits, axis=1)
        own = jnp.sum(jnp.where(hits, x[:, None, :], 0), axis=2)
        gap = 1 - own[:, :, None] + x[:, None, :]
        counted = named[:, :, None] & ~inside[:, None, :] & (gap > 0)
        z = jnp.sum(jnp.where(counted, gap, 0), axis=(1, 2)) / classes
        return reduced(z if input.ndim >= 2 else z.reshape(()), reduction)

    return in_float32(losses)(input, target)


@function("nn.functional")
def multilabel_margin_loss(input: Any, target: Any, size_average: Any = None, reduce: Any = None, reduction: str = "mean") -> Any:
    """sum_{j, i} max(0, 1 - x_{y_j} + x_i) / C over the target's classes y_j and all other classes i.

    Args:
        input: (C) or (N, C) of floats.
        target: input's shape, of int64: classes, up to the first -1.
        size_average, reduce, reduction: as in `nll_loss`.

    Raises:
        RuntimeError: other sizes or types, or a class that doesn't exist.
    """
    return _multilabel_margin(input, target, reduction_of(reduction, size_average, reduce))


@op(namespace=PURE, name="multilabel_soft_margin_loss", out=False)
def _multilabel_soft_margin(input: Array, target: Array, weight: Array | None, reduction):
    """Binary cross entropy of logits, averaged over the classes."""
    if not input.ndim:
        raise OutOfBoundsError("Dimension specified as -1 but tensor has no dimensions")
    refuse("log_sigmoid_cpu", input, "bic")
    classes = input.shape[-1]

    def losses(x: Array, y: Array, w: Array | None = None) -> Array:
        x, y = broadcast(x, y)
        z = y * jnp.logaddexp(-x, 0.0) + (1 - y) * jnp.logaddexp(x, 0.0)
        z = z if w is None else z * w
        return reduced(jnp.sum(z, axis=-1) / classes, reduction)

    return computed(input, target, weight, losses, in_common)


@function("nn.functional")
def multilabel_soft_margin_loss(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Any:
    """Mean over the classes of log(1 + e^-x) for y = 1 and log(1 + e^x) for y = 0. input (N, C), target (N, C) in [0, 1]."""
    return _multilabel_soft_margin(input, target, weight, reduction_of(reduction, size_average, reduce))
