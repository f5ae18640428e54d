"""Gradients scaled down or cut off. All of them are measured and scaled in one dispatch."""

from __future__ import annotations

from collections.abc import Generator, Iterable
from typing import Any

import jax.numpy as jnp
import numpy as np

from ...cautions import caution
from ...core.call import call
from ...core.handle import Handle
from ...errors import OpError
from ...ops.buffers import update
from ...ops.given_data import tensor
from ...ops.kept import kept
from ...ops.norms import vector_norm

__all__ = ["clip_grad_norm", "clip_grad_norm_", "clip_grad_value_", "clip_grads_with_norm_", "get_total_norm"]

Tensors = Handle | Iterable[Handle]
NOT_FINITE = (
    "The total norm of order {} for gradients from `parameters` is non-finite, so it cannot be clipped. To disable this error "
    "and scale the gradients by the non-finite norm anyway, set `error_if_nonfinite=False`"
)


def _size(x: Any, order: float) -> Any:
    wide = x.astype(jnp.float32) if x.dtype.itemsize <= 2 else x
    return vector_norm(wide, order, tuple(range(x.ndim)), False).astype(wide.real.dtype)


@kept("total_norm")
def _total_norm(order: float) -> Any:
    def total(*grads: Any) -> Any:
        sizes = jnp.stack([_size(g, order).astype(jnp.result_type(*(g.real.dtype for g in grads))) for g in grads])
        return vector_norm(sizes, order, (0,), False)

    return total


@kept("clip_grads_with_norm")
def _scaled(max_norm: float) -> Any:
    def scaled(total: Any, *grads: Any) -> tuple:
        # PyTorch's 1e-6 keeps the division safe; the factor is at most 1.
        factor = jnp.minimum(max_norm / (total + 1e-6), 1.0)
        return tuple((g * factor.astype(g.real.dtype)) for g in grads)

    return scaled


@kept("clip_grad_value")
def _cut(limit: float) -> Any:
    def cut(*grads: Any) -> tuple:
        return tuple(jnp.clip(g, np.asarray(-limit, g.dtype), np.asarray(limit, g.dtype)) for g in grads)

    return cut


def _listed(tensors: Any) -> list[Any]:
    if isinstance(tensors, Handle):
        return [tensors]
    return list(tensors)


def _gradients(parameters: Any) -> list[Any]:
    return [p.grad for p in _listed(parameters) if p.grad is not None]


def _replace(grads: list[Any], values: Any) -> None:
    for grad, new in zip(grads, values, strict=True):
        update(grad, new)


@kept("clip_grad_norm")
def _measured_and_scaled(order: float, max_norm: float) -> Any:
    measure, scale = _total_norm(order).fn, _scaled(max_norm).fn

    def limited(*grads: Any) -> tuple:
        total = measure(*grads)
        return (total, *scale(total, *grads))

    return limited


def get_total_norm(
    tensors: Tensors, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Any:
    """The norm of several Tensors as if they were one vector.

    Args:
        tensors: one or several of any shapes.
        norm_type: its order.
        error_if_nonfinite: raise for a norm that is NaN or infinite.
        foreach: has no effect.

    Returns:
        (), 0 if there are none.

    Raises:
        RuntimeError: a norm that isn't finite, if asked, or Tensors of integers.
    """
    given, order = _listed(tensors), float(norm_type)
    for each in given:
        if not (each.dtype.is_floating_point or each.dtype.is_complex):
            raise OpError(f"linalg.vector_norm: Expected a floating point or complex tensor as input. Got {each.dtype}")
    if not given:
        return tensor(0.0)
    total = call(_total_norm(order), given, recording=False)
    if error_if_nonfinite and not bool(total.isfinite()):
        raise OpError(NOT_FINITE.format(order))
    return total


def clip_grads_with_norm_(parameters: Tensors, max_norm: float, total_norm: Any, foreach: bool | None = None) -> None:
    """Scale the gradients of parameters in place by min(1, max_norm / total_norm).

    Args:
        parameters: one or several.
        total_norm: (), as `get_total_norm` gives it.
        foreach: has no effect.
    """
    grads = _gradients(parameters)
    if not grads:
        return
    if not isinstance(total_norm, Handle):
        total_norm = tensor(total_norm)
    _replace(grads, call(_scaled(float(max_norm)), (total_norm, *grads), recording=False))


def clip_grad_norm_(
    parameters: Tensors, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Any:
    """Scale the gradients of parameters in place so that their norm, as one vector, is at most ``max_norm``.

    Args:
        parameters: one or several; those without gradient don't count.
        max_norm: the limit.
        norm_type: the order of the norm.
        error_if_nonfinite: raise for a norm that is NaN or infinite.
        foreach: has no effect.

    Returns:
        (): the norm before.

    Raises:
        RuntimeError: a norm that isn't finite, if asked.
    """
    given = _listed(parameters)
    if not given and isinstance(parameters, Generator):
        caution("`parameters` is an empty generator, no gradient clipping will occur.")
    grads = _gradients(given)
    if error_if_nonfinite or not grads:
        total = get_total_norm(grads, norm_type, error_if_nonfinite, foreach)
        clip_grads_with_norm_(given, max_norm, total, foreach)
        return total
    total, *scaled = call(_measured_and_scaled(float(norm_type), float(max_norm)), grads, recording=False)
    _replace(grads, scaled)
    return total


def clip_grad_norm(
    parameters: Tensors, max_norm: float, norm_type: float = 2.0, error_if_nonfinite: bool = False, foreach: bool | None = None
) -> Any:
    """An old name of `clip_grad_norm_`, with a warning."""
    caution("`torch.nn.utils.clip_grad_norm` is now deprecated in favor of `torch.nn.utils.clip_grad_norm_`.", FutureWarning)
    return clip_grad_norm_(parameters, max_norm, norm_type, error_if_nonfinite, foreach)


def clip_grad_value_(parameters: Tensors, clip_value: float, foreach: bool | None = None) -> None:
    """Cut off each element of the gradients of parameters in place at ``clip_value`` and its negative.

    Args:
        parameters: one or several; those without gradient don't count.
        clip_value: the limit.
        foreach: has no effect.
    """
    grads = _gradients(parameters)
    if not grads:
        return
    _replace(grads, call(_cut(float(clip_value)), grads, recording=False))


_get_total_norm, _clip_grads_with_norm_ = get_total_norm, clip_grads_with_norm_  # their names before they were public
