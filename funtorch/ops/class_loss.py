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
from .direct import losses
from .loss_reduction import reduced, reduction_of
from .normalised import _log_normalised
from .operands import in_common, in_float32, is_floating, kind_of, refuse, seen
from .picking import UNSIGNED

CLASS_WEIGHTS = "weight tensor should be defined either for all {} classes or no classes but got weight tensor of shape: {}"


def _check_classes(input: Any, target: Any, weight: Any, ignore_index: int, *rest: Any) -> None:
    """Raise IndexError for a class that doesn't exist, where the values are known."""
    shape = value_of(input).shape
    if not shape or value_of(target).dtype.kind not in "iu":
        return
    values = seen(target)
    if values is None or not values.size:
        return
    classes = shape[0 if len(shape) == 1 else 1] if len(shape) else 0
    # Read as unsigned, a negative class is larger than any.
    if int(np.maximum.reduce(values.view(UNSIGNED.get(values.dtype, values.dtype)), None)) < classes:
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


def computed(x: Array, y: Array, weight: Array | None, fn: Any, within: Any = in_float32) -> Array:
    """``fn`` of the arrays that are there, by `in_float32` or `in_common`."""
    return within(fn)(*[a for a in (x, y, weight) if a is not None])


@op(namespace=PURE, name="nll_loss", out=False, check=_check_classes)
def _nll_loss(input: Array, target: Array, weight: Array | None, ignore_index, reduction):
    """Negative log-likelihood of classes."""
    refuse("nll_loss_out_frame", input, "bic")
    _check_shapes(input, target, weight)
    return computed(input, target, weight, lambda x, y, w=None: _likelihood(x, y, w, ignore_index, 0, reduction))


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


@op(namespace=PURE, name="cross_entropy", out=False, check=_check_classes, direct=losses.cross_entropy)
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

    return computed(input, target, weight, loss)


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

    return computed(x, y, weight, loss, in_common)


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
