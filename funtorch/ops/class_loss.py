"""Losses against classes: cross entropy and its negative log-likelihood, and margins between classes.

The class that a target names is picked with a comparison, not with a gather: XLA fuses it, and its gradient needs no scatter.
"""

from __future__ import annotations

from typing import Any

import jax.numpy as jnp
import numpy as np

from ..core.handle import value_of
from ..errors import ArgumentValueError, OpError, OutOfBoundsError
from .activation import PURE
from .declare import Array, function, op
from .gathering import outside
from .loss_reduction import broadcast, reduced, reduction_of
from .normalised import _log_normalised
from .operands import in_float32, is_floating, kind_of, refuse
from .picking import known

CLASS_WEIGHTS = "weight tensor should be defined either for all {} classes or no classes but got weight tensor of shape: {}"


def _check_classes(input: Any, target: Any, weight: Any, ignore_index: int, *rest: Any) -> None:
    """Raise IndexError for a class that doesn't exist, where the values are known."""
    shape = value_of(input).shape
    if not shape or value_of(target).dtype.kind not in "iu":
        return
    values = known(target)
    if values is None or not values.size:
        return
    classes = shape[0 if len(shape) == 1 else 1] if len(shape) else 0
    low, high = int(values.min()), int(values.max())
    if 0 <= low and high < classes:
        return
    wrong = values[((values < 0) | (values >= classes)) & (values != ignore_index)]
    if wrong.size:
        raise OutOfBoundsError(f"Target {int(wrong.flat[0])} is out of bounds.")


def _check_shapes(x: Array, y: Array, weight: Array | None) -> None:
    if not x.ndim:
        raise ArgumentValueError(f"Expected 1 or more dimensions (got {x.ndim})")
    if x.ndim == 1 and y.size != 1:
        raise ArgumentValueError(f"For 1D input, 1D target must have size 1, but got target size: {y.size}")
    if x.ndim > 1 and y.ndim and x.shape[0] != y.shape[0]:
        raise ArgumentValueError(f"Expected input batch_size ({x.shape[0]}) to match target batch_size ({y.shape[0]}).")
    expected = (x.shape[0], *x.shape[2:])
    if x.ndim == 2 and y.ndim != 1:
        raise OpError("0D or 1D target tensor expected, multi-target not supported")
    if x.ndim == 4 and y.shape != expected:
        raise OpError(f"size mismatch (got input: {list(x.shape)} , target: {list(y.shape)}")
    if x.ndim > 2 and y.shape != expected:
        raise OpError(f"Expected target size {list(expected)}, got {list(y.shape)}")
    if y.dtype not in (np.int64, np.uint8):
        raise OpError(f"expected target dtype to be Long or Byte, but got {kind_of(y)}")
    if weight is not None and weight.shape != (x.shape[0 if x.ndim == 1 else 1],):
        raise OpError(CLASS_WEIGHTS.format(x.shape[0 if x.ndim == 1 else 1], list(weight.shape)))
    if weight is not None and weight.dtype != x.dtype:
        raise OpError(f"expected scalar type {kind_of(x)} but found {kind_of(weight)}")


def _likelihood(x: Array, y: Array, weight: Array | None, ignore_index: int, smoothing: float, reduction: str) -> Array:
    """The weighted negative of the log-probability x of the class y, mixed with that of all classes by ``smoothing``."""
    axis = 0 if x.ndim == 1 else 1
    classes = x.shape[axis]
    y = y.reshape(()) if x.ndim == 1 else y
    kept = y != ignore_index
    row = jnp.arange(classes).reshape((-1,) + (1,) * (x.ndim - 1 - axis))
    chosen = row == jnp.expand_dims(y, axis)
    w = None if weight is None else weight.reshape(row.shape)
    losses = -jnp.sum(jnp.where(chosen, x if w is None else x * w, 0), axis=axis)
    # Inside traced code a class that doesn't exist can't raise: it gives NaN.
    losses = jnp.where((y >= 0) & (y < classes), losses, jnp.nan)
    if smoothing:
        spread = -jnp.sum(x if w is None else x * w, axis=axis) / classes
        losses = (1 - smoothing) * losses + smoothing * spread
    losses = jnp.where(kept, losses, 0)
    if reduction != "mean":
        return reduced(losses, reduction)
    if w is None:
        return jnp.sum(losses) / jnp.sum(kept, dtype=x.dtype)
    return jnp.sum(losses) / jnp.sum(jnp.where(kept, jnp.sum(jnp.where(chosen, w, 0), axis=axis), 0))


def _run(x: Array, y: Array, weight: Array | None, fn: Any) -> Array:
    return in_float32(fn)(x, y) if weight is None else in_float32(fn)(x, y, weight)


@op(namespace=PURE, name="nll_loss", out=False, check=_check_classes)
def _nll_loss(input: Array, target: Array, weight: Array | None, ignore_index, reduction):
    """Negative log-likelihood of classes."""
    refuse("nll_loss_out_frame", input, "bic")
    _check_shapes(input, target, weight)
    return _run(input, target, weight, lambda x, y, w=None: _likelihood(x, y, w, ignore_index, 0, reduction))


@function("nn.functional")
def nll_loss(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, ignore_index: int = -100, reduce: Any = None,
    reduction: str = "mean",
) -> Any:  # fmt: skip
    """Negative log-likelihood: -w_c x_c for the class c that the target names.

    Args:
        input: (C), (N, C) or (N, C, *): log-probabilities.
        target: (), (N) or (N, *) of int64: classes.
        weight: (C): a factor for each class; the mean is then the weighted one.
        ignore_index: a target that doesn't count.
        size_average, reduce: old forms of ``reduction``.
        reduction: "mean", "sum" or "none".

    Returns:
        (), or target's shape without reduction.

    Raises:
        IndexError: a class that doesn't exist.
        ValueError: other batch sizes, or an unknown reduction.
        RuntimeError: other sizes or types.
    """
    return _nll_loss(input, target, weight, ignore_index, reduction_of(reduction, size_average, reduce))


@op(namespace=PURE, name="cross_entropy", out=False, check=_check_classes)
def _cross_entropy(input: Array, target: Array, weight: Array | None, ignore_index, label_smoothing, reduction):
    """Cross entropy of logits with classes or with probabilities."""
    refuse("log_softmax_lastdim_kernel_impl", input, "bic")
    if not 0 <= label_smoothing <= 1:
        raise OpError(f"label_smoothing must be between 0.0 and 1.0. Got: {label_smoothing}")
    axis = 0 if input.ndim == 1 else 1
    if input.shape == target.shape:
        return _of_probabilities(input, target, weight, ignore_index, label_smoothing, reduction)
    _check_shapes(input, target, weight)

    def loss(x: Array, y: Array, w: Array | None = None) -> Array:
        return _likelihood(_log_normalised(x, axis), y, w, ignore_index, label_smoothing, reduction)

    return _run(input, target, weight, loss)


def _of_probabilities(x: Array, y: Array, weight: Array | None, ignore_index: int, smoothing: float, reduction: str) -> Array:
    if not is_floating(y):
        raise OpError(f"Expected floating point type for target with class probabilities, got {kind_of(y)}")
    if ignore_index >= 0:
        raise OpError("ignore_index is not supported for floating point target")
    axis = 0 if x.ndim == 1 else 1
    classes = x.shape[axis]
    if weight is not None and weight.shape != (classes,):
        raise OpError("cross_entropy: " + CLASS_WEIGHTS.format(classes, list(weight.shape)))

    def loss(x: Array, y: Array, w: Array | None = None) -> Array:
        y = y * (1 - smoothing) + smoothing / classes if smoothing else y
        terms = _log_normalised(x, axis) * y
        if w is not None:
            terms = terms * w.reshape((-1,) + (1,) * (x.ndim - 1 - axis))
        losses = -jnp.sum(terms, axis=axis)
        return jnp.sum(losses) / (x.size // classes) if reduction == "mean" else reduced(losses, reduction)

    return _run(x, y, weight, loss)


@function("nn.functional")
def cross_entropy(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, ignore_index: int = -100, reduce: Any = None,
    reduction: str = "mean", label_smoothing: float = 0.0,
) -> Any:  # fmt: skip
    """Cross entropy of softmax(x) with the target: -w_c log softmax(x)_c for the class c, or -sum_c w_c y_c log softmax(x)_c.

    Args:
        input: (C), (N, C) or (N, C, *) of floats: logits.
        target: (), (N) or (N, *) of int64: classes; or input's shape, of floats: probabilities.
        weight: (C): a factor for each class; with classes the mean is then the weighted one.
        size_average, reduce: old forms of ``reduction``.
        ignore_index: a target that doesn't count.
        reduction: "mean", "sum" or "none".
        label_smoothing: in [0, 1], the share of the uniform distribution mixed into the target.

    Returns:
        (), or input's shape without C if there is no reduction.

    Raises:
        IndexError: a class that doesn't exist.
        ValueError: other batch sizes, or an unknown reduction.
        RuntimeError: other sizes or types, or a ``label_smoothing`` outside [0, 1].
    """
    how = reduction_of(reduction, size_average, reduce)
    return _cross_entropy(input, target, weight, ignore_index, label_smoothing, how)


def _check_margin(input: Any, target: Any, weight: Any, p: int, margin: float, reduction: str) -> None:
    shape = value_of(input).shape
    if shape and outside(target, shape[-1]) is not None:
        raise OpError("target out of range")


@op(namespace=PURE, name="multi_margin_loss", out=False, check=_check_margin)
def _multi_margin(input: Array, target: Array, weight: Array | None, p, margin, reduction):
    """Margins of the target's class over the others."""
    refuse("multi_margin_loss", input, "bic")
    classes = input.shape[-1] if input.ndim else 1
    rows = 1 if input.ndim < 2 else input.shape[0]
    if target.size != rows or target.ndim > 1:
        raise OpError(
            "multi_margin_loss: target tensor should be 1-D with size equal to the number of input samples (batch size). "
            f"Expected target size [{rows}], but got {list(target.shape)}. Input has shape {list(input.shape)}."
        )
    if weight is not None and weight.shape != (classes,):
        raise OpError(f"inconsistent weight size, expected {classes} but got {list(weight.shape)}")

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

    return _run(input, target, weight, losses)


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
        RuntimeError: other sizes, or a class that doesn't exist.
    """
    how = reduction_of(reduction, size_average, reduce)
    if p not in (1, 2):
        raise ArgumentValueError("only p == 1 and p == 2 supported")
    if weight is not None and weight.dim() != 1:
        raise ArgumentValueError("weight must be one-dimensional")
    return _multi_margin(input, target, weight, p, float(margin), how)


def _check_labels(input: Any, target: Any, reduction: str) -> None:
    values = known(target)
    shape = value_of(input).shape
    if values is not None and values.size and shape and (values.min() < -1 or values.max() >= shape[-1]):
        raise OpError("argument #2 'target' is out of range")


@op(namespace=PURE, name="multilabel_margin_loss", out=False, check=_check_labels)
def _multilabel_margin(input: Array, target: Array, reduction):
    """Margins of the target's classes over all others."""
    refuse("multilabel_margin_loss", input, "bic")
    if input.shape != target.shape:
        raise OpError(f"inconsistent target size: {list(target.shape)} for input of size: {list(input.shape)}")

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
        RuntimeError: other sizes, or a class that doesn't exist.
    """
    return _multilabel_margin(input, target, reduction_of(reduction, size_average, reduce))


@op(namespace=PURE, name="multilabel_soft_margin_loss", out=False)
def _multilabel_soft_margin(input: Array, target: Array, weight: Array | None, reduction):
    """Binary cross entropy of logits, averaged over the classes."""

    def losses(x: Array, y: Array, w: Array | None = None) -> Array:
        x, y = broadcast(x, y)
        z = y * jnp.logaddexp(-x, 0.0) + (1 - y) * jnp.logaddexp(x, 0.0)
        z = z if w is None else z * w
        return reduced(jnp.sum(z, axis=-1) / (x.shape[-1] if x.ndim else 1), reduction)

    return _run(input, target, weight, losses)


@function("nn.functional")
def multilabel_soft_margin_loss(
    input: Any, target: Any, weight: Any = None, size_average: Any = None, reduce: Any = None, reduction: str = "mean"
) -> Any:
    """Mean over the classes of log(1 + e^-x) for y = 1 and log(1 + e^x) for y = 0. input (N, C), target (N, C) in [0, 1]."""
    return _multilabel_soft_margin(input, target, weight, reduction_of(reduction, size_average, reduce))
