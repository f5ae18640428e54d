"""Connectionist temporal classification: the likelihood of a label sequence, over all its alignments with the input."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from ..core.handle import Handle
from ..errors import OpError, TracedValueError
from ..tensor import Tensor
from .activation import PURE
from .declare import Array, function, op
from .loss_reduction import reduced, reduction_of
from .operands import in_float32, kind_of, refuse, seen
from .picking import known

# Stands for log 0. It's finite, so that its gradient is 0, not NaN; a loss beyond IMPOSSIBLE has no alignment at all.
LOG_ZERO = -1e30
IMPOSSIBLE = 1e29
CHECKING = "(while checking arguments for ctc_loss_allocate_outputs)"


def _alignments(log_probs: Array, labels: Array, label_lengths: Array, blank: int) -> Array:
    """log alpha at each time: (T, N, 2 S + 1), of the labels with blanks before, between and after them."""
    count, size = labels.shape
    places = 2 * size + 1
    extended = jnp.full((count, places), blank).at[:, 1::2].set(labels)  # (N, 2 S + 1)
    emitted = jnp.take_along_axis(log_probs, jnp.broadcast_to(extended, (log_probs.shape[0], *extended.shape)), axis=2)
    # A label may be reached from the one before without a blank, unless they're equal.
    before = jnp.pad(extended, ((0, 0), (2, 0)))[:, :places]
    skips = (extended != blank) & (extended != before) & (jnp.arange(places) >= 2)
    first = jnp.where(jnp.arange(places) < jnp.where(label_lengths > 0, 2, 1)[:, None], emitted[0], LOG_ZERO)

    def step(alpha: Array, emission: Array) -> tuple[Array, Array]:
        one = jnp.pad(alpha, ((0, 0), (1, 0)), constant_values=LOG_ZERO)[:, :places]
        two = jnp.where(skips, jnp.pad(alpha, ((0, 0), (2, 0)), constant_values=LOG_ZERO)[:, :places], LOG_ZERO)
        alpha = jnp.maximum(jnp.logaddexp(jnp.logaddexp(alpha, one), two) + emission, LOG_ZERO)
        return alpha, alpha

    _, rest = jax.lax.scan(step, first, emitted[1:])
    return jnp.concatenate([first[None], rest])


def _losses(x: Array, labels: Array, lengths: Array, label_lengths: Array, blank: int) -> Array:
    alphas = _alignments(x, labels, label_lengths, blank)
    last = jnp.take_along_axis(alphas, (lengths - 1)[None, :, None], axis=0)[0]  # (N, 2 S + 1)
    ends = 2 * label_lengths[:, None]
    final = jnp.take_along_axis(last, ends, axis=1)[:, 0]
    earlier = jnp.take_along_axis(last, jnp.maximum(ends - 1, 0), axis=1)[:, 0]
    losses = -jnp.where(label_lengths > 0, jnp.logaddexp(final, earlier), final)
    # No input: it aligns with no labels for certain, and with any labels not at all.
    return jnp.where(lengths == 0, jnp.where(label_lengths == 0, 0.0, -LOG_ZERO), losses)


@jax.custom_jvp
def _endless(total: Array) -> Array:
    """inf, whose slope is NaN: no step leads away from a loss without an alignment."""
    return jnp.full_like(total, jnp.inf)


@_endless.defjvp
def _endless_jvp(primals: tuple, tangents: tuple) -> tuple:
    return _endless(*primals), tangents[0] * jnp.nan


@op(namespace=PURE, name="ctc_loss", out=False)
def _ctc(log_probs: Array, targets: Array, input_lengths: Array, target_lengths: Array, blank, reduction, zero_infinity):
    """Negative log-likelihood of padded label sequences (N, S)."""
    refuse("ctc_loss_cpu", log_probs, "bic")
    lengths, label_lengths = input_lengths.astype(np.int64), target_lengths.astype(np.int64)
    computed = in_float32(lambda x: _reduced_losses(x, targets, lengths, label_lengths, blank, reduction, zero_infinity))
    return computed(log_probs)


def _reduced_losses(
    x: Array, targets: Array, lengths: Array, label_lengths: Array, blank: int, reduction: str, zero_infinity: bool
) -> Array:
    # What stands beyond a sequence's end is padding, and may be anything: a class that isn't there would give NaN.
    inside = jnp.arange(targets.shape[1]) < label_lengths[:, None]
    losses = _losses(x, jnp.where(inside, targets, blank).astype(np.int64), lengths, label_lengths, blank)
    # PyTorch's gradient takes log_probs as results of log_softmax: it has a term e^x, which log_softmax's own adds anyway.
    running = jnp.arange(x.shape[0])[:, None] < lengths
    total = jnp.sum(jnp.where(running, jnp.sum(jnp.exp(x), axis=2), 0), axis=0)
    losses = losses + (total - jax.lax.stop_gradient(total))
    impossible = losses > IMPOSSIBLE
    # The inner choice keeps the NaN away from sequences that do align.
    instead = 0.0 if zero_infinity else _endless(jnp.where(impossible, total, 0))
    losses = jnp.where(impossible, instead, losses)
    if reduction == "mean":
        losses = losses / jnp.maximum(label_lengths, 1).astype(x.dtype)
    return reduced(losses, reduction)


def _lengths(given: Any) -> Any:
    return given if isinstance(given, Handle) else Tensor._of_numpy(np.asarray(given, np.int64))


def _padded(targets: Any, lengths: Any) -> Any:
    """Label sequences that stand one after the other as rows (N, S), padded with 0."""
    sizes = known(lengths)
    if sizes is None:
        raise TracedValueError("ctc_loss(): target_lengths are traced or batched: give targets as a matrix (N, S)")
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]]) if sizes.size else sizes
    columns = np.arange(max(int(sizes.max(initial=0)), 1))
    places = starts[:, None] + np.where(columns < sizes[:, None], columns, 0)
    return targets[Tensor._of_numpy(np.minimum(places, max(targets.shape[0] - 1, 0)))]


def _check(log_probs: Any, targets: Any, lengths: Any, label_lengths: Any, blank: int) -> None:
    time, batch, classes = log_probs.shape
    if not log_probs.numel():
        raise OpError("log_probs tensor must not be empty")
    for name, given in (("input_lengths", lengths), ("target_lengths", label_lengths)):
        if given.dtype.category > 1:
            raise OpError(f"{name} must be integral")
        if given.numel() != batch:
            raise OpError(f"{name} must be of size batch_size")
        values = seen(given)
        if values is not None and values.min(initial=0) < 0:
            raise OpError(f"Expected {name} to have value at least 0, but got value {values.min()} {CHECKING}")
    if not 0 <= blank < classes:
        raise OpError("blank must be in label range")
    longest = seen(lengths)
    if longest is not None and longest.max(initial=0) > time:
        raise OpError(f"Expected input_lengths to have value at most {time}, but got value {longest.max()} {CHECKING}")
    _check_targets(targets, batch, label_lengths)


def _check_targets(targets: Any, batch: int, label_lengths: Any) -> None:
    """The labels are one row for each sequence, at least as long as the longest, or all of them in a row."""
    if not 1 <= targets.dim() <= 2:
        raise OpError(
            f"Expected 1 to 2 dimensions, but got {targets.dim()}-dimensional tensor for argument #2 'targets' {CHECKING}"
        )
    size, where = targets.shape[0], "at dimension 0, but got size"
    if targets.dim() == 2 and size != batch:
        raise OpError(f"Expected tensor to have size {batch} {where} {size} for argument #2 'targets' {CHECKING}")
    lengths = known(label_lengths)
    if targets.dim() == 1 and lengths is not None and size != lengths.sum():
        raise OpError(f"Expected tensor to have size {lengths.sum()} {where} {size} for argument #2 'targets' {CHECKING}")
    longest = seen(label_lengths)
    if targets.dim() == 2 and longest is not None and longest.max(initial=0) > targets.shape[1]:
        raise OpError(
            f"Expected tensor to have size at least {longest.max()} at dimension 1, but got size {targets.shape[1]} for argument "
            f"#2 'targets' {CHECKING}"
        )


@function("nn.functional")
def ctc_loss(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0, reduction: str = "mean",
    zero_infinity: bool = False,
) -> Any:  # fmt: skip
    """Connectionist temporal classification: -log of the sum over all alignments of the labels with the input.

    Args:
        log_probs: (T, N, C) or (T, C): log-probabilities.
        targets: (N, S), (S) for a (T, C) input, or all sequences one after the other (their total length): labels.
        input_lengths: (N), () or numbers: how long each input is.
        target_lengths: (N), () or numbers: how long each label sequence is.
        blank: the class that stands between labels.
        reduction: "mean" (of the losses divided by their label lengths), "sum" or "none".
        zero_infinity: 0, with gradient 0, for an input that is too short for its labels, not inf with gradient NaN.

    Returns:
        (), or (N) without reduction.

    Raises:
        RuntimeError: sizes, lengths or types that don't fit.
        ValueError: an unknown reduction.

    Source: Graves et al., "Connectionist Temporal Classification", 2006, eq. 5 to 8.
    """
    how = reduction_of(reduction)
    single = log_probs.dim() == 2
    lengths, label_lengths = _lengths(input_lengths), _lengths(target_lengths)
    if single:
        log_probs = log_probs.unsqueeze(1)
        targets = targets.unsqueeze(0) if targets.dim() == 1 else targets
    if lengths.dim() == 0:
        lengths = lengths.unsqueeze(0)
    if label_lengths.dim() == 0:
        label_lengths = label_lengths.unsqueeze(0)
    if log_probs.dim() != 3:
        raise OpError(f"ctc_loss(): log_probs must have 2 or 3 dimensions, got {log_probs.dim()}")
    if targets.dtype.category != 1:
        raise OpError(f"ctc_loss(): targets must be integers, got {kind_of(targets._payload)}")
    _check(log_probs, targets, lengths, label_lengths, blank)
    rows = _padded(targets, label_lengths) if targets.dim() == 1 else targets
    lengths, label_lengths = lengths.to(log_probs.device), label_lengths.to(log_probs.device)
    losses = _ctc(log_probs, rows, lengths, label_lengths, blank, how, zero_infinity)
    return losses.squeeze(0) if single and how == "none" else losses
